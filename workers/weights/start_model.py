"""Makes the start model: YOLO11n from scratch on drawn boards and faces, never the same twice.

    python -m workers.weights.start_model --out assets/start_yolo11n.safetensors

The pictures are pieces of 256 × 256 at about full scale, so that defects keep the size they have
on a whole board while a step costs a sixth. The learning rate stays up until the last part of
the steps and then falls to zero; a run that was stopped goes on from its checkpoint.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from backend import sample
from backend.domain import Box
from backend.sample import boards
from workers import offline
from workers.families.yolo import yolo_network

log = logging.getLogger(__name__)

CLASSES = (*sample.CLASSES["pcb"], *sample.CLASSES["mask"])
# Sample projects use small seeds; the start model must not have seen their pictures.
FIRST_SEED = 1_000_000
FOREVER = 10**9
GREY = 114
# More defects than a board of a sample has: each piece teaches more.
CROWDED = (8, 24)
# Pieces are kept back and given out in random order, as neighbours come from one board.
MIXED = 400

Labels = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides what comes out."""

    steps: int = 1600
    batch: int = 16
    size: int = 256
    rate: float = 2e-3
    decay: float = 0.05
    warmup: int = 200
    falling: float = 0.25
    averaging: float = 0.998
    keep_every: int = 250
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """A square cut from a drawing: RGB, and rows of class, centre and size relative to it."""

    pixels: NDArray[np.uint8]
    labels: Labels


def main() -> None:
    """Train as the command line says and write the weights."""
    defaults = Recipe()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("assets/start_yolo11n.safetensors"))
    parser.add_argument("--checkpoint", type=Path, default=Path("start_yolo11n.checkpoint.pt"))
    parser.add_argument("--steps", type=int, default=defaults.steps)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(given.threads)
    cv2.setNumThreads(1)
    network = train(Recipe(steps=given.steps, seed=given.seed), given.checkpoint)
    header = yolo_network.describe(network, CLASSES, 640)
    yolo_network.save(given.out, header, network)
    log.info("wrote %s, %d bytes", given.out, given.out.stat().st_size)


def train(recipe: Recipe, checkpoint: Path) -> Any:
    """The averaged network after all steps."""
    offline.prepare()
    from ultralytics.cfg import get_cfg
    from ultralytics.utils.torch_utils import ModelEMA

    torch.manual_seed(recipe.seed)
    _, network = yolo_network.fresh("n", CLASSES, recipe.size)
    network.args = get_cfg()
    network.names = dict(enumerate(CLASSES))
    network = network.to(memory_format=torch.channels_last).train()
    average = ModelEMA(network, decay=recipe.averaging, tau=300)
    optimizer = _optimizer(network, recipe)
    done = _restore(checkpoint, network, average, optimizer)
    pieces = stream(recipe.seed + done, recipe.size)
    began, seen = time.monotonic(), 0
    for step in range(done, recipe.steps):
        for group in optimizer.param_groups:
            group["lr"] = _rate(recipe, step)
        loss = _step(network, optimizer, collate(list(itertools.islice(pieces, recipe.batch))))
        average.update(network)
        seen += recipe.batch
        if (step + 1) % 50 == 0:
            pace = seen / (time.monotonic() - began)
            log.info("step %d of %d, loss %.3f, %.1f/s", step + 1, recipe.steps, loss, pace)
        if (step + 1) % recipe.keep_every == 0:
            _keep(checkpoint, step + 1, network, average, optimizer)
    return average.ema


def _optimizer(network: Any, recipe: Recipe) -> torch.optim.Optimizer:
    """Weight decay for matrices alone."""
    matrices = [value for value in network.parameters() if value.ndim > 1]
    vectors = [value for value in network.parameters() if value.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": recipe.decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, recipe.rate, fused=True)


def _rate(recipe: Recipe, step: int) -> float:
    rising = min(1.0, (step + 1) / recipe.warmup)
    left = (recipe.steps - step) / (recipe.falling * recipe.steps)
    return recipe.rate * min(rising, left if left < 1 else 1.0)


def _step(network: Any, optimizer: torch.optim.Optimizer, batch: dict[str, torch.Tensor]) -> float:
    with torch.autocast("cpu", torch.bfloat16):
        losses, _ = network(batch)
    loss = losses.sum() / len(batch["img"])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 10.0)
    optimizer.step()
    optimizer.zero_grad()
    value = float(loss.detach())
    if not math.isfinite(value):
        raise FloatingPointError("The loss is no number any more; lower the learning rate.")
    return value


