"""Golden boards that lie askew, are lit otherwise, or show another product.

Part of `python -m tests.benchmarks.golden.golden_deeppcb`.
"""

from __future__ import annotations

import dataclasses
import time
from concurrent.futures import ProcessPoolExecutor

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from tests.benchmarks.golden import deeppcb
from tests.benchmarks.golden.deeppcb import Floats, Pair
from workers.families import golden
from workers.families.base import NOTHING, Picture
from workers.families.golden import etching

SIZE = 640


@dataclasses.dataclass(frozen=True, slots=True)
class Disturbance:
    """The largest change of each sort; every board gets its own at random."""

    angle: float = 0.0
    shift: float = 0.0
    scale: float = 0.0
    light: float = 0.0
    quality: int = 0
    tilt: float = 0.0  # by which share of its size a corner moves, as if the camera stood askew
    etched: float = 0.0  # pixels by which copper is wider or narrower


KINDS = {
    "undisturbed": Disturbance(),
    "rotation ±3°": Disturbance(angle=3),
    "shift ±20 px": Disturbance(shift=20),
    "scale ±2 %": Disturbance(scale=0.02),
    "light ±25 %": Disturbance(light=0.25),
    "JPEG 40": Disturbance(quality=40),
    "perspective 1 %": Disturbance(tilt=0.01),
    "perspective 2 %": Disturbance(tilt=0.02),
    "etching ±0.9 px": Disturbance(etched=0.9),
    "all at once": Disturbance(3, 20, 0.02, 0.25, 40),
}


def disturbed(
    picture: Picture, truths: Floats, by: Disturbance, chance: np.random.Generator
) -> tuple[Picture, Floats]:
    """The board changed, its golden not; labels whose middle leaves the picture go."""
    angle, scale = chance.uniform(-by.angle, by.angle), 1 + chance.uniform(-by.scale, by.scale)
    matrix = np.vstack([cv2.getRotationMatrix2D((SIZE / 2, SIZE / 2), angle, scale), [0, 0, 1]])
    matrix[:2, 2] += chance.uniform(-by.shift, by.shift, 2)
    matrix = matrix @ _tilt(chance.uniform(-by.tilt, by.tilt, (4, 2)))
    wider = chance.uniform(-by.etched, by.etched)
    pixels = etching.etched(picture.pixels, wider) if wider else picture.pixels
    moved = cv2.warpPerspective(pixels, matrix, (SIZE, SIZE), borderValue=255)
    lit = moved.astype(np.float32) * (1 + chance.uniform(-by.light, by.light))
    pixels = lit.clip(0, 255).astype(np.uint8)
    if by.quality:
        coded = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, by.quality])[1]
        pixels = np.asarray(cv2.imdecode(coded, cv2.IMREAD_GRAYSCALE), np.uint8)
    return Picture(pixels, picture.golden, picture.name), _moved(truths, matrix)


def _tilt(away: NDArray[np.float64]) -> NDArray[np.float64]:
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    here, there = (SIZE * each.astype(np.float32) for each in (corners, corners + away))
    return np.asarray(cv2.getPerspectiveTransform(here, there), np.float64)


def _moved(truths: Floats, matrix: NDArray[np.float64]) -> Floats:
    middle = (truths[:, :2] + truths[:, 2:4]) / 2
    middle = np.column_stack([middle, np.ones(len(middle))]) @ matrix.T
    middle = middle[:, :2] / middle[:, 2:]
    half = (truths[:, 2:4] - truths[:, :2]) / 2
    inside = ((middle > 0) & (middle < SIZE)).all(axis=1)
    corners = np.hstack([middle - half, middle + half]).clip(0, SIZE)
    return np.column_stack([corners, truths[:, 4]])[inside]


def judge(pairs: list[Pair], by: Disturbance) -> str:
    """Precision, recall and F1 of the rules under one disturbance."""
    cv2.setNumThreads(1)
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
    cv2.setNumThreads(1)
    model, chance, refused = golden.untrained(deeppcb.KINDS), np.random.default_rng(0), 0
    for pair in pairs:
        other = pair
        while other.group == pair.group:
            other = pairs[int(chance.integers(len(pairs)))]
        picture = Picture(pair.picture().pixels, other.picture().golden, pair.name)
        refused += isinstance(model.predict([picture])[0], Refused)
    return f"{refused} of {len(pairs)} pairs of different products refused"


def report(pool: ProcessPoolExecutor, pairs: list[Pair]) -> None:
    """Print a line for each disturbance, then what is refused."""
    told = pool.submit(refusals, pairs)
    lines = pool.map(judge, [pairs] * len(KINDS), KINDS.values())
    for name, text in zip(KINDS, lines, strict=True):
        print(f"{name:<16}", text, flush=True)
    print(told.result())
