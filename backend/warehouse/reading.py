"""The rows of a part as they stand now, in the warehouse's columns, a batch at a time."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Boolean, DateTime, Float, LargeBinary, Text, literal, select, type_coerce
from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.types import Key
from backend.warehouse.outbox import Part
from backend.warehouse.shapes import RowKind, Span, Type
from backend.warehouse.tables import KINDS

log = logging.getLogger(__name__)
BATCH = 20_000
HELD = 32_000_000  # bytes of pictures that are read at once
# As it is kept: JSON stays text, and a moment has no zone.
AS: Mapping[Type, Any] = {
    Type.WHOLE: Key,
    Type.REAL: Float(),
    Type.TEXT: Text(),
    Type.FLAG: Boolean(),
    Type.MOMENT: DateTime(),
    Type.BYTES: LargeBinary(),
}
Rows = Sequence[tuple[Any, ...]]


def rows(database: Database, part: Part, version: int, files: Files) -> Iterator[Rows]:
    """The rows of a part, each with its version and whether it counts as deleted.

    While bytes of pictures are fetched and sent no transaction is open.
    """
    with database.read.begin() as session:
        found = _found(session, part, version)
        if not KINDS[part.kind].heavy:
            yield from found
            return
        named = [row for batch in found for row in batch]
    yield from _pictures(named, files)


def _found(session: Session, part: Part, version: int) -> Iterator[Rows]:
    kind = KINDS[part.kind]
    spans = ((kind.head, part.head), (kind.tail, part.tail))
    where = [_within(kind, span, value) for span, value in spans if span is not None]
    named = [
        type_coerce(one.source, AS[one.type]) for one in kind.columns if one.source is not None
    ]
    more = [type_coerce(kind.row.boxes, Text())] if kind.name == "label" else []
    deleted = type_coerce(kind.gone, Boolean())
    query = select(*named, *more, literal(version), deleted).where(*where)
    found = session.connection().execution_options(yield_per=BATCH).execute(query)
    for batch in found.partitions(BATCH):
        yield _boxes(batch) if more else cast(Rows, batch)


def within(span: Span, value: int) -> tuple[int, int]:
    """The first and the last number of a column that belong to a part."""
    if span.size == 1:
        return value, value
    first = value * span.size
    # Division leaves out what is behind the point, so that the part of 0 has negative ones, too.
    return (first if value > 0 else first - span.size + 1), (
        first + span.size - 1 if value >= 0 else first
    )


def _within(kind: RowKind, span: Span, value: int) -> Any:
    column = kind.source(span.column)
    return column.between(*within(span, value))


def _pictures(batch: Sequence[Any], files: Files) -> Iterator[Rows]:
    """Each picture with its bytes; not many of them at once."""
    held: list[tuple[Any, ...]] = []
    size = 0
    for image, sha256, version, deleted in batch:
        data = _bytes(files, sha256)
        held.append((image, sha256, data, version, deleted))
        size += len(data or b"")
        if size >= HELD:
            yield held
            held, size = [], 0
    yield held


def _bytes(files: Files, sha256: str) -> bytes | None:
    try:
        return files.read(sha256)
    except NotFound as error:
        log.warning("A picture is published without its bytes: %s", error)
        return None


def _boxes(batch: Sequence[Any]) -> Rows:
    """Each box of each revision."""
    return [
        (image, revision, *_box(box), author, at, version, deleted)
        for image, revision, author, at, boxes, version, deleted in batch
        for box in json.loads(boxes or "[]")
    ]


def _box(box: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        box["id"],
        box["class"],
        *map(float, box["at"]),
        box["origin"],
        box["author"],
        *(box.get("detection") or (None, None, None)),
    )
