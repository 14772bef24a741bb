"""The state of many images at once: a revision for each of them, in one statement."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, insert, literal, select, update
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


def mark(session: Session, image_ids: Sequence[int], state: State, author: str) -> None:
    """Give the images this state; those that have it, or were put away, stay as they are."""
    for part in engine.batches(image_ids):
        # Who saves one of them at this moment does so before or after.
        others = select(ImageRow.id).where(
            ImageRow.id.in_(part), ImageRow.state != state, ImageRow.deleted.is_(None)
        )
        ids = session.scalars(others.order_by(ImageRow.id).with_for_update()).all()
        if ids:
            _revise(session, ids, state, author)
    session.expire_all()


def _revise(session: Session, ids: Sequence[int], state: State, author: str) -> None:
    query = (
        select(
            ImageRow.id,
            ImageRow.version + 1,
            literal(author, RevisionRow.author.type),
            literal(now(), RevisionRow.at.type),
            literal(f"marked {state.value}", RevisionRow.action.type),
            literal(state.value, RevisionRow.state.type),
            ImageRow.label_id,
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
    values = {"version": ImageRow.version + 1, "state": state, "author": author}
    session.execute(
        update(ImageRow).where(ImageRow.id.in_(ids)).values(values),
        execution_options={"synchronize_session": False},
    )
