"""The pixels of a mask as values, and the boxes around their parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from backend import safe_pictures
from backend.errors import Invalid
from backend.formats.base import Labelled
from backend.formats.source.tree import Tree, suffix

FEW = 64  # colours at most; a photograph has thousands
VOID = 255  # what a mask of indices says of a rim that belongs to nothing
LOSSY = (".jpg", ".jpeg", ".jpe", ".jfif", ".webp")
SURE = 0.9  # of the pixels are nearly black or white
VOID_COLOUR = 0xE0E0C0
MOST_VALUES = 1000  # things in one picture
SAMPLED = 512  # pixels a side tell a mask from a photograph
_LABEL = re.compile(r"(?P<name>[^:#]+):(?P<r>\d+),(?P<g>\d+),(?P<b>\d+):.*")

Values = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Mask:
    """A value for each pixel, 0 for the background, and the colour of each value as one number."""

    values: Values
    colours: dict[int, int]

    @property
    def things(self) -> list[int]:
        """The values of what is no background."""
        return [value for value, colour in self.colours.items() if value and colour != VOID_COLOUR]


def is_mask(tree: Tree, name: str) -> bool:
    """Whether a picture has so few colours that it can only be a mask."""
    try:
        values, _ = safe_pictures.values(str(tree.path(name)), name)
    except Invalid:
        return False
    step = 1 + max(values.shape) // SAMPLED
    return len(np.unique(_without_noise(values[::step, ::step], name))) <= FEW


def load(tree: Tree, name: str) -> Mask:
    """The values of a mask; grey that is nearly black or white, as a JPEG leaves it, is that."""
    values, palette = safe_pictures.values(str(tree.path(name)), name)
    values = _without_noise(values, name)
    found = _found(values)
    if len(found) > MOST_VALUES:
        raise Invalid(f"it has {len(found):,} colours, which is no mask.")
    if palette is not None:
        return Mask(values, {v: palette[v] for v in found if v != VOID and v in palette})
    return Mask(values, {value: _colour(value) for value in found})


def of_instances(mask: Mask, label: str) -> tuple[Labelled, ...]:
    """A box around each value; around each part, where there is but one."""
    things = mask.things
    if len(things) < 2:
        return tuple(box for value in things for box in _parts(mask.values == value, label))
    return tuple(_around(mask.values == value, label) for value in things)


def of_colours(mask: Mask, label: str, names: dict[int, str]) -> tuple[Labelled, ...]:
    """A box around each part of each colour, which is a class: one of a list, or itself."""
    alone = len(mask.things) < 2 and not names
    return tuple(
        box
        for value in mask.things
        for box in _parts(
            mask.values == value, label if alone else _name(value, mask.colours[value], names)
        )
    )


def names_of_colours(tree: Tree) -> dict[int, str]:
    """What a labelmap.txt calls them: `name:red,green,blue:…`."""
    found = {}
    for name in tree.called("labelmap.txt"):
        for _, line in tree.lines(name):
            match = _LABEL.fullmatch(line)
            if match and any(int(match[one]) for one in "rgb"):
                colour = int(match["r"]) << 16 | int(match["g"]) << 8 | int(match["b"])
                found[colour] = match["name"].strip()
    return found


def _name(value: int, colour: int, names: dict[int, str]) -> str:
    return names.get(colour) or (f"#{colour:06x}" if value > safe_pictures.COLOUR else str(value))


def _colour(value: int) -> int:
    return value - safe_pictures.COLOUR if value > safe_pictures.COLOUR else value * 0x010101


def _without_noise(values: Values, name: str) -> Values:
    """A mask in black and white that a lossy format has blurred, sharp again."""
    if suffix(name) not in LOSSY or values.max(initial=0) > VOID:
        return values
    sure = np.count_nonzero((values < 32) | (values > 223))
    sharp = (values > 127).astype(np.uint8) * np.uint8(255)
    return sharp if sure > SURE * values.size else values


def _found(values: Values) -> list[int]:
    if values.dtype == np.uint8:
        counts = cv2.calcHist([np.ascontiguousarray(values)], [0], None, [256], [0, 256])
        return np.flatnonzero(counts).tolist()
    return [int(value) for value in np.unique(values)]


def _parts(where: npt.NDArray[np.bool_], label: str) -> Iterator[Labelled]:
    _, _, stats, _ = cv2.connectedComponentsWithStats(where.astype(np.uint8), connectivity=8)
    for x, y, width, height, _ in stats[1:].tolist():
        yield Labelled(x, y, x + width, y + height, label)


def _around(where: npt.NDArray[np.bool_], label: str) -> Labelled:
    rows, columns = np.flatnonzero(where.any(axis=1)), np.flatnonzero(where.any(axis=0))
    x1, x2, y1, y2 = columns[0], columns[-1] + 1, rows[0], rows[-1] + 1
    return Labelled(float(x1), float(y1), float(x2), float(y2), label)
