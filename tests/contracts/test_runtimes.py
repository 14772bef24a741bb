"""Every runtime gives the answers of plain PyTorch for every family that it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from torch import nn

from backend import matching
from backend.errors import Refused
from tests.workers.families import drawn
from workers import offline, runtimes
from workers.families import base, classifier, faster_rcnn_network
from workers.families.base import Detections, LoadedModel, Picture, Pixels
from workers.runtimes import ModelSource, networks, preparing
from workers.runtimes.boxes import BoxModel
from workers.weights import weight_files as files

SURE = 0.3
# Share of the sure boxes that the other side must have at IoU .9 (int8: .8), with that score.
TOLERANCE = {"f32": (0.995, 0.02), "f16": (0.98, 0.03), "bf16": (0.95, 0.06), "int8": (0.85, 0.15)}
ROWS = [
    (family, name, precision)
    for name, runtime in runtimes.RUNTIMES.items()
    for precision in runtime.precisions
    for family in runtime.families
    if family not in ("golden", "second_stage") and (family == "yolo" or precision != "int8")
    # It computes with corners inside, for which bf16 is too coarse: f32 whatever is asked.
    if (family, precision) != ("faster_rcnn", "bf16")
]
CARD = ("yolo", "a made-up card", "f16")
# What the row beside it shows, too, and what takes long.
ALIKE = {
    ("faster_rcnn", "onnxruntime", "f32"),
    ("yolo", "openvino", "int8"),
    ("yolo", "onnxruntime", "f32"),
}


def _row(row: tuple[str, str, str]) -> Any:
    return pytest.param(*row, marks=pytest.mark.again) if row in ALIKE else row


@pytest.fixture(scope="module")
def photos_shown(cocoval: Path) -> list[Path]:
    # Two shapes, because each is compiled anew.
    shapes = ((480, 640), (640, 480))
    fitting = [path for path in sorted(cocoval.glob("*.jpg")) if _pixels(path).shape[:2] in shapes]
    return fitting[:16]


@dataclass
class Subject:
    """Weights of a family, what they are shown, and what plain PyTorch says of it."""

    weights: Path
    shown: list[Path]
    answers: list[Detections]


@pytest.fixture(scope="module")
def subjects(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Subject]:
    folder = tmp_path_factory.mktemp("subjects")

    @functools.cache
    def made(family: str) -> Subject:
        torch.manual_seed(1)
        name, network = _untrained(weights, family)
        extra = {"frozen": True}
        # Pictures of 64 pixels go together, and of these some are left to go alone.
        size, count = (64, 20) if family == "classifier" else (96, 12)
        header = files.WeightsHeader(family, name, drawn.CLASSES, size, extra)
        path = files.save(folder / f"{family}.safetensors", header, network.state_dict())
        shown = [example.path for example in drawn.shapes(folder, count).examples]
        model = base.implementation(family).load(path, "cpu")
        answers = model.predict([Picture(_pixels(one)) for one in shown])
        return Subject(path, shown, [np.asarray(one, np.float32) for one in answers])

    return made


def _untrained(weights: Path, family: str) -> tuple[str, nn.Module]:
    """A network that is sure of what it says, if not right; training one takes too long."""
    if family == "classifier":
        return "resnet18", classifier.build("resnet18", len(drawn.CLASSES))
    network: Any = faster_rcnn_network.build("mobilenet", len(drawn.CLASSES), 96, True)
    path = weights / "mobilenet_v2_imagenet_features.pth"
    tensors = torch.load(path, weights_only=True).items()
    features = {name.removeprefix("features."): tensor for name, tensor in tensors}
    network.backbone.body.load_state_dict(features, strict=False)
    with torch.no_grad():
        network.roi_heads.box_predictor.cls_score.weight.mul_(10.0)
    return "mobilenet", network


@pytest.fixture(scope="module")
def yolo(weights: Path, photos_shown: list[Path]) -> Subject:
    offline.prepare()
    import ultralytics

    path = weights / "yolo11n_recovered.pt"
    model = ultralytics.YOLO(str(path), task="detect")
    # One by one: of several at once ultralytics pads all to a square.
    found = [model.predict(str(one), conf=0.1, iou=0.7, verbose=False) for one in photos_shown]
    answers = [np.asarray(one[0].boxes.data.cpu().numpy(), np.float32) for one in found]
    return Subject(path, photos_shown, answers)


@pytest.mark.parametrize(("family", "runtime", "precision"), [*map(_row, ROWS), CARD])
def test_a_runtime_says_what_plain_pytorch_says(
    family: str,
    runtime: str,
    precision: str,
    yolo: Subject,
    subjects: Callable[[str], Subject],
    tmp_path: Path,
) -> None:
    subject = yolo if family == "yolo" else subjects(family)
    source = ModelSource(family, subject.weights)
    if runtime == CARD[1]:
        model: LoadedModel = _carded(source)
    else:
        if not runtimes.RUNTIMES[runtime].installed():
            pytest.skip(f"{runtime} is not installed")
        prepared = preparing.prepare(source, tmp_path, runtime, precision, subject.shown)
        if prepared.precision != precision:
            pytest.skip(f"this machine does not compute in {precision}")
        model = preparing.load(prepared, confidence=0.1)
    found = model.predict([Picture(_pixels(path)) for path in subject.shown])
    share, score = TOLERANCE[precision]
    ours = [np.asarray(one, np.float32) for one in found]
    pairs = list(zip(ours, subject.answers, strict=True))
    assert sum(len(_sure(one)) for one in subject.answers) >= 8
    assert _agreement(pairs, score) >= share
    assert _agreement([(second, first) for first, second in pairs], score) >= share


def _carded(source: ModelSource) -> LoadedModel:
    """The torch runtime as on a graphics card, half and in batches, on the processor."""
    from workers.runtimes.torch import TorchForward

    graph, classes = networks.detector(source)
    forward = TorchForward(graph, "f16")
    forward.most = 8
    return BoxModel(forward, classes, 640, 0.1)


def _pixels(path: Path) -> Pixels:
    return np.asarray(cv2.imread(str(path)), np.uint8)


def _sure(answer: Detections) -> Detections:
    return answer[answer[:, 4] >= SURE]


def _agreement(pairs: list[tuple[Detections, Detections]], score: float) -> float:
    """Of the sure boxes of the first, the share that the second has too."""
    iou = 0.8 if score > 0.1 else 0.9
    same = every = 0
    for first, second in pairs:
        sure = _sure(first)
        every += len(sure)
        overlap = matching.overlaps(sure, second)
        alike = sure[:, 5:] == second[:, 5]
        close = abs(sure[:, 4:5] - second[:, 4]) <= score
        same += int(((overlap >= iou) & alike & close).any(1).sum()) if len(second) else 0
    return same / every


def test_a_crowded_picture_gets_all_its_boxes_from_the_quick_graph(
    weights: Path, photos_shown: list[Path], tmp_path: Path
) -> None:
    from workers.runtimes.openvino import OpenVinoForward, QuickForward

    prepared = preparing.prepare(
        ModelSource("yolo", weights / "yolo11n_recovered.pt"), tmp_path, "openvino", "f32"
    )
    photos = [cv2.resize(_pixels(path), (160, 160)) for path in photos_shown]
    wall = np.concatenate([np.concatenate(photos[i : i + 4], 1) for i in range(0, 16, 4)], 0)
    quick = QuickForward(prepared.folder, "f32", 2, 0.001)
    whole = OpenVinoForward(prepared.folder / "graph.xml", "f32", 2)
    rows = []
    for forward in (quick, whole):
        tensor = forward.tensor(1, 640, 640)
        tensor[0] = wall
        rows.append(forward.infer(tensor)[0].copy())
    np.testing.assert_array_equal(rows[0], rows[1])


def test_int8_of_a_family_that_has_none_is_refused(
    subjects: Callable[[str], Subject], tmp_path: Path
) -> None:
    source = ModelSource("classifier", subjects("classifier").weights)
    with pytest.raises(Refused, match="int8 is made for YOLO"):
        preparing.prepare(source, tmp_path, "openvino", "int8")
