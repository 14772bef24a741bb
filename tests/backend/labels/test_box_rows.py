"""Boxes come back from rows and revisions as they were."""

from __future__ import annotations

import json

from sqlalchemy import inspect

from backend.domain import Box, DetectionRef, Origin
from backend.labels import box_rows
from backend.storage.classes.class_names import Naming
from backend.storage.tables import BoxRow

NAMES = Naming({4: "spur"}, {4: 4}, {"spur": 4})
BOX = Box(1.5, 2.0, 30.25, 40.0, "spur", Origin.MODEL, "a1", DetectionRef(3, 7, 2), "ann", 4)


def test_every_field_of_a_box_has_its_column() -> None:
    columns = set(inspect(BoxRow).columns.keys())
    assert set(box_rows.IN_ROWS) <= columns


def test_a_row_gives_the_box_back() -> None:
    assert box_rows.of_row(BoxRow(**box_rows.values(7, BOX)), NAMES) == BOX


def test_a_revision_gives_the_box_back() -> None:
    kept = json.loads(json.dumps(box_rows.kept(BOX)))
    assert box_rows.of_revision(kept, NAMES) == BOX


def test_what_an_old_revision_has_not_kept_is_as_if_never_given() -> None:
    kept = {"id": "a1", "class": 4, "at": [1, 2, 3, 4], "origin": "human"}
    assert box_rows.of_revision(kept, NAMES) == Box(1, 2, 3, 4, "spur", id="a1", class_id=4)
