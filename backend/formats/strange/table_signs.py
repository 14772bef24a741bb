"""Signs of layouts that are tables: CSV with commas, semicolons or tabs."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from backend.formats.source.tabular import SEPARATORS
from backend.formats.strange.peek import Peek

CLASSES = frozenset(
    f"{word}{more}"
    for word in "label class category target defect diagnosis breed species tag".split()  # noqa: SIM905
    for more in ("", "s", "es", "_name", "name", "_id", "id", "_type")
)
_YES_NO = ("0", "1", "0.0", "1.0")
_CORNERS = frozenset({"xmin", "ymin", "xmax", "ymax"})
_BOXES = (
    frozenset({"x1", "y1", "x2", "y2"}),
    frozenset({"x", "y", "w", "h"}),
    frozenset({"x", "y", "width", "height"}),
    frozenset({"bbox_x", "bbox_y", "bbox_width", "bbox_height"}),
    frozenset({"left", "top", "right", "bottom"}),
    frozenset({"left", "top", "width", "height"}),
)
_MASKS = frozenset({"encodedpixels", "rle", "rle_mask", "mask_rle", "segmentation"})


def open_images(peek: Peek) -> bool:
    return {"imageid", "labelname"} <= _head(peek)


def vott(peek: Peek) -> bool:
    return {"image", "label"} | _CORNERS <= _head(peek)


def corners(peek: Peek) -> bool:
    """As the tools around TensorFlow's object detection write them."""
    head = _head(peek)
    return head >= _CORNERS and bool(head & CLASSES)


def kaggle_boxes(peek: Peek) -> bool:
    head = _head(peek)
    return bool({"bbox", "predictionstring"} & head) and _names_pictures(peek)


def kaggle_masks(peek: Peek) -> bool:
    return bool(_head(peek) & _MASKS) and _names_pictures(peek)


def retinanet(peek: Peek) -> bool:
    """No heading: `picture,x1,y1,x2,y2,class`."""
    rows = list(_rows(peek))
    return bool(rows) and all(
        len(row) == 6 and peek.names_picture(row[0]) and all(map(_is_whole, row[1:5]))
        for row in rows
    )


def boxes(peek: Peek) -> bool:
    head = _head(peek)
    return any(head >= one for one in (*_BOXES, _CORNERS)) and _names_pictures(peek)


def classes(peek: Peek) -> bool:
    """A column that names pictures, and one called like a class, or one a class with a single 1."""
    called = bool(_head(peek) & CLASSES)
    return (called or _one_of_many(list(_rows(peek))[1:])) and _names_pictures(peek)


def _one_of_many(rows: list[list[str]]) -> bool:
    values = [[float(word) for word in row[1:] if word in _YES_NO] for row in rows]
    return bool(rows) and all(
        len(row) > 2 and len(found) == len(row) - 1 and sum(found) == 1
        for row, found in zip(rows, values, strict=True)
    )


def _head(peek: Peek) -> frozenset[str]:
    return frozenset(word.lower().replace(" ", "_") for word in next(_rows(peek), []))


def _names_pictures(peek: Peek) -> bool:
    """Whether some cell of the first rows is the name of a picture."""
    rows = _rows(peek)
    next(rows, None)
    return any(peek.names_picture(word) for row in rows for word in row)


def _rows(peek: Peek) -> Iterator[list[str]]:
    """The first rows of a table of more than one column."""
    separator = max(SEPARATORS, key=(peek.lines or [""])[0].count)
    try:
        for row in csv.reader(peek.lines, delimiter=separator):
            if len(row) > 1:
                yield [word.strip() for word in row]
    except csv.Error:
        return


def _is_whole(word: str) -> bool:
    return not word or word.lstrip("-").isdigit()
