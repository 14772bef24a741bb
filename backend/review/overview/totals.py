"""The sums of a run by lot, day and class: what changed of a part is added to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from backend.review.overview import sums
from backend.review.overview.sums import COUNTED, LOT, Key, Row
from backend.storage import engine
from backend.storage.tables import BoardSumRow, ClassSumRow

LOT_COLUMNS = ("passed", "failed", "asked", "said", "labelled")
CLASS_COLUMNS = ("defects", "boards", "found", "escapes", "false_calls")


def add(session: Session, run_id: int, change: Mapping[Key, Row]) -> None:
    """Add to the sums of a run, of which the caller holds the row."""
    lots = {key: row for key, row in change.items() if key[2] == LOT}
    classes = {key: row for key, row in change.items() if key[2] != LOT}
    for table, part in ((BoardSumRow, lots), (ClassSumRow, classes)):
        if part:
            _add(session, table, run_id, part)


def _add(session: Session, table: Any, run_id: int, change: Mapping[Key, Row]) -> None:
    written = _lot if table is BoardSumRow else _class
    rows: list[dict[str, Any]] = []
    for day in sorted({key[1] for key in change}):
        of_day = {key: row for key, row in change.items() if key[1] == day}
        lots = {key[0] for key in of_day}
        touched = table.run_id == run_id, table.group.in_(lots), table.day == day
        kept = _kept(session, table, touched)
        for key, row in of_day.items():
            kept[key] = kept.get(key, 0) + row
        session.execute(delete(table).where(*touched).execution_options(synchronize_session=False))
        rows += [{"run_id": run_id, **written(key, row)} for key, row in kept.items() if row.any()]
    engine.bulk_insert(session, table, rows)


def _kept(session: Session, table: Any, touched: Any) -> dict[Key, Row]:
    if table is BoardSumRow:
        told = [getattr(table, name) for name in LOT_COLUMNS]
        query = select(table.group, table.day, table.facet, *told)
        return {
            (lot, day, LOT, "", facet): _row(numbers)
            for lot, day, facet, *numbers in session.execute(query.where(*touched))
        }
    counted = (table.defects, table.boards, table.right, table.escapes, table.false_calls)
    named = (table.group, table.day, table.class_id, table.label, table.facet)
    return {
        (lot, day, number, label, facet): _row(numbers) + sums.unpacked([spread], COUNTED)
        for lot, day, number, label, facet, spread, *numbers in session.execute(
            select(*named, table.spread, *counted).where(*touched)
        )
    }


def _row(numbers: list[int]) -> Row:
    row = sums.nothing()
    row[:COUNTED] = numbers
    return row


def _lot(key: Key, row: Row) -> dict[str, Any]:
    placed = {"group_name": key[0], "day": key[1], "facet": key[4]}
    return {**placed, **_counted(LOT_COLUMNS, row)}


def _class(key: Key, row: Row) -> dict[str, Any]:
    named = dict(zip(("group_name", "day", "class_id", "label", "facet"), key, strict=True))
    return {**named, **_counted(CLASS_COLUMNS, row), "spread": sums.packed(row, COUNTED)}


def _counted(names: tuple[str, ...], row: np.ndarray[Any, Any]) -> dict[str, int]:
    return dict(zip(names, row[:COUNTED].tolist(), strict=True))
