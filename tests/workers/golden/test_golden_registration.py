"""A golden is laid on a turned, shifted, scaled or bent board; labels stay where they are."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from backend.errors import Refused
from tests.workers.golden import boards
from workers.models import base, golden
from workers.models.golden import registration


@pytest.mark.parametrize(
    ("angle", "x", "y", "scale"),
    [
        (3, 0, 0, 1),
        (-2, 4, -3, 1),
        (0, 12, -9, 1),
        (0, 0, 0, 1.02),
        (2, -6, 5, 0.98),
        (90, 0, 0, 1),
    ],
)
def test_the_transform_is_found(angle: float, x: float, y: float, scale: float) -> None:
    clean = boards.golden(4)
    board = boards.moved(clean, angle, x, y, scale)
    fit = registration.register(board, clean, 0.9)
    apart = np.abs(fit.lay(clean, board).astype(int) - board)[40:-40, 40:-40]
    assert (apart > 128).mean() < 0.01


def test_a_defect_is_found_on_a_turned_board_and_nothing_else() -> None:
    board = boards.plain()
    boards.DEFECTS["open"](board)
    model = golden.untrained()
    answer = model.predict([base.Picture(boards.moved(board, angle=2, x=5), boards.plain())])[0]
    assert isinstance(answer, np.ndarray)
    assert [model.classes[int(row[5])] for row in answer if row[4] > 0.5] == ["open"]


def test_copper_etched_wider_all_over_is_no_defect() -> None:
    wider = np.asarray(cv2.erode(boards.golden(6), np.ones((3, 3), np.uint8)), np.uint8)
    answer = golden.untrained().predict([base.Picture(wider, boards.golden(6))])[0]
    assert isinstance(answer, np.ndarray)
    assert not (answer[:, 4] > 0.5).any()


def test_two_blank_pictures_fit_and_a_blank_golden_fits_no_board() -> None:
    blank = np.full((boards.SIZE, boards.SIZE), 255, np.uint8)
    first, second = golden.untrained().predict(
        [base.Picture(blank, blank), base.Picture(boards.golden(1), blank)]
    )
    assert isinstance(first, np.ndarray)
    assert isinstance(second, Refused)


def test_deeppcb_pairs_fit_and_mixed_ones_do_not(deeppcb: Path) -> None:
    assert deeppcb.is_dir()
    from tests.benchmarks import deeppcb as reading

    pairs = reading.pairs("trainval")[::100]
    own = [pair.picture() for pair in pairs]
    mixed = [base.Picture(a.pixels, own[i - 3].golden) for i, a in enumerate(own)]
    groups = [pair.group for pair in pairs]
    model = golden.untrained()
    assert not any(isinstance(each, Refused) for each in model.predict(own))
    answers = model.predict(mixed)
    assert all(
        isinstance(answer, Refused)
        for i, answer in enumerate(answers)
        if groups[i] != groups[i - 3]
    )
