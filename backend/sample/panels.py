"""Invents a product: its style, its parts, its traces."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.random import Generator

from backend.sample.components import PARTS
from backend.sample.drawn import Mask
from backend.sample.layout import PanelLayout, Style

_SHARES = {
    "header": 1.6,
    "chip": 0.8,
    "quad": 0.7,
    "passive": 1.0,
    "disc": 0.8,
    "ring": 0.25,
    "pour": 0.8,
    "bus": 1.4,
}


@dataclass(frozen=True, slots=True)
class Panel:
    """The layers of a product, 0 to 255 with smooth edges; the holes are taken out of copper."""

    copper: Mask
    pads: Mask
    holes: Mask
    silk: Mask


def lay_out(rng: Generator) -> Panel:
    """A new product."""
    style = _style(rng)
    layout = PanelLayout(rng, style)
    shares = rng.dirichlet(tuple(_SHARES.values()))
    for name in rng.choice(tuple(_SHARES), 40, p=shares):
        layout.part += 1
        PARTS[str(name)](layout)
        if layout.filled > 0.45 * style.density:
            break
    layout.connect()
    copper = cv2.subtract(layout.copper, layout.holes).astype(np.uint8, copy=False)
    silk = cv2.subtract(layout.silk, cv2.max(layout.pads, layout.holes))
    return Panel(copper, layout.pads, layout.holes, silk.astype(np.uint8, copy=False))


def _style(rng: Generator) -> Style:
    pitch = int(rng.choice([16, 18, 22, 26, 32, 40, 52]))
    return Style(
        pitch=pitch,
        trace=max(5, round(pitch * rng.uniform(0.3, 0.58))),
        pad=round(np.clip(pitch * rng.uniform(0.7, 1.1), 13, 42)),
        hole=float(rng.choice([0.0, 0.36, 0.42, 0.5, 0.6])),
        square=bool(rng.random() < 0.4),
        density=float(rng.uniform(0.35, 1.0)),
    )
