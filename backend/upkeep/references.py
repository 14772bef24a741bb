"""Which files of the store the rows of a database name: what is not named, nobody needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlalchemy import String, Text, cast, select
from sqlalchemy.orm import Session

from backend.storage.tables import (
    ImageRow,
    JobRow,
    ModelRow,
    PersonRow,
    ProjectRow,
    RunRow,
    SearchRow,
    TrialRow,
    TurnRow,
)
from backend.storage.types import Json

HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
# Pictures have a column; the others name files in their columns or somewhere in their documents.
SPEAKING: tuple[Any, ...] = (ModelRow, JobRow, RunRow, SearchRow, TrialRow, TurnRow)
PART = 1_000


def needed(session: Session) -> set[str]:
    """The hashes of all files that must be there: every picture, every model's weights."""
    pictures = session.scalars(select(ImageRow.sha256).distinct())
    weights = session.scalars(select(ModelRow.weights).where(ModelRow.weights != ""))
    kept = session.scalars(select(TrialRow.weights).where(TrialRow.weights != ""))
    return {*pictures, *weights, *kept}


def named(session: Session) -> set[str]:
    """The hashes of all files that some row names; now and then one that is no file's."""
    found = needed(session)
    for row in SPEAKING:
        found.update(_spoken(session, row))
    return found


def is_used(session: Session) -> bool:
    """Whether anybody has put anything into this home."""
    kept = (ProjectRow.id, JobRow.id, PersonRow.name)
    return any(session.scalar(select(one).limit(1)) is not None for one in kept)


def _spoken(session: Session, row: Any) -> Iterator[str]:
    texts = [one for one in row.__table__.columns if isinstance(one.type, String | Json)]
    query = select(*(cast(one, Text) for one in texts))
    for values in session.execute(query.execution_options(yield_per=PART)):
        for value in values:
            yield from HASH.findall(value or "")
