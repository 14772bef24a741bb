"""A golden is laid on a turned, shifted, scaled or bent board; labels stay where they are."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from backend.errors import Refused
from tests.workers.families.golden import boards, photographs
from workers.families import base, golden
from workers.families.golden import difference
from workers.families.golden.fit import alignment, laying, marks, registration


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


def test_a_perspective_is_found() -> None:
    clean = boards.golden(4)
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float32) * boards.SIZE
    askew = corners + np.array([[9, -6], [-8, 7], [6, 9], [-9, -8]], np.float32)
    tilt = cv2.getPerspectiveTransform(corners, askew)
    board = np.asarray(cv2.warpPerspective(clean, tilt, clean.shape, borderValue=255), np.uint8)
    fit = registration.register(board, clean, 0.9)
    assert np.abs(fit.field.whole[2, :2]).max() > 0
    inside = np.mgrid[40:280:20, 40:280:20].reshape(2, -1).T.astype(np.float64)
    x, y = fit.field.dense(boards.SIZE, boards.SIZE, fit.transform)
    column, row = inside.astype(int).T
    found = np.column_stack([x[row, column], y[row, column]])
    apart = np.linalg.norm(
        found - alignment.moved(np.linalg.inv(tilt).astype(np.float64), inside), axis=1
    )
    assert np.median(apart) < 1


@pytest.mark.parametrize("angle", [9.0, -14.0, 97.0, 180.0, 263.0])
def test_a_photograph_is_laid_in_any_turn_to_a_part_of_a_pixel(angle: float) -> None:
    clean = photographs.photograph(boards.golden(4), 1)
    turned = boards.moved(clean, angle, 6, -4, 0.95)
    ours, theirs = (difference.grey(each) for each in (turned, clean))
    fit = registration.register(ours, theirs, 0.8, photograph=True)
    assert fit.known, fit
    x, y = fit.field.dense(boards.SIZE, boards.SIZE, fit.transform)
    back = cv2.invertAffineTransform(boards.motion(angle, 6, -4, 0.95))
    here = np.mgrid[80:240:20, 80:240:20].reshape(2, -1)
    real = back[:, :2] @ here[::-1] + back[:, 2:]
    assert np.abs(np.stack([x, y])[:, here[0], here[1]] - real).max() < 1


def test_what_fills_a_turned_photograph_is_no_defect() -> None:
    board, turn = boards.golden(4), boards.motion(angle=8)
    cv2.rectangle(board, (150, 150), (162, 162), int(255 - board[156, 156]), -1)
    size = (boards.SIZE, boards.SIZE)
    turned = cv2.warpAffine(photographs.photograph(board, 1), turn, size)
    pair = base.Picture(np.asarray(turned, np.uint8), photographs.photograph(boards.golden(4), 2))
    (answer,) = golden.untrained().predict([pair])
    assert isinstance(answer, np.ndarray), answer
    sure = answer[answer[:, 4] > 0.5]
    middle = turn[:, :2] @ np.array([156, 156]) + turn[:, 2]
    assert len(sure) == 1
    assert (sure[0, :2] + sure[0, 2:4]) / 2 == pytest.approx(middle, abs=6)


def test_a_picture_in_a_mirror_is_told_so() -> None:
    clean = photographs.photograph(boards.golden(4), 1)
    mirrored = np.ascontiguousarray(clean[:, ::-1])
    (answer,) = golden.untrained().predict([base.Picture(mirrored, clean, "a.png")])
    assert isinstance(answer, Refused)
    assert str(answer).startswith("a.png fits its golden only as in a mirror.")


def test_marks_tell_by_how_much_a_golden_lies_beside() -> None:
    clean = boards.golden(4)
    board = boards.moved(clean, x=5, y=-3)
    still, points = alignment.whole(np.eye(3)), marks.choose(clean)
    told = marks.look(board, clean, np.eye(2, 3), still, points, 8)
    assert len(told) >= marks.FEWEST
    assert not told.right.any()
    motion = marks.motion(told, (boards.SIZE, boards.SIZE))
    assert motion[:2, 2] == pytest.approx([-5, 3], abs=0.3)


def test_a_golden_that_lies_right_in_one_half_alone_is_refused_with_the_numbers() -> None:
    clean = boards.golden(4)
    board = np.hstack([clean[:, :160], boards.golden(9)[:, 160:]])
    with pytest.raises(Refused, match=r"a.png does not fit its golden: they agree to 0.\d\d"):
        registration.register(board, clean, 0.9, "a.png")


def test_a_golden_that_shows_next_to_nothing_of_a_picture_does_not_agree_with_it() -> None:
    clean, still = boards.golden(4), alignment.whole(np.eye(3))
    beside = np.array([[1.0, 0, boards.SIZE - 4], [0, 1, 0]])
    assert laying.agreement(clean, clean, beside, still) == (0.0, 1.0)


def test_a_picture_that_defects_would_cover_is_refused_with_the_numbers() -> None:
    clean = boards.plain()
    board = clean.copy()
    for x in range(20, 310, 30):
        for y in (30, 80, 130, 180, 230, 280):
            cv2.circle(board, (x, y), 6, int(255 - clean[y, x]), -1)
    chosen = {"mode": "binary", "fit": -1.0}
    (answer,) = golden.untrained(extra=chosen).predict([base.Picture(board, clean, "a.png")])
    assert isinstance(answer, Refused)
    assert "a.png differs from its golden in" in str(answer)


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


@pytest.mark.parametrize("level", [60, 195])
def test_copper_etched_by_a_part_of_a_pixel_is_no_defect(level: int) -> None:
    blurred = cv2.GaussianBlur(boards.golden(6), (0, 0), 1.2)
    answer = golden.untrained().predict(
        [base.Picture(np.where(blurred > level, 255, 0).astype(np.uint8), boards.golden(6))]
    )[0]
    assert isinstance(answer, np.ndarray)
    assert not (answer[:, 4] > 0.1).any()


def test_where_the_picture_ends_a_difference_is_doubted() -> None:
    board = boards.plain()
    board[:, :5] = boards.LAMINATE
    answer = golden.untrained().predict([base.Picture(board, boards.plain())])[0]
    assert isinstance(answer, np.ndarray)
    assert len(answer)
    assert not (answer[:, 4] > 0.5).any()


def test_two_blank_pictures_fit_and_a_blank_golden_fits_no_board() -> None:
    blank = np.full((boards.SIZE, boards.SIZE), 255, np.uint8)
    first, second = golden.untrained().predict(
        [base.Picture(blank, blank), base.Picture(boards.golden(1), blank)]
    )
    assert isinstance(first, np.ndarray)
    assert isinstance(second, Refused)


@pytest.mark.parametrize("size", [(1, 1), (640, 4), (20, 8000)])
def test_a_speck_or_a_strip_is_refused_before_a_golden_is_stretched_over_it(
    size: tuple[int, int],
) -> None:
    speck = np.full((*size, 3), 90, np.uint8)
    (answer,) = golden.untrained().predict([base.Picture(speck, boards.golden(1), "speck.png")])
    assert isinstance(answer, Refused)
    assert "speck.png is" in str(answer)
    (answer,) = golden.untrained().predict([base.Picture(boards.golden(1), speck)])
    assert isinstance(answer, Refused)


def test_deeppcb_pairs_fit_and_mixed_ones_do_not(deeppcb: Path) -> None:
    assert deeppcb.is_dir()
    from tests.benchmarks.golden import deeppcb as reading

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
