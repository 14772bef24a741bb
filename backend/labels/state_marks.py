"""The state or the class of many images at once: a revision for each, in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, insert, literal, or_, select, update
from sqlalchemy.orm import Session

from backend.domain import State
from backend.storage import engine
from backend.storage.tables import ImageRow, RevisionRow
from backend.storage.types import now

COLUMNS = [
    "image_id",
    "version",
    "author",
    "at",
    "action",
    "state",
    "label_id",
    "comment",
    "boxes",
]


@dataclass(frozen=True, slots=True)
class _Mark:
    """What images are to be, and what that is called in their history."""

    state: State
    author: str
    action: str
    named: bool = False
    label_id: int | None = None

    @property
    def values(self) -> dict[str, Any]:
        return {"state": self.state} | ({"label_id": self.label_id} if self.named else {})


def mark(session: Session, image_ids: Sequence[int], state: State, author: str) -> None:
    """Give the images this state; those that have it, or were put away, stay as they are."""
    _mark(session, image_ids, _Mark(state, author, f"marked {state.value}"))


def name(
    session: Session,
    image_ids: Sequence[int],
    label_id: int | None,
    author: str,
    state: State = State.DONE,
) -> None:
    """Give the images this class, or (None) none, and with it their state; as `mark` does."""
    _mark(session, image_ids, _Mark(state, author, "class", named=True, label_id=label_id))


def _mark(session: Session, image_ids: Sequence[int], wanted: _Mark) -> None:
    other = [ImageRow.state != wanted.state]
    if wanted.named:
        other.append(ImageRow.label_id.is_distinct_from(wanted.label_id))
    for part in engine.batches(image_ids):
        # Who saves one of them at this moment does so before or after.
        others = select(ImageRow.id).where(
            ImageRow.id.in_(part), or_(*other), ImageRow.deleted.is_(None)
        )
        ids = session.scalars(others.order_by(ImageRow.id).with_for_update()).all()
        if ids:
            _revise(session, ids, wanted)
    session.expire_all()


def _revise(session: Session, ids: Sequence[int], wanted: _Mark) -> None:
    label_id = literal(wanted.label_id, RevisionRow.label_id.type)
    query = (
        select(
            ImageRow.id,
            ImageRow.version + 1,
            literal(wanted.author, RevisionRow.author.type),
            literal(now(), RevisionRow.at.type),
            literal(wanted.action, RevisionRow.action.type),
            literal(wanted.state.value, RevisionRow.state.type),
            label_id if wanted.named else ImageRow.label_id,
            ImageRow.comment,
            func.coalesce(RevisionRow.boxes, literal([], RevisionRow.boxes.type)),
        )
        .outerjoin(
            RevisionRow,
            (RevisionRow.image_id == ImageRow.id) & (RevisionRow.version == ImageRow.version),
        )
        .where(ImageRow.id.in_(ids))
    )
    session.execute(insert(RevisionRow).from_select(COLUMNS, query))
    values = {"version": ImageRow.version + 1, "author": wanted.author, **wanted.values}
    session.execute(
        update(ImageRow).where(ImageRow.id.in_(ids)).values(values),
        execution_options={"synchronize_session": False},
    )
