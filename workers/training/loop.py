"""The training loop of our own families: one function in each process, the same for one or many.

The batch of the parameters is the sum over all processes, so results do not depend on how many
there are; the learning rate grows with it. A checkpoint is written after every epoch.
"""

from __future__ import annotations

import dataclasses
import io
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn
from torch.utils import data as torch_data
from torch.utils.data import distributed as sampling

from workers.families.base import Example, Parameters, Reporter
from workers.training import basics, rates
from workers.training.basics import Place, TrainingTask
from workers.weights import weight_files

Losses = Mapping[str, torch.Tensor]
WEIGHT_DECAY = 0.01


class Lesson(Protocol):
    """What a family brings to the loop."""

    network: nn.Module
    header: weight_files.WeightsHeader
    examples: Sequence[Example]
    judge_on: Sequence[Example]
    best_by: str
    rate: float
    rate_batch: int

    def read(self, index: int, random: np.random.Generator) -> Any:
        """One training example, changed a little each time."""
        ...

    def losses(self, network: nn.Module, batch: Sequence[Any], device: torch.device) -> Losses:
        """The losses of a batch; their sum is trained on."""
        ...

    def judge(self, network: nn.Module, examples: Sequence[Example]) -> list[Any]:
        """What the network says of these examples, one picklable answer each."""
        ...

    def figures(self, answers: Sequence[Any]) -> Mapping[str, float]:
        """The curves' figures, of the answers of all processes."""
        ...


@dataclass(slots=True)
class Course:
    """How far a training has come; this, the network and the optimizer are the checkpoint."""

    epoch: int = 0
    best: float = -math.inf
    best_epoch: int = 0
    stopped: bool = False
    figures: dict[str, float] = field(default_factory=dict)
    best_figures: dict[str, float] = field(default_factory=dict)


class Reading(torch_data.Dataset[Any]):
    """The lesson's examples; what is changed depends on seed, epoch and example alone."""

    def __init__(self, lesson: Lesson, seed: int) -> None:
        self.lesson, self.seed, self.epoch = lesson, seed, 0

    def __len__(self) -> int:
        return len(self.lesson.examples)

    def __getitem__(self, index: int) -> Any:
        return self.lesson.read(index, np.random.default_rng((self.seed, self.epoch, index)))


def run(
    task: TrainingTask,
    place: Place,
    reporter: Reporter,
    teach: Callable[[TrainingTask, Reporter], Lesson],
) -> Mapping[str, Any]:
    """Train or go on; the leader leaves model.safetensors and the figures of the best epoch."""
    torch.set_num_threads(place.threads)
    given, device = task.parameters, torch.device(place.device)
    _seed(given.seed, 0, 0)
    lesson = teach(task, reporter)
    lesson.network.to(device)
    optimizer = _optimizer(lesson, given)
    course = _restore(task, lesson.network, optimizer, device)
    network = _shared(lesson.network, place, device)
    reading, loader = _loader(lesson, given, place)
    meter = basics.EpochMeter(reporter, given.epochs)
    meter.batches = len(loader)
    if course.epoch == 0 and basics.knows_all(task):
        _judge_start(course, lesson, task, place, reporter)
    while course.epoch < given.epochs and not course.stopped:
        _seed(given.seed, place.rank, course.epoch)
        reading.epoch = course.epoch
        loader.sampler.set_epoch(course.epoch)  # type: ignore[attr-defined]
        meter.begin_epoch()
        losses = _epoch(lesson, network, loader, optimizer, given, course.epoch, place, meter)
        drift = basics.drift(lesson.network, place)
        speed = meter.images_per_second
        answers = _gathered(_judged(lesson, place), place)
        course.epoch += 1
        course.figures = {**losses, **lesson.figures(answers), "drift": drift}
        _decide(course, lesson, task, place)
        if place.leads:
            _keep(task, course, lesson.network, optimizer)
            told = {**course.figures, "images_per_second": round(speed, 2)}
            reporter.epoch(course.epoch, given.epochs, told)
    if place.leads and course.best_epoch == 0:
        reporter.log(basics.NOT_BETTER)
    return _conclude(task, course) if place.leads else {}


def _judge_start(
    course: Course, lesson: Lesson, task: TrainingTask, place: Place, reporter: Reporter
) -> None:
    """The start weights are epoch 0: what comes out is never worse than what went in."""
    course.figures = dict(lesson.figures(_gathered(_judged(lesson, place), place)))
    _decide(course, lesson, task, place)
    if place.leads:
        reporter.log(basics.known(course.best))


