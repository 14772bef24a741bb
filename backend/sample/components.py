"""The components that a board is made of."""

from __future__ import annotations

from collections.abc import Callable

from backend.sample import brush
from backend.sample.layout import BLOCKED, Pad, PanelLayout


def header(layout: PanelLayout) -> None:
    """Rows of pads with holes, as under a connector or a classic chip."""
    oblong = bool(layout.rng.random() < 0.4)
    step = layout.span(2.9 * layout.style.pad if oblong else 2 * layout.style.pad + 8)
    rows, count = int(layout.rng.integers(1, 4)), int(layout.rng.integers(3, 11))
    gap = step * int(layout.rng.integers(1, 4))
    spot = layout.free((rows - 1) * gap + step, count * step)
    if spot is None:
        return
    row, col, turned = spot
    for r in range(rows):
        for c in range(count):
            dr, dc = r * gap + step // 2, c * step + step // 2
            if turned:
                dr, dc = dc, dr
            square = layout.style.square and (r, c) == (0, 0)
            layout.through(row + dr, col + dc, square, oblong, turned)
    layout.frame(row, col, (rows - 1) * gap + step, count * step, turned, "J")


def chip(layout: PanelLayout) -> None:
    """Two rows of flat pads."""
    step = layout.span(layout.style.trace + 5)
    count, across = int(layout.rng.integers(3, 9)), int(layout.rng.integers(3, 7))
    spot = layout.free(across + 2, count * step)
    if spot is None:
        return
    row, col, turned = spot
    for side in (0, across + 1):
        for c in range(count):
            dr, dc = (c * step, side) if turned else (side, c * step)
            layout.flat(row + dr, col + dc, 0.85, turned)
    layout.frame(row, col, across + 2, count * step, turned, "U")


def quad(layout: PanelLayout) -> None:
    """A square chip with pads on four sides and often one in the middle."""
    count = int(layout.rng.integers(4, 9))
    spot = layout.free(count + 4, count + 4)
    if spot is None:
        return
    row, col, _ = spot
    for k in range(count):
        for dr, dc, turned in ((0, k + 2, False), (count + 3, k + 2, False)):
            layout.flat(row + dr, col + dc, 0.8, turned)
            layout.flat(row + dc, col + dr, 0.8, not turned)
    if layout.rng.random() < 0.6:
        half = max(1, count // 2 - 1) * layout.style.pitch // 2
        layout.rectangle(row + (count + 3) / 2, col + (count + 3) / 2, half, half)
    layout.frame(row, col, count + 4, count + 4, False, "IC")


def passive(layout: PanelLayout) -> None:
    """Resistors and capacitors: pairs of flat pads, often several beside each other."""
    step = layout.span(layout.style.pad + 6)
    count = int(layout.rng.integers(1, 6))
    length = 2 + layout.span(layout.style.pad)
    spot = layout.free(length, count * step)
    if spot is None:
        return
    row, col, turned = spot
    letter = str(layout.rng.choice(["R", "C", "D", "L"]))
    for c in range(count):
        for side in (0, length - 1):
            dr, dc = (c * step, side) if turned else (side, c * step)
            layout.flat(row + dr, col + dc, 0.7 * layout.style.pad / layout.style.pitch, turned)
    layout.frame(row, col, length, count * step, turned, letter)


def disc(layout: PanelLayout) -> None:
    """Test points and lone vias."""
    span = layout.span(2 * layout.style.pad)
    for _ in range(int(layout.rng.integers(1, 5))):
        spot = layout.free(span, span)
        if spot is not None:
            layout.through(spot[0] + span // 2, spot[1] + span // 2, False, False, False)


def ring(layout: PanelLayout) -> None:
    """A mounting hole."""
    radius = int(layout.rng.integers(26, 52))
    span = layout.span(2 * radius + 12)
    spot = layout.free(span, span)
    if spot is None:
        return
    x, y = layout.point(spot[0] + (span - 1) / 2, spot[1] + (span - 1) / 2)
    layout.claim(spot[0], spot[1], span, span, BLOCKED)
    brush.disc(layout.copper, x, y, radius)
    brush.disc(layout.pads, x, y, radius)
    brush.disc(layout.holes, x, y, radius * layout.rng.uniform(0.5, 0.72))


def pour(layout: PanelLayout) -> None:
    """A filled area with cut corners, with or without holes."""
    low = max(3, 70 // layout.style.pitch)
    height, width = (int(v) for v in layout.rng.integers(low, low * 4, 2))
    spot = layout.free(height, width)
    if spot is None:
        return
    row, col, turned = spot
    height, width = (width, height) if turned else (height, width)
    net = layout.claim(row, col, height, width)
    inset = 0.5 * layout.style.pitch - 3
    top, left = row * layout.style.pitch + inset, col * layout.style.pitch + inset
    bottom = (row + height) * layout.style.pitch - inset
    right = (col + width) * layout.style.pitch - inset
    cuts = layout.rng.choice([2, 8, 0.35 * min(bottom - top, right - left)], 4)
    corners = brush.cut_corners(left, top, right, bottom, cuts)
    brush.polygon(layout.copper, corners)
    for r, c in ((row, col + width // 2), (row + height // 2, col), (row + height - 1, col)):
        layout.places.append(Pad(r, c, net, layout.part))
    _stitch(layout, row, col, height, width)


def _stitch(layout: PanelLayout, row: int, col: int, height: int, width: int) -> None:
    """Holes through a filled area."""
    if layout.rng.random() < 0.5 or layout.style.hole == 0:
        return
    step = layout.span(4 * layout.style.pad)
    radius = layout.style.pad * layout.style.hole
    for r in range(row + 1, row + height - 1, step):
        for c in range(col + 1, col + width - 1, step):
            x, y = layout.point(r, c)
            brush.disc(layout.holes, x, y, radius)
            brush.disc(layout.pads, x, y, radius * 1.6)


PARTS: dict[str, Callable[[PanelLayout], None]] = {
    "header": header,
    "chip": chip,
    "quad": quad,
    "passive": passive,
    "disc": disc,
    "ring": ring,
    "pour": pour,
    "bus": PanelLayout.bus,
}
