"""How a board looks to the camera: binarised black and white, or in colour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import cv2
import numpy as np
from cv2.typing import MatLike
from numpy.random import Generator
from numpy.typing import NDArray

from backend.sample.drawn import Mask, Pixels
from backend.sample.panels import Panel

Field = NDArray[np.float32]

_GRAIN = 1024
# One grey tone a material; the colour table then turns tones into colours, soft edges included.
_HOLE, _LAMINATE, _COPPER, _DULL, _SHINY = 8, 60, 116, 150, 245


class Look(Protocol):
    """The camera and the light of one product."""

    def photograph(self, rng: Generator, layers: Panel, field: Field) -> Pixels:
        """The picture in which each pixel looks at its own place moved by `field`."""
        ...


def grain(rng: Generator) -> Mask:
    """Noise around 128 to cut pieces from; making it anew for each picture would cost most."""
    fine = rng.normal(0, 1, (_GRAIN, _GRAIN)).astype(np.float32)
    rows = rng.normal(0, 0.7, (_GRAIN, 1)).astype(np.float32)
    soft = cv2.GaussianBlur(fine, (0, 0), 1.2) * 3
    return np.clip(128 + 24 * (fine * 0.6 + soft * 0.6 + rows), 0, 255).astype(np.uint8)


class Binary:
    """Black copper on white, with ragged edges and a slightly uneven threshold."""

    def __init__(self, rng: Generator, grain: Mask) -> None:
        self._grain = grain
        self._rough = float(rng.uniform(0.2, 0.65))

    def photograph(self, rng: Generator, layers: Panel, field: Field) -> Pixels:
        seen = cv2.GaussianBlur(_seen(layers.copper, field), (5, 5), 1.0)
        noisy = _grainy(rng, seen, self._grain, self._rough)
        limit = 128 + rng.uniform(-14, 14)
        return cv2.threshold(noisy, limit, 255, cv2.THRESH_BINARY_INV)[1].astype(np.uint8)


class Colour:
    """Solder mask, tinned pads, silkscreen, holes, and light from one side."""

    def __init__(self, rng: Generator, grain: Mask) -> None:
        self._grain = grain
        self._rough = float(rng.uniform(0.06, 0.16))
        self._table = _table(rng)

    def photograph(self, rng: Generator, layers: Panel, field: Field) -> Pixels:
        tones = cv2.GaussianBlur(_seen(_tones(layers), field), (3, 3), 0.8)
        tones = _grainy(rng, tones, self._grain, self._rough)
        painted = cv2.LUT(cv2.merge((tones, tones, tones)), self._table)
        lit = cv2.multiply(painted, _light(rng, painted.shape), scale=1 / 160)
        relief = cv2.filter2D(_seen(layers.copper, field), cv2.CV_16S, _RELIEF)
        shine = cv2.convertScaleAbs(relief.clip(0), alpha=0.10)
        ink = cv2.convertScaleAbs(_seen(layers.silk, field), alpha=0.85)
        bright = cv2.max(shine, cv2.GaussianBlur(ink, (3, 3), 0.7))
        lit = cv2.add(lit, cv2.merge((shine, shine, shine)))
        return cv2.max(lit, cv2.merge((bright, bright, bright))).astype(np.uint8, copy=False)


LOOKS: dict[str, Callable[[Generator, Mask], Look]] = {"binary": Binary, "colour": Colour}

_RELIEF = np.array([[-2, -1, 0], [-1, 0, 1], [0, 1, 2]], np.float32)


def _seen(layer: Mask, field: Field) -> Mask:
    height, width = field.shape[:2]
    edge = (layer.shape[0] - height) // 2
    rows, cols = np.mgrid[edge : edge + height, edge : edge + width].astype(np.float32)
    across, down = cv2.split(field)
    return cv2.remap(layer, cols + across, rows + down, cv2.INTER_LINEAR).astype(np.uint8)


def _grainy(rng: Generator, picture: MatLike, grain: Mask, strength: float) -> Mask:
    height, width = picture.shape
    top = int(rng.integers(0, _GRAIN - height + 1))
    left = int(rng.integers(0, _GRAIN - width + 1))
    piece = grain[top : top + height, left : left + width]
    return cv2.addWeighted(picture, 1, piece, strength, -128 * strength).astype(np.uint8)


def _tones(layers: Panel) -> Mask:
    tones = cv2.convertScaleAbs(layers.copper, alpha=(_COPPER - _LAMINATE) / 255, beta=_LAMINATE)
    domed = cv2.blur(layers.pads, (17, 17))
    solder = cv2.convertScaleAbs(domed, alpha=(_SHINY - _DULL) / 255, beta=_DULL)
    tones = np.where(cv2.min(layers.pads, layers.copper) > 127, solder, tones)
    return np.where(layers.holes > 127, np.uint8(_HOLE), tones).astype(np.uint8)


_MASKS = {
    "green": ((14, 58, 10), (36, 112, 30)),
    "dark green": ((20, 44, 14), (38, 84, 34)),
    "blue": ((96, 40, 12), (150, 78, 28)),
    "red": ((18, 16, 96), (40, 34, 150)),
    "black": ((26, 24, 22), (52, 50, 46)),
}
_FINISHES = {"tin": (178, 184, 188), "gold": (96, 176, 214)}


def _table(rng: Generator) -> Pixels:
    """Tone to colour (BGR) for one product."""
    names = list(_MASKS)
    laminate, copper = _MASKS[names[rng.choice(len(names), p=(0.45, 0.2, 0.2, 0.08, 0.07))]]
    pad = np.array(_FINISHES["tin" if rng.random() < 0.7 else "gold"])
    stops = [0, _HOLE + 10, _LAMINATE, _COPPER, _DULL, 215, _SHINY, 255]
    dull, shiny = pad * 0.5, np.minimum(pad * 1.25, 250)
    colours = np.array(
        [(12, 14, 12), (20, 24, 20), laminate, copper, dull, pad, shiny, (255, 255, 255)], float
    )
    colours[2:4] *= rng.uniform(0.85, 1.15)
    table = [np.interp(np.arange(256), stops, colours[:, channel]) for channel in range(3)]
    return np.stack(table, 1).clip(0, 255).astype(np.uint8).reshape(1, 256, 3)


def _light(rng: Generator, shape: tuple[int, ...]) -> Pixels:
    """Brightness over the board: a lamp on one side, 160 being as painted."""
    corners = 160 * rng.uniform(0.94, 1.06) * rng.uniform(0.88, 1.12, (3, 3))
    field = cv2.resize(corners, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    grey = np.clip(field, 0, 255).astype(np.uint8)
    return cv2.merge((grey, grey, grey)).astype(np.uint8, copy=False)
