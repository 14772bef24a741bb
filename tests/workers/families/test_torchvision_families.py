"""The families classifier and faster_rcnn, which share the loop of our own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch

from backend.domain import Split
from backend.errors import Cancelled, Invalid, Refused
from tests.workers.families import drawn
from tests.workers.training import reports
from workers.families import classifier, faster_rcnn, faster_rcnn_network, letterbox
from workers.families.base import Example, Parameters, Picture, Pixels, TrainingSet
from workers.training import basics, loop
from workers.weights import weight_files as files

SCRATCH = {"from_scratch": True}
QUICK = Parameters(epochs=3, image_size=64, batch=4, variant="small", extra=SCRATCH)


@pytest.fixture
def single(tmp_path: Path) -> TrainingSet:
    return drawn.single(tmp_path / "single")


def picture(example: Example) -> Pixels:
    return np.asarray(cv2.imread(str(example.path)), np.uint8)


def test_a_classifier_learns_and_is_loaded_again(tmp_path: Path) -> None:
    single, told = drawn.single(tmp_path / "more", images=32), reports.Remembering()
    longer = Parameters(epochs=10, image_size=64, batch=4, variant="small", extra=SCRATCH)
    trained = classifier.train(single, None, longer, told, tmp_path / "run")
    assert told.figures[-1]["loss"] < told.figures[0]["loss"]
    assert trained.figures["accuracy"] >= 0.75
    model = classifier.load(trained.weights, "cpu")
    shown = [Picture(picture(example)) for example in single.examples]
    answers = model.predict(shown)
    right = [
        single.classes[int(rows[0, 5])] == example.label
        for rows, example in zip(answers, single.examples, strict=True)
    ]
    assert np.mean(right) >= 0.75
    assert answers[0][:, 4].sum() == pytest.approx(1, abs=1e-5)
    assert answers[0][0, :4].tolist() == [0, 0, 64, 64]
    again = classifier.load(trained.weights, "cpu").predict(shown)
    assert np.allclose(np.array(answers), np.array(again), atol=1e-3)
    wild = Parameters(epochs=1, image_size=64, batch=4, variant="small", learning_rate=0.5)
    spoilt = classifier.train(single, trained.weights, wild, told, tmp_path / "spoilt")
    assert spoilt.figures["best_epoch"] == 0
    assert told.lines[-1].endswith("they are kept.")


def test_the_usual_classifier_learns(single: TrainingSet, tmp_path: Path) -> None:
    told = reports.Remembering()
    usual = Parameters(epochs=2, image_size=64, batch=4, variant="resnet18", extra=SCRATCH)
    trained = classifier.train(single, None, usual, told, tmp_path)
    assert told.figures[-1]["loss"] < told.figures[0]["loss"]
    shown = [Picture(picture(example)) for example in single.examples[:4]]
    first, again = (classifier.load(trained.weights, "cpu").predict(shown) for _ in range(2))
    assert np.allclose(np.array(first), np.array(again), atol=1e-3)


def test_a_classifier_goes_on_after_a_kill(single: TrainingSet, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = multiprocessing.get_context("spawn").Process(
        target=classifier.train, args=(single, None, QUICK, reports.Remembering(die_in=2), folder)
    )
    process.start()
    process.join(120)
    assert process.exitcode == -9
    told = reports.Remembering()
    trained = classifier.train(single, None, QUICK, told, folder)
    assert told.epochs == [3]
    assert trained.figures["epochs"] == 3


def test_a_resumed_training_ends_where_an_unbroken_one_does(
    single: TrainingSet, tmp_path: Path
) -> None:
    whole = classifier.train(single, None, QUICK, reports.Remembering(), tmp_path / "whole")
    with pytest.raises(Cancelled):
        classifier.train(single, None, QUICK, reports.Remembering(cancel_in=3), tmp_path / "broken")
    broken = classifier.train(single, None, QUICK, reports.Remembering(), tmp_path / "broken")
    assert broken.figures["val_loss"] == pytest.approx(whole.figures["val_loss"], rel=1e-3)


def test_patience_ends_a_training_that_gets_no_better(single: TrainingSet, tmp_path: Path) -> None:
    still = Parameters(
        epochs=9, image_size=64, batch=4, variant="small", patience=2, learning_rate=1e-12,
        extra=SCRATCH,
    )  # fmt: skip
    trained = classifier.train(single, None, still, reports.Remembering(), tmp_path)
    assert trained.figures["epochs"] < 9


def test_a_classifier_needs_two_classes(single: TrainingSet, tmp_path: Path) -> None:
    squares = tuple(example for example in single.examples if example.label == "square")
    with pytest.raises(Refused, match="at least two classes"):
        classifier.train(
            TrainingSet(single.classes, squares), None, QUICK, reports.Remembering(), tmp_path
        )


def test_a_classifier_sees_in_training_what_it_sees_in_use(
    single: TrainingSet, tmp_path: Path
) -> None:
    lesson = classifier.ClassLesson(
        basics.TrainingTask(single, None, QUICK, tmp_path), reports.Remembering()
    )

    class Spy(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[torch.Tensor] = []
            self.unused = torch.nn.Parameter(torch.zeros(1))

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            self.seen.append(images)
            return torch.zeros(len(images), 2)

    spy = Spy()
    example = lesson.judge_on[0]
    lesson.judge(spy, [example])
    pixels = letterbox.square(picture(example), 64)
    lesson.losses(spy, [(pixels, 0)], torch.device("cpu"))
    classifier.Classifier(lesson.header, spy, "cpu").predict([Picture(picture(example))])
    assert torch.equal(spy.seen[0], spy.seen[1])
    assert torch.equal(spy.seen[0], spy.seen[2])
    # Red first: BGR (0, 0, 255) is pure red, so the first channel is the bright one.
    red = classifier.tensor(np.full((4, 4, 3), (0, 0, 255), np.uint8))
    assert red[0, 0, 0] > 2 > 0 > red[2, 0, 0]


@pytest.mark.again
def test_a_faster_rcnn_learns_and_is_loaded_again(weights: Path, tmp_path: Path) -> None:
    shapes, told = drawn.shapes(tmp_path / "shapes", images=16), reports.Remembering()
    given = Parameters(epochs=5, image_size=96, batch=2, learning_rate=5e-4)
    trained = faster_rcnn.train(
        shapes, weights / "mobilenet_v2_imagenet_features.pth", given, told, tmp_path / "run"
    )
    assert told.figures[-1]["loss"] < told.figures[0]["loss"]
    assert trained.figures["map50"] > 0.25
    model = faster_rcnn.load(trained.weights, "cpu")
    shown = [Picture(picture(example)) for example in shapes.examples[:2]]
    first, again = model.predict(shown), faster_rcnn.load(trained.weights, "cpu").predict(shown)
    assert np.allclose(first[0], again[0], atol=1e-3)
    best, truths = first[0][0], shapes.examples[0].boxes
    truth = next(box for box in truths if box.label == shapes.classes[int(best[5])])
    assert best[:4] == pytest.approx([truth.x1, truth.y1, truth.x2, truth.y2], abs=12)


def test_a_faster_rcnn_sees_in_training_what_it_sees_in_use() -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), np.uint8)
    network: Any = faster_rcnn_network.build("mobilenet", 2, 128, True)
    network.train()
    taught, _ = network.transform([faster_rcnn.tensor(pixels)])
    network.eval()
    used, _ = network.transform([faster_rcnn.tensor(pixels)])
    assert torch.equal(taught.tensors, used.tensors)
    assert faster_rcnn.tensor(pixels)[0, 3, 5] == pytest.approx(pixels[3, 5, 2] / 255)
    assert max(taught.image_sizes[0]) == 128


def test_mirrored_pictures_take_their_boxes_along(tmp_path: Path) -> None:
    shapes = drawn.shapes(tmp_path / "shapes", images=4)
    task = basics.TrainingTask(shapes, None, Parameters(image_size=96, extra=SCRATCH), tmp_path)
    lesson = faster_rcnn.BoxLesson(task, reports.Remembering())
    for turn in range(8):
        pixels, boxes, labels = lesson.read(0, np.random.default_rng(turn))
        for (x1, y1, x2, y2), label in zip(boxes.astype(int), labels, strict=True):
            middle = pixels[(y1 + y2) // 2, (x1 + x2) // 2].mean()
            assert (middle < 90) if label == 1 else (middle > 170)


def test_weights_of_another_network_are_refused(weights: Path, tmp_path: Path) -> None:
    shapes = drawn.shapes(tmp_path / "shapes", images=4)
    features = weights / "mobilenet_v2_imagenet_features.pth"
    given = Parameters(epochs=1, image_size=64, variant="resnet50")
    with pytest.raises(Invalid, match="do not belong to faster_rcnn resnet50"):
        faster_rcnn.train(shapes, features, given, reports.Remembering(), tmp_path / "run")
    with pytest.raises(Invalid, match="no plain state dict"):
        faster_rcnn.train(
            shapes, weights / "yolo11n_recovered.pt", given, reports.Remembering(), tmp_path / "run"
        )


@pytest.mark.parametrize("variant", ["mobilenet", "resnet50", "resnet50_v2"])
def test_every_variant_has_a_head_of_the_classes_and_one_more(variant: str) -> None:
    network: Any = faster_rcnn_network.build(variant, 6, 64, True)
    assert network.roi_heads.box_predictor.cls_score.out_features == 7
    assert not [m for m in network.modules() if isinstance(m, torch.nn.BatchNorm2d)]


def test_the_learning_rate_grows_with_the_batch_and_warms_up(
    single: TrainingSet, tmp_path: Path
) -> None:
    def rates(batch: int) -> list[float]:
        given = Parameters(epochs=4, batch=batch, image_size=64, extra=SCRATCH)
        lesson = classifier.ClassLesson(
            basics.TrainingTask(single, None, given, tmp_path), reports.Remembering()
        )
        optimizer = torch.optim.SGD(lesson.network.parameters(), 1.0)
        seen = []
        for step in range(40):
            loop._set_rate(optimizer, lesson, given, step, 10)
            seen.append(float(optimizer.param_groups[0]["lr"]))
        return seen

    small, large = rates(16), rates(32)
    assert np.allclose(np.array(large), 2 * np.array(small))
    assert small[0] < small[3] == max(small)
    assert small[-1] < 0.1 * max(small)


class Line:
    """The least that the loop can teach: a straight line through points."""

    best_by = "map50"
    rate, rate_batch = 1e-2, 8
    network: torch.nn.Module
    examples: Sequence[Example]
    judge_on: Sequence[Example]

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.network = torch.nn.Linear(1, 1)
        self.header = files.WeightsHeader("classifier", "resnet18", ("a",), 32)
        self.examples = self.judge_on = [Example(Path(), 1, 1, Split.TRAIN)] * 8

    def read(self, index: int, random: np.random.Generator) -> torch.Tensor:
        del random
        return torch.tensor([float(index)])

    def losses(
        self, network: torch.nn.Module, batch: Sequence[Any], device: torch.device
    ) -> dict[str, torch.Tensor]:
        points = torch.stack(list(batch)).to(device)
        return {"square": (network(points) - 3 * points).square().mean()}

    def judge(self, network: torch.nn.Module, examples: Any) -> list[Any]:
        del network
        return [0.5] * len(examples)

    def figures(self, answers: Any) -> dict[str, float]:
        return {"map50": 0.5, "answers": float(len(answers))}


def learned(folder: Path, batch: int, seed: int = 0, **extra: Any) -> list[float]:
    """The weights after one epoch."""
    given = Parameters(epochs=1, batch=batch, seed=seed, learning_rate=0.1, extra=extra)
    lesson = Line()
    task = basics.TrainingTask(TrainingSet(("a",), ()), None, given, folder)
    loop.run(task, basics.Place(), reports.Remembering(), lambda *_: lesson)
    return [float(value.detach()) for value in lesson.network.parameters()]


def test_gradients_of_small_batches_add_up_to_those_of_a_large_one(tmp_path: Path) -> None:
    whole = learned(tmp_path / "whole", 8)
    added = learned(tmp_path / "added", 2, accumulate=4)
    each = learned(tmp_path / "each", 2)
    assert added == pytest.approx(whole, abs=1e-6)
    assert each != pytest.approx(whole, abs=1e-3)


def test_the_same_seed_teaches_the_same(tmp_path: Path) -> None:
    first, again, other = (
        learned(tmp_path / name, 2, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == again
    assert first != other


def test_headers_keep_what_they_are_given(tmp_path: Path) -> None:
    header = files.WeightsHeader("classifier", "resnet18", ("a", "b"), 224, {"frozen": True})
    path = files.save(tmp_path / "w.safetensors", header, {"x": torch.ones(2, 2)})
    assert files.peek(path) == header
