"""The bare torch loop of a family's network, one process of so many: `python -m … TASK RANK`.

Reading, forward, backward, gradients shared by gloo, a step; no validation, no checkpoint, nothing
told but how many images a second each epoch takes.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import distributed as dist
from torch import nn

from workers import offline
from workers.families import classifier, faster_rcnn
from workers.training import basics, loop
from workers.training.basics import Place, TrainingTask

LESSONS = {"classifier": classifier.ClassLesson, "faster_rcnn": faster_rcnn.BoxLesson}


@dataclass(frozen=True)
class Bare:
    """A network, its batches, and the loss of one."""

    network: nn.Module
    batches: Iterable[Any]
    loss: Callable[[nn.Module, Any], torch.Tensor]


def main(path: Path, rank: int, port: int) -> None:
    """Train, and print the images a second of each epoch after the first, over all processes."""
    family, task = pickle.loads(path.read_bytes())
    count = task.parameters.workers
    if count > 1:
        door = f"tcp://127.0.0.1:{port}"
        dist.init_process_group("gloo", init_method=door, rank=rank, world_size=count)
    torch.set_num_threads(1)
    place = Place(rank, count)
    made = _yolo(task, place) if family == "yolo" else _ours(family, task, place)
    for epoch, pace in enumerate(_epochs(made, task, count)):
        if rank == 0 and epoch:
            print(pace, flush=True)


def _epochs(made: Bare, task: TrainingTask, count: int) -> Iterator[float]:
    network = nn.parallel.DistributedDataParallel(made.network, find_unused_parameters=True) if (
        count > 1) else made.network  # fmt: skip
    optimizer = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], 1e-4)
    for _ in range(task.parameters.epochs):
        network.train()
        began, images = time.monotonic(), 0
        for batch in made.batches:
            with torch.autocast("cpu", torch.bfloat16, enabled=basics.half(task.parameters, "cpu")):
                loss = made.loss(network, batch)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            optimizer.zero_grad()
            images += len(batch["img"] if isinstance(batch, dict) else batch) * count
        yield images / (time.monotonic() - began)


def _ours(family: str, task: TrainingTask, place: Place) -> Bare:
    lesson: Any = LESSONS[family](task, basics.Silent())
    _, loader = loop._loader(lesson, task.parameters, place)

    def loss(network: nn.Module, batch: Any) -> torch.Tensor:
        found = lesson.losses(network, batch, torch.device("cpu"))
        return torch.stack([value.float() for value in found.values()]).sum()

    return Bare(lesson.network, loader, loss)


def _yolo(task: TrainingTask, place: Place) -> Bare:
    offline.prepare()
    from workers.families.yolo import trainer

    made = trainer.YoloTrainer(task, Place(place.rank, 1), basics.Silent(), None)
    made.place = place
    made.setup_model()
    made.model.to("cpu")
    made.set_model_attributes()
    share = task.parameters.batch // place.count
    rank = place.rank if place.count > 1 else -1
    loader = made.get_dataloader("train", batch_size=share, rank=rank, mode="train")

    def loss(network: nn.Module, batch: Any) -> torch.Tensor:
        found: torch.Tensor = network(made.preprocess_batch(batch))[0]
        return found.sum()

    return Bare(made.model, loader, loss)


if __name__ == "__main__":
    os.environ.update(offline.environment())
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
