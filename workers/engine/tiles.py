"""Looks at a large picture in overlapping tiles and merges what they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from workers.families.base import Answer, Detections, LoadedModel, Picture

OVERLAP = 0.2  # of a tile; what is smaller lies whole in some tile
LARGE = 1.25  # pictures up to so many tiles long are looked at whole
SMALL = 12.0  # pixels of the model's input below which an object is hardly seen
WANTED = 24.0  # pixels of the model's input that a typical object should have, at least
IOU, INSIDE, EDGE = 0.5, 0.6, 2.0

Corners = tuple[int, int, int, int]


class Tiled:
    """A model that looks at large pictures whole, for the large objects, and tile by tile."""

    def __init__(self, model: LoadedModel, side: int) -> None:
        self._model = model
        self._side = side

    @property
    def classes(self) -> tuple[str, ...]:
        """The model's."""
        return self._model.classes

    def predict(self, batch: Sequence[Picture]) -> list[Answer]:
        """The detections of each picture; tiles of all pictures go through together."""
        cuts = [cut(one.pixels.shape[1], one.pixels.shape[0], self._side) for one in batch]
        parts = [
            part for one, tiles in zip(batch, cuts, strict=True) for part in _parts(one, tiles)
        ]
        answers = iter(self._model.predict(parts))
        return [
            self._merged(one, tiles, [next(answers) for _ in range(1 + len(tiles))])
            for one, tiles in zip(batch, cuts, strict=True)
        ]

    def export(self, runtime: str, folder: Path) -> Path:
        """The model's."""
        return self._model.export(runtime, folder)

    def _merged(
        self, picture: Picture, tiles: Sequence[Corners], answers: Sequence[Answer]
    ) -> Answer:
        refused = next((one for one in answers if isinstance(one, Refused)), None)
        if refused is not None or not tiles:
            return refused or answers[0]
        found = [np.asarray(one, np.float32) for one in answers]
        whole = found[0]
        large = (whole[:, 2:4] - whole[:, :2]).max(1, initial=0) > OVERLAP * self._side
        height, width = picture.pixels.shape[:2]
        return merge(whole[large], list(zip(tiles, found[1:], strict=True)), width, height)


def side_for(wish: str, image_size: int, object_size: float, longest: float) -> int:
    """The tile for a project, 0 for none: `wish` is off, on, or auto.

    On: tiles at the picture's own scale. Auto: only where typical objects (pixels) would be too
    small in the model's input, in tiles that show them just large enough.
    """
    if wish == "on":
        return image_size
    if wish == "off" or not object_size or object_size * image_size / longest >= SMALL:
        return 0
    return max(image_size, round(image_size * object_size / WANTED))


def cut(width: int, height: int, side: int) -> list[Corners]:
    """Overlapping tiles that cover a picture, none for one that is hardly larger than a tile."""
    if max(width, height) <= LARGE * side:
        return []
    return [
        (left, top, min(left + side, width), min(top + side, height))
        for top, left in product(_starts(height, side), _starts(width, side))
    ]


def merge(
    whole: Detections, tiles: Sequence[tuple[Corners, Detections]], width: int, height: int
) -> Detections:
    """All boxes in the picture's pixels, each thing once."""
    moved = [_moved(boxes, corners) for corners, boxes in tiles]
    torn = [_torn(b, corners, width, height) for b, (corners, _) in zip(moved, tiles, strict=True)]
    boxes = np.concatenate([whole, *moved])
    is_torn = np.concatenate([np.zeros(len(whole), bool), *torn])
    # What a tile's edge has torn comes last, so that it yields to the whole of it.
    order = np.lexsort((-boxes[:, 4], is_torn))
    kept = boxes[order][_first_of_each(boxes[order], is_torn[order])]
    return np.asarray(kept[np.argsort(-kept[:, 4], kind="stable")], np.float32)


def _parts(picture: Picture, tiles: Sequence[Corners]) -> Iterator[Picture]:
    yield picture
    for x1, y1, x2, y2 in tiles:
        yield Picture(np.ascontiguousarray(picture.pixels[y1:y2, x1:x2]), None, picture.name)


def _starts(length: int, side: int) -> list[int]:
    """Evenly spread, from the first pixel to the last."""
    if length <= side:
        return [0]
    count = int(np.ceil((length - side) / (side * (1 - OVERLAP)))) + 1
    return [round(start) for start in np.linspace(0, length - side, count)]


def _moved(boxes: Detections, corners: Corners) -> Detections:
    x, y = corners[:2]
    return np.asarray(boxes + np.array([x, y, x, y, 0, 0], np.float32))


def _torn(boxes: Detections, corners: Corners, width: int, height: int) -> NDArray[np.bool_]:
    """Whether a box ends at an edge of its tile that is no edge of the picture."""
    x1, y1, x2, y2 = corners
    left = (boxes[:, 0] < x1 + EDGE) & (x1 > 0)
    top = (boxes[:, 1] < y1 + EDGE) & (y1 > 0)
    right = (boxes[:, 2] > x2 - EDGE) & (x2 < width)
    bottom = (boxes[:, 3] > y2 - EDGE) & (y2 < height)
    return np.asarray(left | top | right | bottom)


def _first_of_each(boxes: Detections, torn: NDArray[np.bool_]) -> list[int]:
    kept: list[int] = []
    areas = (boxes[:, 2:4] - boxes[:, :2]).prod(1)
    for i, box in enumerate(boxes):
        others = boxes[kept]
        low = np.maximum(others[:, :2], box[:2])
        shared = (np.minimum(others[:, 2:4], box[2:4]) - low).clip(0).prod(1)
        alike = others[:, 5] == box[5]
        covered = shared > IOU * (areas[kept] + areas[i] - shared)
        if torn[i]:
            covered |= shared > INSIDE * areas[i]
        if not (alike & covered).any():
            kept.append(i)
    return kept
