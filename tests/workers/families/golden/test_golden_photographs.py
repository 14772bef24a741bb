"""Photographs of boards: noise, light and shift are no defects; what changed is."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from backend.domain import Box, Split
from backend.errors import Refused
from tests.workers.families.golden import boards
from tests.workers.families.golden.photographs import photograph
from tests.workers.training import reports
from workers.families import base, golden
from workers.families.golden import colour


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


def test_light_is_no_difference_where_the_golden_shows_nothing() -> None:
    clean = photograph(boards.golden(4), 1)
    board, shown = clean + np.uint8(40), np.zeros(clean.shape[:2], np.uint8)
    shown[:, 96:] = 1
    laid = np.where(shown[..., None] > 0, clean, board)
    assert not colour.compare(board, laid, shown=shown).changed.any()


def test_a_photograph_of_another_product_is_refused() -> None:
    pair = base.Picture(photograph(boards.golden(1), 1), photograph(boards.golden(2), 2))
    assert isinstance(golden.untrained().predict([pair])[0], Refused)


def glossy(seed: int, defect: str = "") -> boards.Pixels:
    """A photograph of a lot whose large pad shines, each time a little elsewhere."""
    board = boards.plain()
    if defect:
        boards.DEFECTS[defect](board)
    picture, chance = photograph(board, seed), np.random.default_rng(seed)
    x, y = (np.array([240, 150]) + chance.integers(-3, 4, 2)).tolist()
    cv2.circle(picture, (x, y), 9, (120, 230, 120), -1)
    return picture


def test_good_boards_of_a_lot_teach_where_it_shines(tmp_path: Path) -> None:
    clean = photograph(boards.plain(), 99)
    cv2.imwrite(str(tmp_path / "golden.png"), clean)
    examples = []
    for seed in range(8):
        path = tmp_path / f"{seed}.png"
        cv2.imwrite(str(path), glossy(seed, "copper"))
        box = Box(50, 140, 70, 160, "copper")
        size = (boards.SIZE, boards.SIZE)
        golden_path = tmp_path / "golden.png"
        examples.append(base.Example(path, *size, Split.TRAIN, (box,), golden=golden_path))
    lot = base.TrainingSet(("copper", "open"), tuple(examples))
    told = base.Parameters()
    trained = golden.train(lot, None, told, reports.Remembering(), tmp_path)
    model = golden.load(trained.weights, "cpu")
    assert len(found(glossy(50), clean)) > 0
    assert len(model.glosses) == 1
    shining, broken = model.predict(
        [base.Picture(glossy(50), clean), base.Picture(glossy(51, "open"), clean)]
    )
    assert isinstance(shining, np.ndarray)
    assert isinstance(broken, np.ndarray)
    assert not (shining[:, 4] > 0.2).any()
    x, y = (broken[0, :2] + broken[0, 2:4]) / 2
    assert np.hypot(x - 84, y - 60) < 10


def test_hripcb_boards_show_their_defects(hripcb: Path) -> None:
    from tests.benchmarks.golden import golden_hripcb as benchmark

    model, counts = golden.untrained(benchmark.CLASSES), np.zeros(4, np.int64)
    for path in sorted((hripcb / "images").glob("*/11_*.jpg"))[:2]:
        truths = benchmark.labels(hripcb / "Annotations" / path.parent.name / f"{path.stem}.xml")
        clean = benchmark.read(hripcb / "PCB_USED" / "11.JPG")
        picture = base.Picture(benchmark.read(path), clean, path.name)
        counts += benchmark.judge(model, picture, truths)
    right, _, calls, total = counts.tolist()
    assert right >= 0.9 * total
    assert right >= 0.9 * calls
