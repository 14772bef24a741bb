"""The network for small pictures, how these are changed, and what is done for rare classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from backend import spaces
from backend.domain import Split
from backend.errors import Invalid
from tests.workers.families import drawn
from tests.workers.training import reports
from workers.families import changes, classifier, rarity, small_network
from workers.families.base import Example, Parameters, TrainingSet
from workers.training import basics, loop, rates


def test_two_thousand_pictures_teach_three_times_chance_in_two_epochs(
    cifar10: Path, tmp_path: Path
) -> None:
    classes = tuple(sorted(folder.name for folder in (cifar10 / "train").iterdir()))
    examples = [
        Example(path, 32, 32, split, label=name, name=f"{folder}/{name}/{path.name}")
        for folder, split, count in (("train", Split.TRAIN, 200), ("test", Split.VAL, 50))
        for name in classes
        for path in sorted((cifar10 / folder / name).iterdir())[:count]
    ]
    given = Parameters(epochs=2, image_size=32, batch=64, variant="small")
    task = basics.TrainingTask(TrainingSet(classes, tuple(examples)), None, given, tmp_path)
    # On one thread, as threads of one training wait for each other where others work beside it.
    figures = loop.run(task, basics.Place(), reports.Remembering(), classifier.ClassLesson)
    assert figures["accuracy"] >= 0.3


@pytest.mark.parametrize("size", [32, 48, 64, 96])
def test_the_small_network_answers_at_every_size_it_is_for(size: int) -> None:
    network = classifier.build("small", 7, size).eval()
    assert network(torch.zeros(2, 3, size, size)).shape == (2, 7)


def test_the_small_network_is_refused_for_large_pictures() -> None:
    with pytest.raises(Invalid, match="pictures of up to 96 pixels, not of 97"):
        classifier.build("small", 2, 97)


def test_its_first_layer_sees_all_kinds_of_corners_alike_strongly() -> None:
    torch.manual_seed(0)
    images = torch.nn.functional.avg_pool2d(torch.randn(64, 3, 34, 34), 3, 1) * 3
    network = small_network.SmallNetwork(2, 32)
    network.whiten(images)
    seen = torch.nn.functional.conv2d(images, network.corners.weight)[:, : small_network.KINDS]
    strengths = seen.square().mean((0, 2, 3))
    assert strengths.min() > 0.5 * strengths.max()
    assert not network.corners.weight.requires_grad


def test_pictures_are_learned_from_as_often_as_their_class_is_rare() -> None:
    truths, random = np.array([0] * 90 + [1] * 10), np.random.default_rng(0)
    even = rarity.Rarity(truths, 2, {"balance": 1.0})
    drawn_ = [truths[even.drawn(index, random)] for index in range(2000)]
    assert np.mean(drawn_) == pytest.approx(0.5, abs=0.05)
    as_they_are = rarity.Rarity(truths, 2, {})
    assert [as_they_are.drawn(index, random) for index in range(5)] == [0, 1, 2, 3, 4]
    assert as_they_are.weights is None
    weighed = rarity.Rarity(truths, 2, {"class_weights": 1.0}).weights
    assert weighed is not None
    assert (weighed * torch.tensor([90.0, 10.0])).tolist() == pytest.approx([50, 50])


@pytest.mark.parametrize("turn", [0.0, 10.0])
def test_a_picture_is_changed_the_same_way_by_the_same_chance(turn: float) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (40, 30, 3), np.uint8)
    change = changes.Changes(turn=turn, erase=0.5, upside_down=0.5)
    first, again = (change(pixels, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first, again)
    assert first.shape == pixels.shape
    assert first.dtype == np.uint8
    assert not np.array_equal(first, change(pixels, np.random.default_rng(8)))


def test_nothing_is_turned_upside_down_unless_asked() -> None:
    bright_above = np.zeros((32, 32, 3), np.uint8)
    bright_above[:16] = 200
    for seed in range(40):
        seen = changes.Changes()(bright_above, np.random.default_rng(seed)).mean((1, 2))
        assert seen[:8].mean() > seen[-8:].mean()
    still = changes.chosen({"shift": 0, "mirror": 0, "light": 0})
    assert np.array_equal(still(bright_above, np.random.default_rng(0)), bright_above)
    turned = changes.chosen({"shift": 0, "mirror": 0, "light": 0, "upside_down": 1})
    assert np.array_equal(turned(bright_above, np.random.default_rng(0)), bright_above[::-1])


def test_a_shift_shows_the_picture_mirrored_at_its_edge() -> None:
    line = np.arange(8, dtype=np.uint8)[None, :, None].repeat(3, 2)
    assert changes._shifted(line, 2, 0)[0, :, 0].tolist() == [2, 1, 0, 1, 2, 3, 4, 5]
    assert changes._shifted(line, -2, 0)[0, :, 0].tolist() == [2, 3, 4, 5, 6, 7, 6, 5]


def test_each_parameter_arrives_where_it_counts(tmp_path: Path) -> None:
    said = ["erase=0.3", "turn=7", "label_smoothing=0.1", "class_weights=1", "shift=0"]
    given = Parameters(image_size=64, variant="small", **spaces.read("classifier", said))
    task = basics.TrainingTask(drawn.single(tmp_path / "single"), None, given, tmp_path)
    lesson = classifier.ClassLesson(task, reports.Remembering())
    assert lesson.changes == changes.Changes(erase=0.3, turn=7.0, shift=0.0)
    assert lesson.loss.label_smoothing == 0.1
    assert lesson.loss.weight is not None


def test_the_rate_warms_up_as_long_and_falls_as_it_is_told() -> None:
    def rate(step: int, **extra: object) -> float:
        return rates.factor(step, 10, 10, extra)

    assert rate(4) == pytest.approx(0.5)
    assert rate(9, warm_up=0.2) == pytest.approx(0.5)
    assert rate(0, warm_up=0.0) == pytest.approx(1.0)
    assert rate(55, schedule="linear") == pytest.approx(0.51)
    assert rate(99, schedule="steady") == pytest.approx(1.0)
    assert rate(99) < 0.03


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("erase=2", "The parameter erase must be from 0 to 1, not 2.0."),
        ("schedule=slow", "schedule must be one of cosine, linear, steady, not 'slow'."),
        ("speed=1", "classifier has no parameter 'speed' to set; there are learning_rate"),
        ("turn", "^--set says '' of turn, which is no number"),
        ("erase=abc", "^--set says 'abc' of erase, which is no number"),
    ],
)
def test_a_parameter_without_sense_is_refused_in_a_sentence(said: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence.replace("(", r"\(")):
        spaces.read("classifier", [said])
