"""The family `classifier`: one class an image, by torchvision's networks or one for small pictures.

Files that may start a training: our own (.safetensors) and torchvision's state dicts (.pt, .pth).
The answer to a picture is one row a class that covers the whole picture, best first; its score
is the probability, so the first row is what the picture shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torchvision import models as zoo

from backend.domain import Split
from backend.errors import Invalid, Refused
from workers.evaluation import classes as worth
from workers.families import changes, letterbox, rarity, small_network
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

FAMILY = "classifier"
MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NETWORKS = {
    "resnet18": zoo.resnet18,
    "resnet50": zoo.resnet50,
    "mobilenet": zoo.mobilenet_v2,
}
SMALL = "small"
USUAL = "resnet18"
SMOOTHING = 0.05
# Pictures that take no more bytes than this, in all processes together, are decoded once.
KEPT_BYTES = 1_000_000_000
JUDGED_AT_ONCE = 64
MOST_JUDGED = 5000


def train(
    data: TrainingSet,
    begin: Path | None,
    parameters: Parameters,
    reporter: Reporter,
    folder: Path,
) -> Trained:
    """As the family yolo does it, and without start weights from scratch.

    `extra` may hold what changes the pictures (`changes.Changes`), balance, class_weights,
    label_smoothing, and what the loop knows: schedule, warm_up, accumulate, weight_decay, half.
    """
    basics.check(data, parameters)
    _check_labels(data)
    variant = known(parameters.variant or USUAL)
    chosen = begin or start.find(FAMILY, variant, parameters.extra)
    task = basics.TrainingTask(data, chosen, parameters, folder.resolve())
    return distributed.train(_loop, task, reporter)


def seen(data: TrainingSet, parameters: Parameters, learned: int) -> Iterator[Seen]:
    """Each picture as `ClassLesson.read` gives it."""
    del learned
    changed, random = changes.chosen(parameters.extra), np.random.default_rng()
    for each in data.examples:
        pixels = changed(_square(each, parameters.image_size), random)
        yield Seen(pixels, np.zeros((0, 5)), each.label)


def load(path: Path | None, device: str = "cpu") -> Classifier:
    """A model from our own weights."""
    if path is None:
        raise Refused("A classifier needs weights: train one first.")
    header, tensors = weight_files.load(path, FAMILY)
    network = build(header.variant, len(header.classes), header.image_size)
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
        images = tensors([letterbox.square(p.pixels, self.image_size) for p in batch])
        chances = self.network(images.to(self.device)).float().softmax(dim=1).cpu().numpy()
        return [_rows(row, p.pixels) for row, p in zip(chances, batch, strict=True)]

    def export(self, runtime: str, folder: Path) -> Path:
        """The network as a file for another program: torchscript, openvino or onnx."""
        shape = (1, 3, self.image_size, self.image_size)
        return publishing.write(self.network, shape, runtime, folder, self.header)


class ClassLesson:
    """Pictures with one class each."""

    best_by = "accuracy"

    def __init__(self, task: basics.TrainingTask, reporter: Reporter) -> None:
        given, self.classes = task.parameters, task.data.classes
        variant = given.variant or USUAL
        self.rate, self.rate_batch = (4e-3, 128) if variant == SMALL else (1e-3, 32)
        self.header = weight_files.WeightsHeader(FAMILY, variant, self.classes, given.image_size)
        labelled = tuple(each for each in task.data.examples if each.label)
        data = TrainingSet(self.classes, labelled)
        self.examples: Sequence[Example] = data.of(Split.TRAIN)
        self.judge_on: Sequence[Example] = _some(basics.judged_on(data, reporter))
        self.changes = changes.chosen(given.extra)
        self.kept = self._decoded(KEPT_BYTES // max(1, given.workers))
        self.truths = np.array([self.classes.index(each.label) for each in self.examples])
        self.rarity = rarity.Rarity(self.truths, len(self.classes), given.extra)
        self.network = self._network(task)
        smoothing = float(given.extra.get("label_smoothing", SMOOTHING))
        self.loss = nn.CrossEntropyLoss(self.rarity.weights, label_smoothing=smoothing)

    def read(self, index: int, random: np.random.Generator) -> tuple[Pixels, int]:
        """A picture, changed differently each time; of rare classes more often if so asked."""
        chosen = self.rarity.drawn(index, random)
        return self.changes(self._pixels(chosen), random), int(self.truths[chosen])

    def losses(self, network: nn.Module, batch: Sequence[Any], device: torch.device) -> loop.Losses:
        """Cross entropy."""
        images = tensors([pixels for pixels, _ in batch]).to(device)
        labels = torch.tensor([label for _, label in batch], device=device)
        return {"cross_entropy": self.loss.to(device)(network(images).float(), labels)}

    def judge(self, network: nn.Module, examples: Sequence[Example]) -> list[Any]:
        """The true class and the probabilities of each picture."""
        device = next(network.parameters()).device
        answers: list[Any] = []
        for begin in range(0, len(examples), JUDGED_AT_ONCE):
            part = examples[begin : begin + JUDGED_AT_ONCE]
            images = tensors([_square(example, self.header.image_size) for example in part])
            chances = network(images.to(device)).float().softmax(dim=1).cpu().numpy()
            truths = [self.classes.index(example.label) for example in part]
            answers.extend(zip(truths, chances, strict=True))
        return answers

    def figures(self, answers: Sequence[Any]) -> Mapping[str, float]:
        """Accuracy, and the cross entropy on the same pictures."""
        truths = [truth for truth, _ in answers]
        scores = np.array([chances for _, chances in answers]).reshape(len(truths), -1)
        found = worth.report(truths, scores, self.classes)
        right = scores[np.arange(len(truths)), truths].clip(1e-9)
        return {"accuracy": found["accuracy"] or 0.0, "val_loss": float(-np.log(right).mean())}

    def _network(self, task: basics.TrainingTask) -> nn.Module:
        variant, size = self.header.variant, self.header.image_size
        network = build(variant, len(self.classes), size)
        if isinstance(network, small_network.SmallNetwork):
            some = small_network.spread_out(len(self.examples))
            network.whiten(tensors([self._pixels(index) for index in some]))
        if task.start is not None:
            states.begin(network, task.start, FAMILY, variant, self.classes, RENAMED)
        return network

    def _pixels(self, index: int) -> Pixels:
        if self.kept:
            return self.kept[index]
        return _square(self.examples[index], self.header.image_size)

    def _decoded(self, most: int) -> list[Pixels]:
        """All training pictures, where they are small enough to be kept in so many bytes."""
        size = self.header.image_size
        if len(self.examples) * size * size * 3 > most:
            return []
        return [_square(example, size) for example in self.examples]


RENAMED = (("", ""),)


def known(variant: str) -> str:
    """The variant, or a sentence."""
    if variant not in (SMALL, *NETWORKS):
        names = ", ".join((SMALL, *NETWORKS))
        raise Invalid(f"There is no classifier {variant!r}; there are {names}.")
    return variant


def build(variant: str, classes: int, image_size: int = 32) -> nn.Module:
    """A network with one logit a class, knowing nothing."""
    if known(variant) == SMALL:
        if image_size > small_network.LARGEST:
            raise Invalid(
                f"The small classifier is for pictures of up to {small_network.LARGEST} pixels, "
                f"not of {image_size}: choose another variant or a smaller image size."
            )
        small = small_network.SmallNetwork(classes, image_size)
        return small.to(memory_format=torch.channels_last)
    network: nn.Module = NETWORKS[variant](weights=None, num_classes=classes)
    return network


def tensors(pictures: Sequence[Pixels]) -> torch.Tensor:
    """BGR pictures of one size as the network takes them: RGB, channels first, normalised."""
    values = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).flip(1).float() / 255
    middle, spread = (torch.tensor(each).view(3, 1, 1) for each in (MEAN, SPREAD))
    return (values - middle) / spread


def tensor(pixels: Pixels) -> torch.Tensor:
    """One picture as the network takes it."""
    return tensors([pixels])[0]


def _some(examples: Sequence[Example]) -> Sequence[Example]:
    """So many that an epoch is judged in little time, from the first to the last."""
    return examples[:: -(-len(examples) // MOST_JUDGED) or 1]


def _square(example: Example, size: int) -> Pixels:
    return letterbox.square(basics.pixels(example), size)


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
