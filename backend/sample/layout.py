"""A board in the making: pads and traces on a grid, no two nets on one cell."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.sample import brush, traces

SIZE = 960
BLOCKED = -1


@dataclass(frozen=True, slots=True)
class Style:
    """What boards of one product have in common, in pixels."""

    pitch: int
    trace: int
    pad: int
    hole: float
    square: bool
    density: float


@dataclass(frozen=True, slots=True)
class Pad:
    """A place where a trace may start."""

    row: int
    col: int
    net: int
    part: int


class PanelLayout:
    """A panel in the making: which cell belongs to which net, and what is drawn so far."""

    def __init__(self, rng: Generator, style: Style) -> None:
        self.rng = rng
        self.style = style
        self.cells = SIZE // style.pitch
        self.nets = np.zeros((self.cells, self.cells), np.int16)
        self.copper, self.pads, self.holes, self.silk = (
            np.zeros((SIZE, SIZE), np.uint8) for _ in range(4)
        )
        self.places: list[Pad] = []
        self.net = 0
        self.part = 0
        self.joined: set[int] = set()

    @property
    def filled(self) -> float:
        """The share of the cells that is in use."""
        return float(np.count_nonzero(self.nets)) / self.nets.size

    # Pads

    def through(self, row: int, col: int, square: bool, oblong: bool, turned: bool) -> None:
        radius = self.style.pad
        x, y = self.point(row, col)
        net = self._own(row, col, radius)
        reach = radius * 0.45 if oblong else 0.0
        dx, dy = (0.0, reach) if not turned else (reach, 0.0)
        for layer in (self.copper, self.pads):
            if square:
                brush.block(layer, x, y, radius, radius)
            else:
                brush.capsule(layer, x - dx, y - dy, x + dx, y + dy, radius - (3 if oblong else 0))
        brush.disc(self.holes, x, y, radius * self.style.hole)
        self.places.append(Pad(row, col, net, self.part))

    def flat(self, row: int, col: int, length: float, turned: bool) -> None:
        long, short = length * self.style.pitch, max(self.style.trace * 0.62, 5)
        x, y = self.point(row, col)
        half = (long, short) if turned else (short, long)
        net = self._own(row, col, max(short, 1))
        brush.block(self.copper, x, y, *half)
        brush.block(self.pads, x, y, *half)
        self.places.append(Pad(row, col, net, self.part))

    def rectangle(self, row: float, col: float, half_width: float, half_height: float) -> None:
        x, y = self.point(row, col)
        brush.block(self.copper, x, y, half_width, half_height)
        brush.block(self.pads, x, y, half_width, half_height)

    def _own(self, row: int, col: int, radius: float) -> int:
        reach = max(0, round((radius + self.style.trace / 2 + 4) / self.style.pitch - 0.5))
        low_r, low_c = max(0, row - reach), max(0, col - reach)
        return self.claim(low_r, low_c, row + reach - low_r + 1, col + reach - low_c + 1)

    # Silkscreen

    def frame(self, row: int, col: int, height: int, width: int, turned: bool, letter: str) -> None:
        height, width = (width, height) if turned else (height, width)
        left, top = self.point(row - 0.7, col - 0.7)
        right, bottom = self.point(row + height - 0.3, col + width - 0.3)
        corner = (round(left), round(top))
        cv2.rectangle(self.silk, corner, (round(right), round(bottom)), 255, 2, cv2.LINE_AA)
        text, font = f"{letter}{self.part}", cv2.FONT_HERSHEY_SIMPLEX
        spot = (corner[0] + 2, max(12, corner[1] - 5))
        cv2.putText(self.silk, text, spot, font, 0.45, 255, 1, cv2.LINE_AA)

    # Traces

    def connect(self) -> None:
        """Join pads that lie near each other, lead some over the edge, and lay long traces."""
        for _ in range(round(3 * self.style.density)):
            self.bus()
        if self.places:
            spots = np.array([(pad.row, pad.col, 1000 * pad.part) for pad in self.places])
            for index in self.rng.permutation(len(self.places))[:120]:
                self._join(self.places[index], spots)
        for _ in range(round(20 * self.style.density)):
            self._lead_through()

    def _join(self, pad: Pad, spots: traces.Cells) -> None:
        """To a near pad of another part, or else over the edge."""
        away = np.abs(spots - (pad.row, pad.col, 1000 * pad.part))
        far = away[:, 0] + away[:, 1] + self.rng.uniform(0, 8, len(spots))
        far[away[:, 2] == 0] = np.inf
        if pad.net in self.joined and self.rng.random() < 0.8:
            return
        for other in np.argsort(far)[:5]:
            target = self.places[other]
            if far[other] == np.inf or target.net in self.joined:
                continue
            if self._route(pad, target):
                self.joined |= {pad.net, target.net}
                return
        if self.rng.random() < 0.8:
            row, col = (int(v) for v in self.rng.integers(0, self.cells, 2))
            last = self.cells - 1
            for spot in ((row, 0), (row, last), (0, col), (last, col)):
                if self._route(pad, Pad(*spot, pad.net, pad.part)):
                    self.joined.add(pad.net)
                    return

    def _route(self, start: Pad, end: Pad) -> bool:
        allowed = frozenset((start.net, end.net))
        ends = (start.row, start.col), (end.row, end.col)
        ways = (traces.path(*ends, self.rng) for _ in range(4))
        return any(self.trace(way, allowed, self.style.trace) for way in ways)

    def bus(self) -> None:
        """Traces side by side from edge to edge, with a common bend or two."""
        count = int(self.rng.integers(3, 11))
        start, end = (int(v) for v in self.rng.integers(1, self.cells - 1, 2))
        slack = self.cells - 1 - abs(end - start)
        bend = int(self.rng.integers(0, slack + 1))
        turned = self.rng.random() < 0.5
        sign = 1 if end >= start else -1
        for k in range(count):
            column = int(np.clip(bend - sign * k, 0, slack))
            cells = traces.staircase((start + k, 0), (end + k, self.cells - 1), column)
            self.trace(cells[:, ::-1] if turned else cells, frozenset(), self.style.trace)

    def _lead_through(self) -> None:
        start, end = (int(v) for v in self.rng.integers(0, self.cells, 2))
        ends = ((start, 0), (end, self.cells - 1))
        if self.rng.random() < 0.5:
            ends = ((0, start), (self.cells - 1, end))
        self.trace(traces.path(*ends, self.rng), frozenset(), self.style.trace)

    def trace(self, cells: traces.Cells, allowed: frozenset[int], width: int) -> bool:
        """Draw a trace if all its cells, and those beside its diagonals, are free or its own."""
        if (cells < 0).any() or (cells >= self.cells).any():
            return False
        steps = np.diff(cells, axis=0)
        slanted = cells[:-1][(steps != 0).all(1)]
        moves = steps[(steps != 0).all(1)]
        beside = np.concatenate((slanted + moves * (1, 0), slanted + moves * (0, 1)))
        touched = np.concatenate((cells, beside))
        found = set(self.nets[touched[:, 0], touched[:, 1]].tolist())
        if found - allowed - {0}:
            return False
        self.net += 1
        net = next(iter(allowed), self.net)
        self.nets[cells[:, 0], cells[:, 1]] = net
        points = np.round((cells[:, ::-1] + 0.5) * self.style.pitch).astype(np.int32)
        points = _to_the_edge(points, cells, self.cells)
        cv2.polylines(self.copper, [points], False, 255, width, cv2.LINE_AA)
        return True

    # traces.Cells

    def span(self, pixels: float) -> int:
        return max(1, int(np.ceil(pixels / self.style.pitch)))

    def point(self, row: float, col: float) -> tuple[float, float]:
        return (col + 0.5) * self.style.pitch, (row + 0.5) * self.style.pitch

    def free(self, height: int, width: int) -> tuple[int, int, bool] | None:
        """A random spot with one free cell around it, perhaps turned by a quarter."""
        for _ in range(12):
            turned = bool(self.rng.random() < 0.5)
            h, w = (width, height) if turned else (height, width)
            if max(h, w) + 2 >= self.cells:
                return None
            row = int(self.rng.integers(1, self.cells - h))
            col = int(self.rng.integers(1, self.cells - w))
            if not self.nets[row - 1 : row + h + 1, col - 1 : col + w + 1].any():
                return row, col, turned
        return None

    def claim(self, row: int, col: int, height: int, width: int, net: int = 0) -> int:
        self.net += 1
        net = net or self.net
        self.nets[row : row + height, col : col + width] = net
        return net


def _to_the_edge(points: NDArray[np.int32], cells: traces.Cells, count: int) -> NDArray[np.int32]:
    """A trace that ends in an outermost cell leaves the panel."""
    points = points.copy()
    for end in (0, -1):
        for axis in (0, 1):
            if cells[end, 1 - axis] == 0:
                points[end, axis] = -20
            elif cells[end, 1 - axis] == count - 1:
                points[end, axis] = SIZE + 20
    return points
