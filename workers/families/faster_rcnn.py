"""The family `faster_rcnn`: torchvision's, on ResNet-50 (v1, v2) or MobileNet v2, with a pyramid.

Files that may start a training: our own (.safetensors), torchvision's detectors, and state dicts of
the backbone alone. The network itself normalises and scales pictures (long side to the image
size), so training and use cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from backend.domain import Split
from backend.errors import Refused
from workers.evaluation import metrics
from workers.evaluation.average_precision import Weighed
from workers.families import faster_rcnn_network as networks
from workers.families import letterbox
from workers.families.base import (
    Detections,
    Example,
    Parameters,
    Picture,
    Pixels,
    Reporter,
    Seen,
    Trained,
    TrainingSet,
)
from workers.training import basics, distributed, loop
from workers.weights import publishing, start, states, weight_files

FAMILY = "faster_rcnn"
CURVES = {
    "loss_classifier": "cls_loss",
    "loss_box_reg": "box_loss",
    "loss_objectness": "objectness_loss",
    "loss_rpn_box_reg": "rpn_box_loss",
}


def train(
    data: TrainingSet,
    begin: Path | None,
    parameters: Parameters,
    reporter: Reporter,
    folder: Path,
) -> Trained:
    """As the family yolo does it; `extra` may hold from_scratch, accumulate, weight_decay, half."""
    basics.check(data, parameters)
    basics.check_boxes(data)
    variant = networks.known(parameters.variant or "mobilenet")
    chosen = start.choose(FAMILY, variant, begin, parameters.extra)
    task = basics.TrainingTask(data, chosen, parameters, folder.resolve())
    return distributed.train(_loop, task, reporter)


def seen(data: TrainingSet, parameters: Parameters, learned: int) -> Iterator[Seen]:
    """Each picture as `BoxLesson.read` gives it."""
    del parameters, learned
    random = np.random.default_rng()
    for each in data.examples:
        yield Seen(*changed(basics.pixels(each), basics.boxes(each, data.classes), random))


def load(path: Path | None, device: str = "cpu") -> FasterRcnn:
    """A model from our own weights."""
    if path is None:
        raise Refused("A Faster R-CNN needs weights: train one first.")
    header, tensors = weight_files.load(path, FAMILY)
    network = networks.build(
        networks.known(header.variant),
        len(header.classes),
        header.image_size,
        bool(header.extra.get("frozen")),
    )
    states.fill(network, tensors, path)
    return FasterRcnn(header, network, device or basics.device())


class FasterRcnn:
    """A Faster R-CNN in memory; `network` takes a list of RGB pictures in 0..1 of any size."""

    def __init__(self, header: weight_files.WeightsHeader, network: nn.Module, device: str) -> None:
        self.header, self.device = header, torch.device(device)
        self.classes, self.image_size = header.classes, header.image_size
        self.network = network.to(self.device).eval()

    @torch.inference_mode()
    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """The detections of each picture, best first, from a score of .01 up, at most 300."""
        answers = self.network([tensor(picture.pixels).to(self.device) for picture in batch])
        return [rows(answer) for answer in answers]

    def export(self, runtime: str, folder: Path) -> Path:
        """The network as a file for another program: torchscript."""
        shape = (1, 3, self.image_size, self.image_size)
        return publishing.write(_Flat(self.network), shape, runtime, folder, self.header)


class BoxLesson:
    """Pictures with boxes."""

    best_by = "map50"
    rate, rate_batch = 2e-4, 4

    def __init__(self, task: basics.TrainingTask, reporter: Reporter) -> None:
        given, self.classes = task.parameters, task.data.classes
        variant, frozen = given.variant or "mobilenet", task.start is not None
        self.network = networks.build(variant, len(self.classes), given.image_size, frozen)
        if task.start is not None:
            states.begin(
                self.network, task.start, FAMILY, variant, self.classes,
                networks.RENAMED, part="backbone.body.",
            )  # fmt: skip
        extra = {"frozen": frozen}
        self.header = weight_files.WeightsHeader(
            FAMILY, variant, self.classes, given.image_size, extra
        )
        self.examples: Sequence[Example] = task.data.of(Split.TRAIN)
        self.judge_on: Sequence[Example] = basics.judged_on(task.data, reporter)

    def read(self, index: int, random: np.random.Generator) -> tuple[Pixels, Any, Any]:
        """A picture with its boxes and labels (1 is the first class), mirrored and lit anew."""
        example = self.examples[index]
        lit, boxes = changed(basics.pixels(example), basics.boxes(example, self.classes), random)
        return lit, boxes[:, :4], boxes[:, 4].astype(np.int64) + 1

    def losses(self, network: nn.Module, batch: Sequence[Any], device: torch.device) -> loop.Losses:
        """The four losses of region proposals and heads."""
        images = [tensor(pixels).to(device) for pixels, _, _ in batch]
        targets = [
            {
                "boxes": torch.from_numpy(boxes.astype(np.float32)).to(device),
                "labels": torch.from_numpy(labels).to(device),
            }
            for _, boxes, labels in batch
        ]
        return {CURVES[name]: value for name, value in network(images, targets).items()}

    def judge(self, network: nn.Module, examples: Sequence[Example]) -> list[Any]:
        """Detections and truths of each picture."""
        device = next(network.parameters()).device
        answers = []
        for example in examples:
            found = network([tensor(basics.pixels(example)).to(device)])[0]
            answers.append(Weighed(rows(found), basics.boxes(example, self.classes)))
        return answers

    def figures(self, answers: Sequence[Any]) -> Mapping[str, float]:
        """mAP at .5 and over .5:.95."""
        found = metrics.report(answers, self.classes, resamples=0)
        return {name: found[name] or 0.0 for name in ("map50", "map50_95")}


def changed(
    pixels: Pixels, boxes: NDArray[np.float64], random: np.random.Generator
) -> tuple[Pixels, NDArray[np.float64]]:
    """A picture with its boxes, mirrored and lit anew."""
    found = boxes.copy()
    for axis in (0, 1):
        if random.random() < 0.5:
            pixels = np.flip(pixels, axis)
            side = pixels.shape[axis]
            low, high = 1 - axis, 3 - axis
            found[:, [low, high]] = side - found[:, [high, low]]
    lit = pixels.astype(np.float32) * random.uniform(0.85, 1.15) + random.uniform(-12, 12)
    return lit.clip(0, 255).astype(np.uint8), found


def tensor(pixels: Pixels) -> torch.Tensor:
    """A picture as the network takes it: RGB, channels first, 0 to 1."""
    image = letterbox.colour(pixels)[:, :, ::-1].transpose(2, 0, 1)
    return torch.from_numpy(np.ascontiguousarray(image)).float() / 255


def rows(answer: Mapping[str, torch.Tensor]) -> Detections:
    """torchvision's answer as our rows; its class 0 is the background."""
    columns = (answer["boxes"], answer["scores"][:, None], answer["labels"][:, None] - 1)
    found = torch.cat([column.float() for column in columns], dim=1).cpu().numpy()
    return np.asarray(found[np.argsort(-found[:, 4], kind="stable")], np.float32)


class _Flat(nn.Module):
    """One picture in, boxes, scores and classes out: what a tracer understands."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Boxes, scores and classes (counted from 1) of the first picture."""
        answer = self.network([images[0]])[0]
        return answer["boxes"], answer["scores"], answer["labels"]


def _loop(task: basics.TrainingTask, place: basics.Place, reporter: Reporter) -> Mapping[str, Any]:
    return loop.run(task, place, reporter, BoxLesson)
