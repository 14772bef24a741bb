"""How well and how fast the small network learns CIFAR-10 from nothing, on processors.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.cifar [--epochs 3 --processes 1 --folder F]

Accuracy is that on the 10,000 pictures of the test split; every 25th training picture validates.
A killed run goes on where it was when it is given the same folder. Speed is that of training
steps, in pictures a second of processor time, beside torchvision's ResNet-18 with a stem for small
pictures, the two in turns.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from torchvision import models as zoo

from backend.domain import Split
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.models import classes_read
from tests.benchmarks.results import Figure
from workers.families import classifier
from workers.families.base import Parameters

TURNS = 4


def main() -> None:
    """Train, judge, and compare the pace."""
    asked = _asked()
    data = classes_read.folders(real_data.unpacked("cifar10"))
    told = classes_read.Telling()
    given = Parameters(
        epochs=asked.epochs,
        image_size=32,
        batch=128,
        variant="small",
        workers=asked.processes,
        patience=0,
    )
    began, used = time.monotonic(), time.process_time()
    trained = classifier.train(data, None, given, told, asked.folder)
    took, processor = time.monotonic() - began, time.process_time() - used
    found = classes_read.judged(trained.weights, data.of(Split.TEST))
    low, high = found["interval"]
    ours, theirs = paces()
    how = f"{asked.epochs} epochs, {asked.processes} process(es), {results.machine()}"
    rows = [
        Figure("accuracy, test split", found["accuracy"], "", f"95 % {low:.4f} to {high:.4f}"),
        Figure("calibration, ECE", found["ece"], ""),
        Figure("time", took, "s", f"{processor:.0f} s of processor, load {os.getloadavg()[1]:.0f}"),
        Figure("pictures in a second of processor", ours, "", f"ResNet-18: {theirs:.0f}"),
        Figure("as quick as ResNet-18", ours / theirs, "times"),
    ]
    for row in rows:
        told.log(f"{row.what}: {row.value:.4g} {row.unit} {row.spread}")
    if asked.keep:
        results.keep("cifar", [Figure(r.what, r.value, r.unit, r.spread, how=how) for r in rows])


def paces() -> tuple[float, float]:
    """Pictures a second of processor time: the small network's, and ResNet-18's."""
    torch.set_num_threads(1)
    sides = [(classifier.build("small", 10, 32), 128), (_resnet(), 32)]
    best = [0.0, 0.0]
    for _ in range(TURNS):
        for at, (network, batch) in enumerate(sides):
            best[at] = max(best[at], batch / _step(network, batch))
    return best[0], best[1]


def _step(network: nn.Module, batch: int) -> float:
    """The processor seconds of one training step."""
    images = torch.randn(batch, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (batch,))
    optimizer = torch.optim.AdamW([one for one in network.parameters() if one.requires_grad])
    began = time.process_time()
    with torch.autocast("cpu", torch.bfloat16):
        loss = functional.cross_entropy(network(images).float(), labels)
    torch.autograd.backward(loss)
    optimizer.step()
    return time.process_time() - began


def _resnet() -> nn.Module:
    network: nn.Module = zoo.resnet18(weights=None, num_classes=10)
    network.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    network.maxpool = nn.Identity()
    return network.to(memory_format=torch.channels_last)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    asked.folder = asked.folder or Path(tempfile.mkdtemp(prefix="loupe-cifar-"))
    return asked


if __name__ == "__main__":
    main()
