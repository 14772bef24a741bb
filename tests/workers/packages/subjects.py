"""Models of every family that can be packed, and what a run of Loupe finds with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from backend import matching
from backend.models.choice import Label
from tests.workers.families import drawn
from workers.engine.chunks import Chunk, Looked
from workers.engine.work import ChunkWorker, Setup
from workers.families import classifier, faster_rcnn_network
from workers.packages import packing
from workers.runtimes import ModelSource, preparing
from workers.weights import weight_files as files

SCRIPT = Path(__file__).with_name("packed.py")
LOADER = "workers.runtimes.preparing:load"
FIRST_CLASS = 100
SIDE = 96


@dataclass(frozen=True)
class Subject:
    """A model as it was trained."""

    source: ModelSource
    classes: tuple[str, ...]
    confidence: float
    wanted: int

    @property
    def labels(self) -> list[Label]:
        """The classes as those of a project."""
        return [Label(name, FIRST_CLASS + at) for at, name in enumerate(self.classes)]

    def setup(self, runtime: str, cache: Path) -> Setup:
        """How a run looks at pictures with it."""
        prepared = preparing.prepare(self.source, cache, runtime, "f32")
        arguments = (prepared, self.confidence, 1)
        return Setup(LOADER, arguments, self.confidence, wanted=self.wanted)

    def lay(self, folder: Path, cache: Path) -> None:
        """The package."""
        prepared = preparing.prepare(self.source, cache, packing.RUNTIME, "f32")
        setup = self.setup(packing.RUNTIME, cache)
        packing.lay(folder, prepared, setup, self.labels, {"snapshot": 7, "weights": "a" * 64})

    def seen(self, pictures: list[Path], cache: Path) -> list[Looked]:
        """What a run in OpenVINO finds in the pictures."""
        worker = ChunkWorker(self.setup("openvino", cache))
        numbers = tuple(range(len(pictures)))
        return list(worker.look(Chunk(0, numbers, tuple(map(str, pictures)))))


def make(family: str, folder: Path, weights: Path) -> Subject:
    """A network that is sure of what it says, if not right; training one takes too long."""
    torch.manual_seed(1)
    if family == "yolo":
        from workers.families.yolo import yolo_network

        known = weights / "yolo11n_recovered.pt"
        header, _ = yolo_network.read(known)
        return Subject(ModelSource("yolo", known), header.classes, 0.25, header.image_size)
    name, network = _untrained(family, weights)
    header = files.WeightsHeader(family, name, drawn.CLASSES, SIDE, {"frozen": True})
    path = files.save(folder / f"{family}.safetensors", header, network.state_dict())
    least = 0.0 if family == "classifier" else 0.25
    return Subject(ModelSource(family, path), drawn.CLASSES, least, SIDE)


def _untrained(family: str, weights: Path) -> tuple[str, torch.nn.Module]:
    if family == "classifier":
        return "resnet18", classifier.build("resnet18", len(drawn.CLASSES), SIDE)
    network: Any = faster_rcnn_network.build("mobilenet", len(drawn.CLASSES), SIDE, True)
    known = torch.load(weights / "mobilenet_v2_imagenet_features.pth", weights_only=True)
    features = {name.removeprefix("features."): tensor for name, tensor in known.items()}
    network.backbone.body.load_state_dict(features, strict=False)
    with torch.no_grad():
        network.roi_heads.box_predictor.cls_score.weight.mul_(10.0)
    return "mobilenet", network


def look(
    way: str, places: list[Path], pictures: list[Path], python: str = sys.executable
) -> dict[str, Any]:
    """What a package finds, in a process of its own."""
    told = [way, ",".join(map(str, places)), *map(str, pictures)]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run([python, str(SCRIPT), *told], env=kept, capture_output=True, timeout=500)
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    answer: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return answer


def hold(found: list[Any], seen: list[Looked], subject: Subject) -> int:
    """Each of our boxes is in the answer and no other, but where it is doubtful; their number."""
    count = 0
    for rows, looked in zip(found, seen, strict=True):
        ours = looked.boxes[:1] if subject.source.family == "classifier" else looked.boxes
        count += _same(rows, np.asarray(ours, np.float32), subject)
    return count


def _same(rows: list[dict[str, Any]], ours: np.ndarray[Any, Any], subject: Subject) -> int:
    told = [(*one["box"].values(), one["confidence"], one["class"] - FIRST_CLASS) for one in rows]
    theirs = np.array(told, np.float32).reshape(-1, 6)
    doubtful = subject.confidence + 1e-3
    for first, second in ((theirs, ours), (ours, theirs)):
        for box in first[first[:, 4] > doubtful]:
            overlap = matching.overlaps(box[None], second)[0]
            close = (overlap > 0.999) & (abs(second[:, 4] - box[4]) < 1e-3)
            assert (close & (second[:, 5] == box[5])).any(), box
    return len(theirs)
