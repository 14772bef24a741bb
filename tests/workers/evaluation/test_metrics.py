"""The figures of a model, checked against COCO's own tools."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from backend import matching
from workers.evaluation import average_precision, metrics
from workers.evaluation.average_precision import Weighed

CLASSES = ("open", "short", "spur")


def _boxes(random: np.random.Generator, count: int) -> np.ndarray[Any, Any]:
    corners = random.integers(0, 400, (count, 2)) / 2
    sizes = random.integers(12, 280, (count, 2)) / 2
    return np.hstack([corners, corners + sizes])


def _image(random: np.random.Generator) -> Weighed:
    """Some truths; detections that shift them, confuse their class, miss them or invent."""
    truths = _boxes(random, int(random.integers(0, 8)))
    labels = random.integers(0, 3, len(truths))
    kept = random.random(len(truths)) < 0.8
    moved = truths[kept] + random.integers(-8, 9, (int(kept.sum()), 4)) / 4
    guessed = np.where(random.random(int(kept.sum())) < 0.85, labels[kept], 1)
    invented = _boxes(random, int(random.integers(0, 5)))
    boxes = np.vstack([moved, moved[:2] + 1, invented])
    classes = np.concatenate([guessed, guessed[:2], random.integers(0, 3, len(invented))])
    scores = random.integers(1, 40, len(boxes)) / 40
    return Weighed(np.column_stack([boxes, scores, classes]), np.column_stack([truths, labels]))


def _coco(images: list[Weighed], ious: list[float]) -> COCOeval:
    truths = [(i, *row) for i, image in enumerate(images) for row in image.truths]
    annotations = [
        {"id": n + 1, "image_id": i + 1, "category_id": int(c) + 1, "iscrowd": 0,
         "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1)}
        for n, (i, x1, y1, x2, y2, c) in enumerate(truths)
    ]  # fmt: skip
    found = [
        {"image_id": i + 1, "category_id": int(c) + 1, "score": s,
         "bbox": [x1, y1, x2 - x1, y2 - y1]}
        for i, image in enumerate(images) for x1, y1, x2, y2, s, c in image.detections
    ]  # fmt: skip
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "info": {}, "annotations": annotations,
            "images": [{"id": i + 1} for i in range(len(images))],
            "categories": [{"id": i + 1, "name": n} for i, n in enumerate(CLASSES)],
        }  # fmt: skip
        coco.createIndex()
        judge = COCOeval(coco, coco.loadRes(found), "bbox")
        judge.params.iouThrs = np.array(ious)
        judge.evaluate()
        judge.accumulate()
    return judge


def _mean(precision: np.ndarray[Any, Any]) -> float:
    return float(precision[precision > -1].mean())


@pytest.mark.parametrize("seed", range(25))
def test_every_figure_is_cocos(seed: int) -> None:
    random = np.random.default_rng(seed)
    images = [_image(random) for _ in range(int(random.integers(2, 30)))]
    ours = metrics.report(images, CLASSES, iou=0.33, resamples=2)
    # Axes: IoU, recall, class, area (all, small, medium, large), detections an image (100 last).
    theirs = _coco(images, [0.33, *metrics.COCO_IOUS]).eval["precision"]
    assert ours["map"] == pytest.approx(_mean(theirs[0, :, :, 0, -1]), abs=1e-4)
    assert ours["map50"] == pytest.approx(_mean(theirs[1, :, :, 0, -1]), abs=1e-4)
    assert ours["map50_95"] == pytest.approx(_mean(theirs[1:, :, :, 0, -1]), abs=1e-4)
    for index, name in enumerate(CLASSES):
        assert ours["per_class"][name]["ap"] == pytest.approx(
            _mean(theirs[0, :, index, 0, -1]), abs=1e-4
        )
        assert ours["curves"][name]["precision"] == pytest.approx(
            theirs[0, :, index, 0, -1].tolist(), abs=1e-4
        )
    for place, name in enumerate(metrics.SIZES):
        sized = theirs[1:, :, :, 1 + place, -1]
        if ours["sizes"][name]["map50_95"] is not None:
            assert ours["sizes"][name]["map50_95"] == pytest.approx(_mean(sized), abs=1e-4)


@pytest.mark.parametrize("seed", range(40))
def test_every_match_is_cocos_at_any_iou(seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    images = [_image(random) for _ in range(12)]
    iou = float(random.uniform(0.02, 0.98))
    judge = _coco(images, [iou])
    pairs = set()
    for result in judge.evalImgs:
        if result is None or result["aRng"] != judge.params.areaRng[0]:
            continue
        found = zip(result["dtIds"], result["dtMatches"][0], strict=True)
        pairs |= {(int(one), int(truth)) for one, truth in found if truth}
    assert pairs == _our_pairs(images, iou)


def _our_pairs(images: list[Weighed], iou: float) -> set[tuple[int, int]]:
    """Detections with the truths they found, both numbered through all images from 1."""
    pairs = set()
    detections = truths = 1
    for image in images:
        matched = matching.match(image.detections, image.truths, iou).detections
        hits = [(detections + n, truths + int(t)) for n, t in enumerate(matched) if t >= 0]
        pairs |= set(hits)
        detections += len(image.detections)
        truths += len(image.truths)
    return pairs


def test_an_image_drawn_twice_counts_as_two_images() -> None:
    random = np.random.default_rng(7)
    images = [_image(random) for _ in range(6)]
    drawn = [0, 0, 1, 3, 3, 3, 5]
    weights = np.bincount(drawn, minlength=6).astype(float)
    weighted = average_precision.average_precision(
        average_precision.rank(images, 0, (0.5, 0.75)), weights
    )
    repeated = average_precision.average_precision(
        average_precision.rank([images[i] for i in drawn], 0, (0.5, 0.75))
    )
    assert weighted == pytest.approx(repeated, abs=1e-9)


def test_the_interval_holds_the_figure_and_narrows_with_more_images() -> None:
    random = np.random.default_rng(3)
    images = [_image(random) for _ in range(200)]
    few, many = (metrics.report(images[:n], CLASSES, resamples=100) for n in (20, 200))
    for figures in (few, many):
        low, high = figures["intervals"]["map50"]
        assert low < figures["map50"] < high
    width = [f["intervals"]["map50"][1] - f["intervals"]["map50"][0] for f in (few, many)]
    assert width[1] < width[0] * 0.6


def test_confusion_counts_every_truth_and_every_detection_once() -> None:
    truths = np.array([[0, 0, 10, 10, 0], [20, 20, 30, 30, 1], [50, 50, 60, 60, 2]], float)
    found = np.array(
        [[0, 0, 10, 10, 0.9, 0], [20, 20, 30, 30, 0.8, 2], [80, 80, 90, 90, 0.7, 1],
         [50, 50, 60, 60, 0.1, 2]]
    )  # fmt: skip
    figures = metrics.confusion([Weighed(found, truths)], CLASSES, 0.5, 0.5)
    assert figures["labels"] == [*CLASSES, "background"]
    assert figures["matrix"] == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]]


def test_a_worse_model_is_worse_and_the_same_model_is_the_same() -> None:
    random = np.random.default_rng(5)
    images = [_image(random) for _ in range(60)]
    blind = [Weighed(image.detections[::2], image.truths) for image in images]
    figures = metrics.compare(blind, images, CLASSES, resamples=100)
    assert figures["map50"]["better"] is False
    assert figures["map50"]["interval"][0] < figures["map50"]["difference"] < 0
    same = metrics.compare(images, images, CLASSES, resamples=20)
    assert same["map50"] == {"difference": 0.0, "interval": [0.0, 0.0], "better": None}


def test_a_class_without_truths_has_no_figure_and_does_not_count() -> None:
    truths = np.array([[0, 0, 10, 10, 0]], float)
    found = np.array([[0, 0, 10, 10, 0.9, 0], [0, 0, 5, 5, 0.9, 1]])
    figures = metrics.report([Weighed(found, truths)], CLASSES, resamples=5)
    assert figures["map50"] == pytest.approx(1.0)
    assert figures["per_class"]["short"]["ap50"] is None
    json.dumps(figures, allow_nan=False)


def test_no_image_and_no_detection_still_make_a_report() -> None:
    nothing = Weighed(np.zeros((0, 6)), np.zeros((0, 5)))
    truth = Weighed(np.zeros((0, 6)), np.array([[0.0, 0, 9, 9, 0]]))
    assert metrics.report([], CLASSES)["map50"] is None
    assert metrics.report([nothing], CLASSES, resamples=5)["map50"] is None
    assert metrics.report([truth], CLASSES, resamples=5)["map50"] == 0
