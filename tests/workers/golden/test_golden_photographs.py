"""Photographs of boards: noise, light and shift are no defects; what changed is."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from backend.errors import Refused
from tests.workers.golden import boards
from workers.models import base, golden


def photograph(board: boards.Pixels, seed: int, light: float = 0.0) -> boards.Pixels:
    """Green laminate, lighter copper, soft edges, noise, and light that falls off to one side."""
    shares = cv2.GaussianBlur(board.astype(np.float32) / 255, (0, 0), 1.0)[..., None]
    colour = shares * np.array([20, 90, 15]) + (1 - shares) * np.array([60, 150, 50])
    colour += np.linspace(0, light, board.shape[1])[None, :, None]
    colour += np.random.default_rng(seed).normal(0, 2, colour.shape)
    return np.asarray(colour.clip(0, 255), np.uint8)


def found(board: boards.Pixels, clean: boards.Pixels) -> base.Detections:
    answer = golden.untrained().predict([base.Picture(board, clean)])[0]
    assert isinstance(answer, np.ndarray), answer
    return answer[answer[:, 4] > 0.5]


@pytest.mark.parametrize("kind", boards.DEFECTS)
def test_each_kind_is_found_and_named_on_a_photograph(kind: str) -> None:
    board = boards.plain()
    boards.DEFECTS[kind](board)
    seen = found(photograph(board, 1), photograph(boards.plain(), 2))
    assert [golden.untrained().classes[int(row[5])] for row in seen] == [kind]


def test_noise_light_and_a_small_shift_are_no_defects() -> None:
    board = photograph(boards.moved(boards.plain(), x=2.5, y=-1.5), 1, light=25)
    assert len(found(board, photograph(boards.plain(), 2))) == 0


def test_a_photograph_of_another_product_is_refused() -> None:
    pair = base.Picture(photograph(boards.golden(1), 1), photograph(boards.golden(2), 2))
    assert isinstance(golden.untrained().predict([pair])[0], Refused)


def test_hripcb_boards_show_their_defects(hripcb: Path) -> None:
    from tests.benchmarks import golden_hripcb as benchmark

    model, counts = golden.untrained(benchmark.CLASSES), np.zeros(4, np.int64)
    for path in sorted((hripcb / "images").glob("*/11_*.jpg"))[:2]:
        truths = benchmark.labels(hripcb / "Annotations" / path.parent.name / f"{path.stem}.xml")
        clean = benchmark.read(hripcb / "PCB_USED" / "11.JPG")
        picture = base.Picture(benchmark.read(path), clean, path.name)
        counts += benchmark.judge(model, picture, truths)
    right, _, calls, total = counts.tolist()
    assert right >= 0.9 * total
    assert right >= 0.9 * calls
