"""Boxes as rows of their table and as revisions keep them.

A field of `domain.Box` that has a column is written and read without a word here; its class and its
detection stand in forms of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any

from backend.domain import Box, DetectionRef, Origin
from backend.storage.classes.class_names import Naming
from backend.storage.tables import BoxRow

NAMES = tuple(one.name for one in fields(Box))
IN_ROWS = tuple(name for name in NAMES if name not in ("label", "detection"))
# A revision keeps the corners together, and the class by its id alone.
KEPT = tuple(name for name in IN_ROWS if name not in ("x1", "y1", "x2", "y2", "class_id"))
_FOR_ROWS, _FOR_REVISIONS = attrgetter(*IN_ROWS), attrgetter(*KEPT)
# Where a row has something else in the place of a field; by place, as thousands are read at once.
_INSTEAD = {"label": "class_id", "detection": "run_id"}
_OF_ROW = attrgetter(*(_INSTEAD.get(name, name) for name in NAMES))
_LABEL, _DETECTION, _ORIGIN, _CLASS = map(NAMES.index, ("label", "detection", "origin", "class_id"))


def values(image_id: int, box: Box) -> dict[str, Any]:
    """The columns of a box of an image."""
    row = dict(zip(IN_ROWS, _FOR_ROWS(box), strict=True))
    ref = box.detection
    row["image_id"] = image_id
    row["run_id"] = ref.run if ref else None
    row["run_image_id"] = ref.image if ref else None
    row["run_idx"] = ref.idx if ref else None
    return row


def of_row(row: BoxRow, names: Naming) -> Box:
    """The box that a row holds, its class as it is called today."""
    had = list(_OF_ROW(row))
    had[_LABEL], had[_CLASS] = names.name(had[_CLASS]), names.now(had[_CLASS])
    had[_ORIGIN] = Origin(had[_ORIGIN])
    if had[_DETECTION] is not None:
        had[_DETECTION] = DetectionRef(row.run_id or 0, row.run_image_id or 0, row.run_idx or 0)
    return Box(*had)


def kept(box: Box) -> dict[str, Any]:
    """What a revision keeps of a box."""
    value = dict(zip(KEPT, _FOR_REVISIONS(box), strict=True))
    value["class"] = box.class_id
    value["at"] = [box.x1, box.y1, box.x2, box.y2]
    if ref := box.detection:
        value["detection"] = [ref.run, ref.image, ref.idx]
    return value


def of_revision(value: Mapping[str, Any], names: Naming) -> Box:
    """The box that a revision has kept; what boxes had not yet in its time is as if never given."""
    had = {name: value[name] for name in KEPT if name in value}
    had["x1"], had["y1"], had["x2"], had["y2"] = value["at"]
    if "detection" in value:
        had["detection"] = DetectionRef(*value["detection"])
    had["origin"] = Origin(had["origin"])
    had["label"], had["class_id"] = names.name(value["class"]), names.now(value["class"])
    return Box(**had)
