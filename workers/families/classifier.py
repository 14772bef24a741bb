"""The family `classifier`: one class an image, by torchvision's ResNets or MobileNet v2.

Files that may start a training: our own (.safetensors) and torchvision's state dicts (.pt, .pth).
The answer to a picture is one row a class that covers the whole picture, best first; its score
is the probability, so the first row is what the picture shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torchvision import models as zoo

from backend.domain import Split
from backend.errors import Invalid, Refused
from workers.evaluation import classes as worth
from workers.families import letterbox
from workers.families.base import (
    Detections,
    Example,
    Parameters,
    Picture,
    Pixels,
    Reporter,
    Trained,
    TrainingSet,
)
from workers.training import basics, distributed, loop
from workers.weights import publishing, start, states, weight_files

FAMILY = "classifier"
MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NETWORKS = {
    "resnet18": zoo.resnet18,
    "resnet50": zoo.resnet50,
    "mobilenet": zoo.mobilenet_v2,
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
    _check_labels(data)
    variant = known(parameters.variant or "resnet18")
    chosen = start.choose(FAMILY, variant, begin, parameters.extra)
    task = basics.TrainingTask(data, chosen, parameters, folder.resolve())
    return distributed.train(_loop, task, reporter)


def load(path: Path | None, device: str = "cpu") -> Classifier:
    """A model from our own weights."""
    if path is None:
        raise Refused("A classifier needs weights: train one first.")
    header, tensors = weight_files.load(path, FAMILY)
    network = build(header.variant, len(header.classes))
    states.fill(network, tensors, path)
    return Classifier(header, network, device or basics.device())


class Classifier:
    """A classifier in memory; `network` maps normalised RGB batches to one logit a class."""

    def __init__(self, header: weight_files.WeightsHeader, network: nn.Module, device: str) -> None:
        self.header, self.device = header, torch.device(device)
        self.classes, self.image_size = header.classes, header.image_size
        self.network = network.to(self.device).eval()

    @torch.inference_mode()
    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """One row a class, the most probable first."""
        images = torch.stack([tensor(letterbox.square(p.pixels, self.image_size)) for p in batch])
        chances = self.network(images.to(self.device)).float().softmax(dim=1).cpu().numpy()
        return [_rows(row, p.pixels) for row, p in zip(chances, batch, strict=True)]

    def export(self, runtime: str, folder: Path) -> Path:
        """The network as a file for another program: torchscript, openvino or onnx."""
        shape = (1, 3, self.image_size, self.image_size)
        return publishing.write(self.network, shape, runtime, folder, self.header)


class ClassLesson:
    """Pictures with one class each."""

    best_by = "accuracy"
    rate, rate_batch = 1e-3, 32

    def __init__(self, task: basics.TrainingTask, reporter: Reporter) -> None:
        given, self.classes = task.parameters, task.data.classes
        variant = given.variant or "resnet18"
        self.network = build(variant, len(self.classes))
        if task.start is not None:
            states.begin(self.network, task.start, FAMILY, variant, self.classes, RENAMED)
        self.header = weight_files.WeightsHeader(FAMILY, variant, self.classes, given.image_size)
        labelled = tuple(each for each in task.data.examples if each.label)
        data = TrainingSet(self.classes, labelled)
        self.examples: Sequence[Example] = data.of(Split.TRAIN)
        self.judge_on: Sequence[Example] = basics.judged_on(data, reporter)
        self.loss = nn.CrossEntropyLoss(label_smoothing=0.05)

    def read(self, index: int, random: np.random.Generator) -> tuple[Pixels, int]:
        """A picture, mirrored and lit differently each time."""
        example = self.examples[index]
        pixels = letterbox.square(basics.pixels(example), self.header.image_size)
        for axis in (0, 1):
            if random.random() < 0.5:
                pixels = np.flip(pixels, axis)
        lit = pixels.astype(np.float32) * random.uniform(0.85, 1.15) + random.uniform(-12, 12)
        return lit.clip(0, 255).astype(np.uint8), self.classes.index(example.label)

    def losses(self, network: nn.Module, batch: Sequence[Any], device: torch.device) -> loop.Losses:
        """Cross entropy."""
        images = torch.stack([tensor(pixels) for pixels, _ in batch]).to(device)
        labels = torch.tensor([label for _, label in batch], device=device)
        return {"cross_entropy": self.loss(network(images).float(), labels)}

    def judge(self, network: nn.Module, examples: Sequence[Example]) -> list[Any]:
        """The true class and the probabilities of each picture."""
        device = next(network.parameters()).device
        answers = []
        for example in examples:
            image = tensor(letterbox.square(basics.pixels(example), self.header.image_size))
            chances = network(image[None].to(device)).float().softmax(dim=1)[0]
            answers.append((self.classes.index(example.label), chances.cpu().numpy()))
        return answers

    def figures(self, answers: Sequence[Any]) -> Mapping[str, float]:
        """Accuracy, and the cross entropy on the same pictures."""
        truths = [truth for truth, _ in answers]
        scores = np.array([chances for _, chances in answers]).reshape(len(truths), -1)
        found = worth.report(truths, scores, self.classes)
        right = scores[np.arange(len(truths)), truths].clip(1e-9)
        return {"accuracy": found["accuracy"] or 0.0, "val_loss": float(-np.log(right).mean())}


RENAMED = (("", ""),)


def known(variant: str) -> str:
    """The variant, or a sentence."""
    if variant not in NETWORKS:
        raise Invalid(f"There is no classifier {variant!r}; there are {', '.join(NETWORKS)}.")
    return variant


def build(variant: str, classes: int) -> nn.Module:
    """A network with one logit a class, knowing nothing."""
    network: nn.Module = NETWORKS[known(variant)](weights=None, num_classes=classes)
    return network


def tensor(pixels: Pixels) -> torch.Tensor:
    """A BGR picture as the network takes it: RGB, channels first, normalised."""
    values = pixels[:, :, ::-1].astype(np.float32) / 255
    values = (values - np.array(MEAN, np.float32)) / np.array(SPREAD, np.float32)
    return torch.from_numpy(np.ascontiguousarray(values.transpose(2, 0, 1)))


def _rows(chances: np.ndarray[Any, Any], pixels: Pixels) -> Detections:
    height, width = pixels.shape[:2]
    order = np.argsort(-chances, kind="stable")
    return np.array([(0, 0, width, height, chances[i], i) for i in order], np.float32)


def _check_labels(data: TrainingSet) -> None:
    for example in data.examples:
        if example.label and example.label not in data.classes:
            raise Invalid(f"{example.name}: there is no class {example.label!r} in this project.")
    if len({example.label for example in data.of(Split.TRAIN) if example.label}) < 2:
        raise Refused("A classifier needs training images of at least two classes.")


def _loop(task: basics.TrainingTask, place: basics.Place, reporter: Reporter) -> Mapping[str, Any]:
    return loop.run(task, place, reporter, ClassLesson)
