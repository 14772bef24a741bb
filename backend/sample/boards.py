"""Draws boards with goldens and defects, binarised as in DeepPCB or in the colours of a photo."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.domain import Box, Origin
from backend.sample import defects, ground, layout, looks, panels
from backend.sample.drawn import Drawn, Pixels, split_of

CLASSES = tuple(kind.name for kind in defects.KINDS)
LOOKS = tuple(looks.LOOKS)

SIZE = 640
_EDGE = 8
_BOARDS_A_PRODUCT = 6
_BOARDS_A_VIEW = 3


@dataclass(frozen=True, slots=True)
class _View:
    """A place on a product's panel that the camera looks at, a little wider than the picture."""

    layers: panels.Panel
    ground: ground.Ground
    name: str


def draw(
    images: int, seed: int, look: str = "binary", defects_a_board: tuple[int, int] = (3, 10)
) -> Iterator[Drawn]:
    """Boards of one product after another, three to a golden; some few have no defect."""
    grain = looks.grain(np.random.default_rng((seed, 0)))
    for product in itertools.count():
        first = product * _BOARDS_A_PRODUCT
        if first >= images:
            return
        rng = np.random.default_rng((seed, product + 1))
        count = min(_BOARDS_A_PRODUCT, images - first)
        yield from _product(rng, product, count, looks.LOOKS[look](rng, grain), defects_a_board)


def _product(
    rng: Generator, product: int, count: int, look: looks.Look, span: tuple[int, int]
) -> Iterator[Drawn]:
    panel = panels.lay_out(rng)
    split, group = split_of(product), f"product-{product + 1:02d}"
    for view_number in range(-(-count // _BOARDS_A_VIEW)):
        view = _view(rng, panel, f"{group}-{'abcdef'[view_number]}")
        golden = f"{view.name}-golden"
        pixels = look.photograph(rng, view.layers, _displacement(rng, 0.3))
        yield Drawn(golden, pixels, (), split, group, is_golden=True)
        for board in range(min(_BOARDS_A_VIEW, count - view_number * _BOARDS_A_VIEW)):
            pixels, boxes = _board(rng, view, look, span)
            yield Drawn(f"{view.name}-{board + 1:02d}", pixels, boxes, split, group, golden)


def _view(rng: Generator, panel: panels.Panel, name: str) -> _View:
    wide = SIZE + 2 * _EDGE
    top, left = (int(v) for v in rng.integers(0, layout.SIZE - wide + 1, 2))
    spot = (slice(top, top + wide), slice(left, left + wide))
    layers = panels.Panel(panel.copper[spot], panel.pads[spot], panel.holes[spot], panel.silk[spot])
    return _View(layers, ground.survey(layers.copper, layers.silk), name)


def _board(
    rng: Generator, view: _View, look: looks.Look, span: tuple[int, int]
) -> tuple[Pixels, tuple[Box, ...]]:
    count = 0 if rng.random() < 0.06 else int(rng.integers(*span, endpoint=True))
    found = defects.inject(rng, view.ground, count)
    copper = view.layers.copper.copy()
    for defect in found:
        defect.apply(copper)
    layers = panels.Panel(copper, view.layers.pads, view.layers.holes, view.layers.silk)
    moved = _displacement(rng, 0.8)
    pixels = look.photograph(rng, layers, moved)
    return pixels, tuple(_box(rng, defect, moved) for defect in found)


def _displacement(rng: Generator, strength: float) -> looks.Field:
    """Where each pixel of the picture looks on the view: a shift, and a slow unevenness."""
    coarse = rng.normal(0, strength, (6, 6, 2)) + rng.normal(0, 1.2 * strength, 2)
    field = cv2.resize(coarse.astype(np.float32), (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    return np.clip(field, 1 - _EDGE, _EDGE - 1).astype(np.float32, copy=False)


def _box(rng: Generator, defect: defects.Defect, moved: looks.Field) -> Box:
    """About ten pixels of margin around the change, as DeepPCB's are drawn."""
    corners = np.array(defect.patch.corners) - _EDGE
    centre = np.clip((corners[:2] + corners[2:]) / 2, 0, SIZE - 1).astype(int)
    shift = np.tile(moved[centre[1], centre[0]], 2)
    margin: NDArray[np.float64] = rng.uniform(8.5, 11.5, 4) * (-1, -1, 1, 1)
    x1, y1, x2, y2 = (float(v) for v in np.clip(np.round(corners - shift + margin), 0, SIZE))
    return Box(x1, y1, x2, y2, defect.kind.name, Origin.HUMAN)
