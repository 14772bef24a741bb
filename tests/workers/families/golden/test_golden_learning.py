"""Labels teach the golden family classes, margins and what is a false call."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import cv2
import numpy as np
import pytest

from backend.domain import Box, Split
from backend.errors import Invalid, Refused
from tests.workers.families.golden import boards
from workers.families import base, golden
from workers.families.golden import etching, forest, learning, lessons, likelihood, seeing
from workers.families.golden.options import GoldenOptions

CLASSES = ("crack", "blob")


class Quiet:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.fractions: list[float] = []

    def progress(self, fraction: float, message: str) -> None:
        self.fractions.append(fraction)
        assert message.endswith(".")

    def epoch(self, epoch: int, epochs: int, figures: object) -> None:
        assert epoch == epochs
        assert figures

    def log(self, text: str) -> None:
        self.lines.append(text)


def drawn(seed: int) -> tuple[boards.Pixels, tuple[Box, ...]]:
    """A plain board with an open called crack and copper called blob, boxed without any margin."""
    chance, board, clean = np.random.default_rng(seed), boards.plain(), boards.plain()
    x1, x2 = chance.integers(20, 290, 2).tolist()
    cv2.rectangle(board, (x1, 190), (x1 + 9, 210), boards.LAMINATE, -1)
    cv2.circle(board, (x2, 20), 6, boards.COPPER, -1)
    boxes = []
    for label, rows in (("crack", slice(180, 220)), ("blob", slice(0, 40))):
        y, x = np.nonzero(board[rows] != clean[rows])
        top = rows.start
        boxes.append(Box(x.min(), top + y.min(), x.max() + 1, top + y.max() + 1, label))
    return board, tuple(boxes)


def snapshot(folder: Path, count: int) -> base.TrainingSet:
    clean = folder / "golden.png"
    cv2.imwrite(str(clean), boards.plain())
    examples = []
    for seed in range(count):
        board, boxes = drawn(seed)
        path = folder / f"{seed}.png"
        cv2.imwrite(str(path), board)
        size = (boards.SIZE, boards.SIZE)
        examples.append(base.Example(path, *size, Split.TRAIN, boxes, golden=clean))
    return base.TrainingSet(CLASSES, tuple(examples))


def trained(folder: Path, count: int) -> tuple[base.Trained, Quiet]:
    quiet = Quiet()
    return golden.train(snapshot(folder, count), None, base.Parameters(), quiet, folder), quiet


def test_labels_give_names_and_tight_boxes(tmp_path: Path) -> None:
    result, quiet = trained(tmp_path, 12)
    model = golden.load(result.weights, "cpu")
    assert model.classes == CLASSES
    assert quiet.fractions == sorted(quiet.fractions)
    board, boxes = drawn(99)
    found = model.predict([base.Picture(board, boards.plain())])[0]
    assert isinstance(found, np.ndarray)
    for box in boxes:
        best = found[found[:, 5] == CLASSES.index(box.label)][0]
        assert best[4] > 0.7
        assert np.abs(best[:4] - (box.x1, box.y1, box.x2, box.y2)).max() < 6


def test_one_labelled_picture_is_enough_to_train(tmp_path: Path) -> None:
    result, _ = trained(tmp_path, 1)
    assert golden.load(result.weights, "cpu").judge.forest is None


def test_a_picture_of_another_product_is_left_out_and_told_of(tmp_path: Path) -> None:
    whole = snapshot(tmp_path, 3)
    cv2.imwrite(str(whole.examples[1].path), boards.golden(5))
    quiet = Quiet()
    result = golden.train(whole, None, base.Parameters(), quiet, tmp_path)
    assert result.figures["pictures"] == 2
    assert "1.png does not fit its golden" in quiet.lines[0]


def test_a_second_proposal_of_a_box_is_a_false_call_and_one_beside_a_missed_box_no_proof() -> None:
    seen = seeing.look(base.Picture(drawn(0)[0], boards.plain()), GoldenOptions())
    corners = np.array([[20, 20, 40, 40], [34, 20, 54, 40], [100, 20, 108, 28]], np.float64)
    shown = dataclasses.replace(seen, corners=corners, rows=seen.rows[[0, 0, 0]])
    truths = np.array([[20, 20, 40, 40, 1], [70, 0, 150, 60, 0]], np.float64)
    assert learning.lesson(shown, truths, 2, "").outcomes.tolist() == [1, 2, learning.UNSURE]


def test_of_two_proposals_of_one_place_the_less_likely_loses() -> None:
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 5], [50, 50, 60, 60]], np.float64)
    chances = np.array([[0.8, 0.1], [0.6, 0.2], [0.5, 0.3]], np.float32)
    once = likelihood.each_once(boxes, chances)
    np.testing.assert_allclose(once[[0, 2]], chances[[0, 2]])
    np.testing.assert_allclose(once[1], chances[1] / 4)


@pytest.mark.parametrize("wider", [-0.9, 0.9])
def test_an_etched_copy_has_its_copper_wider_or_narrower(wider: float) -> None:
    board, grey = boards.plain() // 2 + 40, boards.plain()[:, :, None] // 2 + 40
    more = int((etching.etched(board, wider) < 100).sum()) - int((board < 100).sum())
    edges = 8 * boards.SIZE + 56 * np.pi
    assert abs(more / edges - wider) < 0.2
    assert etching.etched(np.tile(grey, 3), wider).shape == (boards.SIZE, boards.SIZE, 3)


def test_an_etched_copy_teaches_what_is_a_defect_but_not_how_boxes_are_drawn(
    tmp_path: Path,
) -> None:
    found, _ = lessons.School(snapshot(tmp_path, 3), GoldenOptions(), Quiet()).read()
    assert [len(lesson.rows) for lesson in found] == [4, 4, 4]
    assert [len(lesson.hits) for lesson in found] == [2, 2, 2]


@pytest.mark.parametrize(("forest_alone", "weight"), [(0.994, 0.5), (0.999, 1.0)])
def test_the_rules_keep_half_the_say_unless_the_forest_is_clearly_better(
    forest_alone: float, weight: float
) -> None:
    worth = {0.0: 0.97, 0.25: 0.98, 0.5: 0.99, 0.75: 0.99, 1.0: forest_alone}
    assert learning.weighed(worth, 5000) == weight


def test_pictures_without_goldens_teach_nothing(tmp_path: Path) -> None:
    whole = snapshot(tmp_path, 1)
    bare = base.TrainingSet(CLASSES, (base.Example(whole.examples[0].path, 9, 9, Split.TRAIN),))
    with pytest.raises(Refused, match="nothing to learn from"):
        golden.train(bare, None, base.Parameters(), Quiet(), tmp_path)


def test_a_forest_of_arrays_says_what_scikit_learn_says() -> None:
    from sklearn.ensemble import ExtraTreesClassifier

    chance = np.random.default_rng(0)
    rows = chance.normal(size=(300, 5)).astype(np.float32)
    outcomes = np.digitize(rows[:, 0] + rows[:, 1], (-1, 1)) * 2
    grown = ExtraTreesClassifier(20, random_state=3).fit(rows, outcomes)
    ours = forest.grow(rows, outcomes, 6, seed=3, trees=20).says(rows[:50] + 0.1)
    np.testing.assert_allclose(ours[:, [0, 2, 4]], grown.predict_proba(rows[:50] + 0.1), atol=1e-6)
    assert not ours[:, [1, 3, 5]].any()


def test_a_pickle_is_not_a_model(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    path.write_bytes(pickle.dumps({"about": 1}))
    with pytest.raises(Invalid, match=r"evil\.npz is not a golden model"):
        golden.load(path, "cpu")