def _keep(path: Path, step: int, network: Any, average: Any, optimizer: Any) -> None:
    state = {
        "step": step,
        "updates": average.updates,
        "network": network.state_dict(),
        "average": average.ema.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    part = path.with_suffix(".part")
    torch.save(state, part)
    part.replace(path)


def _restore(path: Path, network: Any, average: Any, optimizer: Any) -> int:
    if not path.is_file():
        return 0
    state = torch.load(path, weights_only=True)
    network.load_state_dict(state["network"])
    average.ema.load_state_dict(state["average"])
    average.updates = state["updates"]
    optimizer.load_state_dict(state["optimizer"])
    return int(state["step"])


# Pictures


def stream(seed: int, size: int) -> Iterator[Piece]:
    """Pieces without end: of seven four from binarised boards, two coloured, one with faces."""
    rng = np.random.default_rng((FIRST_SEED, seed))
    drawings = [
        _boards(FIRST_SEED + 7919 * index + seed, look, rng, size)
        for index, look in enumerate(("binary", "colour") * 2)
    ]
    faces = _faces(FIRST_SEED + seed, rng, size)
    first, coloured, second, other = drawings
    sources = [first, coloured, second, faces, first, other, second]
    mixed = [next(source) for source in sources for _ in range(MIXED // len(sources))]
    for source in itertools.cycle(sources):
        index = int(rng.integers(len(mixed)))
        yield mixed[index]
        mixed[index] = next(source)


def _boards(seed: int, look: str, rng: Generator, size: int) -> Iterator[Piece]:
    for drawn in boards.draw(FOREVER, seed, look, CROWDED):
        if drawn.is_golden:
            if rng.random() < 0.1:
                yield turned(rng, cut(rng, drawn, size, 1.0))
            continue
        for _ in range(6):
            scale = 1.0 if rng.random() < 0.6 else float(rng.uniform(0.7, 1.3))
            yield turned(rng, cut(rng, drawn, size, scale))


def _faces(seed: int, rng: Generator, size: int) -> Iterator[Piece]:
    for drawn in sample.draw("mask", FOREVER, seed):
        for _ in range(2):
            piece = cut(rng, drawn, size, float(rng.uniform(0.5, 1.1)))
            yield mirrored(piece) if rng.random() < 0.5 else piece


def cut(rng: Generator, drawn: sample.Drawn, size: int, scale: float) -> Piece:
    """A square around a box of the drawing, brought to size × size."""
    side = round(size / scale)
    height, width = drawn.pixels.shape[:2]
    middle = rng.uniform((0, 0), (width, height))
    if drawn.boxes:
        box = drawn.boxes[int(rng.integers(len(drawn.boxes)))]
        middle = (np.array([box.x1 + box.x2, box.y1 + box.y2])) / 2
    corner = middle - side / 2 + rng.uniform(-0.42, 0.42, 2) * side
    left, top = (
        round(float(np.clip(value, min(0, whole - side), max(0, whole - side))))
        for value, whole in zip(corner, (width, height), strict=True)
    )
    window = _window(drawn.pixels, left, top, side)
    if side != size:
        window = cv2.resize(window, (size, size), interpolation=cv2.INTER_AREA).astype(np.uint8)
    return Piece(window, _labels(drawn.boxes, left, top, side))


def _window(pixels: NDArray[np.uint8], left: int, top: int, side: int) -> NDArray[np.uint8]:
    """RGB; what lies beyond the picture is grey."""
    colour = cv2.COLOR_GRAY2RGB if pixels.ndim == 2 else cv2.COLOR_BGR2RGB
    part = pixels[max(0, top) : top + side, max(0, left) : left + side]
    window = np.full((side, side, 3), GREY, np.uint8)
    row, col = max(0, -top), max(0, -left)
    window[row : row + part.shape[0], col : col + part.shape[1]] = cv2.cvtColor(part, colour)
    return window


def _labels(boxes: tuple[Box, ...], left: int, top: int, side: int) -> Labels:
    """What is seen of the boxes; one of which more than 40 % is cut off is not labelled."""
    rows = []
    for box in boxes:
        x1, x2 = (min(max(x - left, 0), side) for x in (box.x1, box.x2))
        y1, y2 = (min(max(y - top, 0), side) for y in (box.y1, box.y2))
        whole = (box.x2 - box.x1) * (box.y2 - box.y1)
        if (x2 - x1) * (y2 - y1) >= 0.6 * whole:
            rows.append((CLASSES.index(box.label), x1 + x2, y1 + y2, 2 * (x2 - x1), 2 * (y2 - y1)))
    found = np.array(rows, np.float32).reshape(-1, 5)
    found[:, 1:] /= 2 * side
    return found


def turned(rng: Generator, piece: Piece) -> Piece:
    """One of the eight ways in which a square can lie."""
    if rng.random() < 0.5:
        piece = mirrored(piece)
    if rng.random() < 0.5:
        piece = Piece(np.flipud(piece.pixels), _flipped(piece.labels, 2))
    if rng.random() < 0.5:
        piece = Piece(piece.pixels.transpose(1, 0, 2), piece.labels[:, [0, 2, 1, 4, 3]])
    return piece


def mirrored(piece: Piece) -> Piece:
    return Piece(np.fliplr(piece.pixels), _flipped(piece.labels, 1))


def _flipped(labels: Labels, column: int) -> Labels:
    flipped = labels.copy()
    flipped[:, column] = 1 - flipped[:, column]
    return flipped


def collate(pieces: list[Piece]) -> dict[str, torch.Tensor]:
    """A batch as Ultralytics' loss takes it."""
    images = np.stack([piece.pixels for piece in pieces])
    labels = np.concatenate([piece.labels for piece in pieces])
    owner = np.repeat(np.arange(len(pieces)), [len(piece.labels) for piece in pieces])
    tensor = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    return {
        "img": tensor.contiguous(memory_format=torch.channels_last),
        "cls": torch.from_numpy(labels[:, :1].copy()),
        "bboxes": torch.from_numpy(labels[:, 1:].copy()),
        "batch_idx": torch.from_numpy(owner.astype(np.float32)),
    }


if __name__ == "__main__":
    main()
