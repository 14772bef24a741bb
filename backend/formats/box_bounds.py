"""Holds the boxes of a source against the picture they belong to."""

from __future__ import annotations

import math
from dataclasses import replace

from backend import safe_pictures
from backend.domain import Box
from backend.formats import base
from backend.formats.base import Item, Labelled, Problem
from backend.safe_pictures import PictureHeader

SLACK = 1.0  # tools that count from one, or round, put corners a pixel outside
LONGEST_NAME = 200


def fit(item: Item, header: PictureHeader) -> tuple[tuple[Box, ...], list[Problem]]:
    """The boxes inside the picture, and what is wrong with the others."""
    problems: list[Problem] = []
    boxes: list[Box] = []
    if item.boxes and not _same_size(item, header):
        return (), [Problem(item.label_file, None, _other_size(item, header))]
    turned = header.orientation > 1 and item.size == header.stored != (header.width, header.height)
    for one in item.boxes:
        labelled = _upright(one, header) if turned else one
        reason = why_unusable(labelled, header.width, header.height)
        if reason:
            problems.append(Problem(item.label_file, labelled.line, reason))
            continue
        box, cut = _clipped(labelled, header.width, header.height)
        boxes.append(box)
        if cut > SLACK:
            reason = f"the box sticks out of the picture by {cut:.4g} pixels and was cut."
            problems.append(Problem(item.label_file, labelled.line, reason))
    return tuple(boxes), problems


def why_unusable(box: Labelled, width: int, height: int) -> str:
    """Why a box cannot be used at all; '' if it can."""
    corners = f"({', '.join(f'{value:.6g}' for value in (box.x1, box.y1, box.x2, box.y2))})"
    name = why_no_class(box.label)
    if name:
        return name
    if not all(map(math.isfinite, (box.x1, box.y1, box.x2, box.y2))):
        return f"the box {corners} has a corner that is not a number."
    if box.x2 <= box.x1 or box.y2 <= box.y1:
        return f"the box {corners} has no area."
    if box.x2 <= 0 or box.y2 <= 0 or box.x1 >= width or box.y1 >= height:
        return f"the box {corners} lies outside of the picture of {width} × {height}."
    kept, _ = _clipped(box, width, height)
    if kept.x2 <= kept.x1 or kept.y2 <= kept.y1:
        return f"the box {corners} has no area inside the picture."
    return ""


def why_no_class(name: str) -> str:
    """Why a name cannot be a class; '' if it can."""
    if name.lower() in base.BACKGROUND:
        return f"{name!r} is the background, not a class."
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        return f"{name[:40]!r} cannot be the name of a class: 1 to 200 printable characters."
    return ""


def _clipped(box: Labelled, width: int, height: int) -> tuple[Box, float]:
    """The box inside the picture, and by how many pixels it stuck out."""
    corners = [base.rounded(value) for value in (box.x1, box.y1, box.x2, box.y2)]
    inside = [
        min(max(value, 0.0), float(bound))
        for value, bound in zip(corners, (width, height, width, height), strict=True)
    ]
    cut = max(abs(a - b) for a, b in zip(corners, inside, strict=True))
    x1, y1, x2, y2 = inside
    return replace(box.box(), x1=x1, y1=y1, x2=x2, y2=y2, label=box.label.strip()), cut


def _upright(box: Labelled, header: PictureHeader) -> Labelled:
    x1, y1, x2, y2 = safe_pictures.upright((box.x1, box.y1, box.x2, box.y2), header)
    return replace(box, x1=x1, y1=y1, x2=x2, y2=y2)


def _same_size(item: Item, header: PictureHeader) -> bool:
    """Whether the labels were made on a picture of this size; many do not say, or say 0."""
    sizes = {(0, 0), (header.width, header.height), header.stored}
    return item.size in sizes or 0 in item.size


def _other_size(item: Item, header: PictureHeader) -> str:
    width, height = item.size
    return (
        f"its boxes belong to a picture of {width} × {height}, but {item.file} has "
        f"{header.width} × {header.height}; they were left out."
    )
