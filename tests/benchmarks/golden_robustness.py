"""Golden boards that lie askew, are lit otherwise, or show another product.

LOUPE_REAL_DATA=… python -m tests.benchmarks.golden_robustness [--split trainval --step 5]
"""

from __future__ import annotations

import argparse
import dataclasses
import time

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from tests.benchmarks import deeppcb
from tests.benchmarks.deeppcb import Floats, Pair
from workers.models import golden
from workers.models.base import NOTHING, Picture

SIZE = 640


@dataclasses.dataclass(frozen=True, slots=True)
class Disturbance:
    """The largest change of each sort; every board gets its own at random."""

    angle: float = 0.0
    shift: float = 0.0
    scale: float = 0.0
    light: float = 0.0
    quality: int = 0


KINDS = {
    "undisturbed": Disturbance(),
    "rotation ±3°": Disturbance(angle=3),
    "shift ±20 px": Disturbance(shift=20),
    "scale ±2 %": Disturbance(scale=0.02),
    "light ±25 %": Disturbance(light=0.25),
    "JPEG 40": Disturbance(quality=40),
    "all at once": Disturbance(3, 20, 0.02, 0.25, 40),
}


def disturbed(
    picture: Picture, truths: Floats, by: Disturbance, chance: np.random.Generator
) -> tuple[Picture, Floats]:
    """The board changed, its golden not; labels whose middle leaves the picture go."""
    angle, scale = chance.uniform(-by.angle, by.angle), 1 + chance.uniform(-by.scale, by.scale)
    matrix = np.asarray(cv2.getRotationMatrix2D((SIZE / 2, SIZE / 2), angle, scale), np.float64)
    matrix[:, 2] += chance.uniform(-by.shift, by.shift, 2)
    moved = cv2.warpAffine(picture.pixels, matrix, (SIZE, SIZE), borderValue=255)
    lit = moved.astype(np.float32) * (1 + chance.uniform(-by.light, by.light))
    pixels = lit.clip(0, 255).astype(np.uint8)
    if by.quality:
        coded = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, by.quality])[1]
        pixels = np.asarray(cv2.imdecode(coded, cv2.IMREAD_GRAYSCALE), np.uint8)
    return Picture(pixels, picture.golden, picture.name), _moved(truths, matrix)


def _moved(truths: Floats, matrix: NDArray[np.float64]) -> Floats:
    middle = (truths[:, :2] + truths[:, 2:4]) / 2 @ matrix[:, :2].T + matrix[:, 2]
    half = (truths[:, 2:4] - truths[:, :2]) / 2
    inside = ((middle > 0) & (middle < SIZE)).all(axis=1)
    corners = np.hstack([middle - half, middle + half]).clip(0, SIZE)
    return np.column_stack([corners, truths[:, 4]])[inside]


def judge(pairs: list[Pair], by: Disturbance) -> str:
    """Precision, recall and F1 of the rules under one disturbance."""
    model, found, truths, refused, spent = golden.untrained(deeppcb.KINDS), [], [], 0, 0.0
    for seed, pair in enumerate(pairs):
        chance = np.random.default_rng(seed)
        picture, labels = disturbed(pair.picture(), pair.truths, by, chance)
        started = time.process_time()
        answer = model.predict([picture])[0]
        spent += time.process_time() - started
        refused += isinstance(answer, Refused)
        found.append(NOTHING if isinstance(answer, Refused) else answer)
        truths.append(labels)
    worth = deeppcb.worth(found, truths)
    return (
        f"F1 {worth.f1:.4f}  precision {worth.precision:.4f}  recall {worth.recall:.4f}"
        f"  mAP@.33 {worth.map33:.4f}  types {worth.types:.4f}"
        f"  refused {refused}  {spent / len(pairs) * 1000:.1f} ms of one core a pair"
    )


def refusals(pairs: list[Pair]) -> str:
    """How many boards are refused with a golden of another product."""
    model, chance, refused = golden.untrained(deeppcb.KINDS), np.random.default_rng(0), 0
    for pair in pairs:
        other = pair
        while other.group == pair.group:
            other = pairs[int(chance.integers(len(pairs)))]
        picture = Picture(pair.picture().pixels, other.picture().golden, pair.name)
        refused += isinstance(model.predict([picture])[0], Refused)
    return f"{refused} of {len(pairs)} pairs of different products refused"


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--split", default="test", choices=("test", "trainval"))
    options.add_argument("--step", type=int, default=1)
    chosen = options.parse_args()
    cv2.setNumThreads(1)
    pairs = deeppcb.pairs(chosen.split)[:: chosen.step]
    for name, by in KINDS.items():
        print(f"{name:<14}", judge(pairs, by), flush=True)
    print(refusals(pairs))


if __name__ == "__main__":
    main()