def _epoch(
    lesson: Lesson,
    network: nn.Module,
    loader: torch_data.DataLoader[Any],
    optimizer: torch.optim.Optimizer,
    given: Parameters,
    epoch: int,
    place: Place,
    meter: basics.EpochMeter,
) -> dict[str, float]:
    """One pass over the training images; the mean losses over all processes."""
    network.train()
    device, half = torch.device(place.device), basics.half(given, place.device)
    every = _accumulated(given)
    steps = math.ceil(len(loader) / every)
    sums: dict[str, float] = {}
    for step, batch in enumerate(loader):
        _set_rate(optimizer, lesson, given, epoch * steps + step // every, steps)
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            losses = lesson.losses(network, batch, device)
        total = torch.stack([value.float() for value in losses.values()]).sum()
        _finite(total, epoch)
        torch.autograd.backward(total / every)
        if (step + 1) % every == 0 or step + 1 == len(loader):
            nn.utils.clip_grad_norm_(network.parameters(), 10.0)
            optimizer.step()
            optimizer.zero_grad()
        for name, value in losses.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        meter.batch(epoch, len(batch) * place.count, float(total.detach()))
    means = basics.mean_over_all({k: v / len(loader) for k, v in sums.items()}, place)
    rate = float(optimizer.param_groups[0]["lr"])
    return {**means, "loss": sum(means.values()), "learning_rate": rate}


def _accumulated(given: Parameters) -> int:
    """From how many batches the optimizer takes one step."""
    return max(1, int(given.extra.get("accumulate", 1)))


def _finite(loss: torch.Tensor, epoch: int) -> None:
    if not torch.isfinite(loss):
        raise basics.diverged(epoch)


def _set_rate(
    optimizer: torch.optim.Optimizer, lesson: Lesson, given: Parameters, step: int, steps: int
) -> None:
    seen = given.batch * _accumulated(given)
    base = given.learning_rate or lesson.rate * seen / lesson.rate_batch
    factor = rates.factor(step, steps, given.epochs, given.extra)
    for group in optimizer.param_groups:
        group["lr"] = base * factor


def _judged(lesson: Lesson, place: Place) -> list[tuple[int, Any]]:
    """This process's share of the validation images, each with its number."""
    numbers = range(place.rank, len(lesson.judge_on), place.count)
    lesson.network.eval()
    with torch.inference_mode():
        answers = lesson.judge(lesson.network, [lesson.judge_on[number] for number in numbers])
    return list(zip(numbers, answers, strict=True))


def _gathered(answers: list[tuple[int, Any]], place: Place) -> list[Any]:
    """The answers of all processes, in the order of the images."""
    parts = basics.gather(answers, place)
    return [answer for _, answer in sorted((pair for p in parts for pair in p), key=_number)]


def _number(pair: tuple[int, Any]) -> int:
    return pair[0]


def _decide(course: Course, lesson: Lesson, task: TrainingTask, place: Place) -> None:
    """Keep the best epoch's weights; stop when it lies longer back than the patience."""
    value = course.figures.get(lesson.best_by, -math.inf)
    if value > course.best or course.best == -math.inf:
        course.best, course.best_epoch = value, course.epoch
        course.best_figures = course.figures
        if place.leads:
            state = lesson.network.state_dict()
            weight_files.save(task.folder / "best.safetensors", lesson.header, state)
    patience = task.parameters.patience
    course.stopped = patience > 0 and course.epoch - course.best_epoch >= patience


def _keep(task: TrainingTask, course: Course, network: nn.Module, optimizer: Any) -> None:
    buffer = io.BytesIO()
    state = {
        "course": dataclasses.asdict(course),
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    torch.save(state, buffer)
    weight_files.write_whole(task.folder / "last.pt", buffer.getvalue())


def _restore(
    task: TrainingTask, network: nn.Module, optimizer: Any, device: torch.device
) -> Course:
    path = task.folder / "last.pt"
    if not path.is_file():
        return Course()
    state = torch.load(path, map_location=device, weights_only=True)
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    return Course(**state["course"])


def _conclude(task: TrainingTask, course: Course) -> Mapping[str, Any]:
    best = task.folder / "best.safetensors"
    weight_files.write_whole(task.folder / "model.safetensors", best.read_bytes())
    return {"epochs": course.epoch, "best_epoch": course.best_epoch, **course.best_figures}


def _optimizer(lesson: Lesson, given: Parameters) -> torch.optim.Optimizer:
    """Weight decay for matrices alone."""
    trained = [value for value in lesson.network.parameters() if value.requires_grad]
    decay = float(given.extra.get("weight_decay", WEIGHT_DECAY))
    groups = [
        {"params": [value for value in trained if value.ndim > 1], "weight_decay": decay},
        {"params": [value for value in trained if value.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, given.learning_rate or lesson.rate)


def _shared(network: nn.Module, place: Place, device: torch.device) -> nn.Module:
    if place.count == 1:
        return network
    devices = [device.index] if device.type == "cuda" else None
    return nn.parallel.DistributedDataParallel(network, device_ids=devices)


def _loader(
    lesson: Lesson, given: Parameters, place: Place
) -> tuple[Reading, torch_data.DataLoader[Any]]:
    reading = Reading(lesson, given.seed)
    sampler = sampling.DistributedSampler[Any](
        reading, place.count, place.rank, shuffle=True, seed=given.seed
    )
    # Batch norm cannot learn from a last batch of one picture.
    share = max(1, min(given.batch // place.count, len(sampler)))
    loader = torch_data.DataLoader(
        reading,
        share,
        sampler=sampler,
        collate_fn=list,
        drop_last=share > 1 and len(sampler) % share == 1,
        num_workers=0 if place.device == "cpu" else 4,
    )
    return reading, loader


def _seed(seed: int, rank: int, epoch: int) -> None:
    """Chance depends on these alone, so a resumed training ends where an unbroken one does."""
    mixed = int(np.random.SeedSequence((seed, rank, epoch)).generate_state(1)[0])
    torch.manual_seed(mixed)
    np.random.seed(mixed)
    random.seed(mixed)
