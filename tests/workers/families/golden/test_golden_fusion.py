"""A golden model takes in what a trained detector says, and carries that detector with it."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from backend import sample
from backend.domain import Split
from backend.errors import Refused
from backend.weights import start_weights
from tests.workers.families.golden import boards
from tests.workers.training import reports
from workers.families import base, golden
from workers.families.golden import evidence, features, partner, seeing
from workers.families.golden.model import GoldenModel
from workers.families.golden.options import GoldenOptions
from workers.families.golden.seeing import Seen
from workers.runtimes import ModelSource, preparing

KINDS = sample.CLASSES["pcb"]
DETECTOR = start_weights.ASSETS / "start_yolo11n.safetensors"


def seen() -> Seen:
    board = boards.plain()
    boards.DEFECTS["open"](board)
    return seeing.look(base.Picture(board, boards.plain()), GoldenOptions())


def rows(*found: tuple[float, ...]) -> base.Detections:
    return np.array(found, np.float32).reshape(-1, 6)


def test_a_proposal_knows_what_the_detector_says_of_its_place() -> None:
    joined = evidence.join(seen(), rows((70, 40, 100, 80, 0.6, 0), (70, 40, 100, 80, 0.2, 3)), 6)
    said = joined.rows[0, len(features.NAMES) :]
    assert said[0] == 0
    assert said[1] > 0.4
    np.testing.assert_allclose(said[2:], [0.6, 0.6, 0, 0, 0.2, 0, 0], atol=1e-6)
    assert np.abs(joined.pulls[0]).max() > 0


def test_a_place_that_only_the_detector_sees_becomes_one_proposal() -> None:
    told = rows((200, 200, 240, 240, 0.8, 2), (201, 201, 240, 240, 0.3, 3))
    joined = evidence.join(seen(), told, 6)
    assert len(joined.rows) == len(seen().rows) + 1
    np.testing.assert_allclose(joined.boxes[-1], (200, 200, 240, 240))
    assert joined.rows[-1, len(features.NAMES)] == 1
    assert not joined.rows[-1, : len(features.NAMES)].any()


def test_a_picture_in_which_the_detector_sees_nothing_keeps_its_proposals() -> None:
    assert len(evidence.join(seen(), rows(), 6).rows) == len(seen().rows)


def test_classes_are_known_by_name() -> None:
    told = rows((0, 0, 9, 9, 0.5, 0), (0, 0, 9, 9, 0.4, 1))
    named = evidence.renamed(told, ("face", "open"), ("short", "open"))
    assert named[:, 5].tolist() == [1]


def test_boxes_of_a_turned_picture_come_back_upright() -> None:
    picture = np.zeros((50, 80), np.uint8)
    picture[10:20, 30:60] = 1
    y, x = np.nonzero(np.rot90(picture))
    found = rows((x.min(), y.min(), x.max() + 1, y.max() + 1, 0.5, 0))
    assert partner.upright(found, 80)[0, :4].tolist() == [30, 10, 60, 20]


@pytest.fixture(scope="module")
def fused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a model that learned from drawn boards beside the start model."""
    folder = tmp_path_factory.mktemp("fused")
    paths, examples = {}, []
    for each in sample.draw("pcb", 6, seed=3):
        path = paths[each.name] = folder / f"{each.name.replace('/', '-')}.png"
        cv2.imwrite(str(path), each.pixels)
        if not each.is_golden:
            beside = paths.get(each.golden)
            example = base.Example(
                path, 640, 640, Split.TRAIN, each.boxes, golden=beside, group=each.name
            )
            examples.append(example)
    told = base.Parameters(extra={"partner": {"name": "v7", "family": "yolo"}})
    whole = base.TrainingSet(KINDS, tuple(examples))
    return golden.train(whole, DETECTOR, told, reports.Remembering(), folder).weights


def picture() -> base.Picture:
    clean, board = list(sample.draw("pcb", 1, seed=5))[:2]
    return base.Picture(board.pixels, clean.pixels)


def test_the_model_carries_its_detector_and_asks_it(fused: Path) -> None:
    model = golden.load(fused, "cpu")
    assert model.partner is not None
    assert (model.partner.name, model.partner.family) == ("v7", "yolo")
    looked = model.look(picture())
    assert looked.rows.shape[1] == len(features.NAMES) + len(evidence.NAMES) + len(KINDS)
    assert looked.rows[:, len(features.NAMES) + 2].max() > 0.5
    assert model.detections(looked)[0, 4] > 0.5


def test_a_worker_runs_the_detector_in_its_quick_runtime(fused: Path, tmp_path: Path) -> None:
    prepared = preparing.prepare(ModelSource("golden", fused), tmp_path)
    quick = preparing.load(prepared)
    assert isinstance(quick, GoldenModel)
    assert quick.partner is not None
    slow = golden.load(fused, "cpu")
    assert type(quick.partner.model) is not type(slow.partner.model if slow.partner else None)
    ours, theirs = (model.predict([picture()])[0] for model in (quick, slow))
    assert isinstance(ours, np.ndarray)
    assert isinstance(theirs, np.ndarray)
    np.testing.assert_allclose(ours[0], theirs[0], atol=3)


def test_a_picture_that_does_not_fit_its_golden_is_refused_all_the_same(fused: Path) -> None:
    pair = base.Picture(boards.golden(1), boards.golden(2))
    assert isinstance(golden.load(fused, "cpu").predict([pair])[0], Refused)
