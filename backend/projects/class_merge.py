"""Two classes become one, however many boxes they have: in parts, between which others save.

That they are one is said first, and read so from then on; the boxes follow. What a merge that was
ended in the middle has left, the next one takes along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.projects import classes
from backend.storage.tables import BoxRow, ClassRow, ImageRow
from backend.storage.writers import parts

LARGEST = 2_000  # images of a part, each of which may have many boxes


@dataclass(frozen=True, slots=True)
class Left:
    """The images that still have boxes or a label of a class that was merged into another."""

    source: int
    target: int
    boxes: Sequence[int]
    labels: Sequence[int]


def merge(
    read: parts.Begin, write: parts.Begin, project_id: int, source_id: int, target_id: int
) -> None:
    """Make every label of one class a label of another; both open transactions."""
    with write() as session:
        classes.join(session, source_id, target_id)
    settle(read, write, project_id)


def settle(read: parts.Begin, write: parts.Begin, project_id: int) -> None:
    """Let the boxes and labels of merged classes be those of what took them over."""
    with read() as session:
        found = left(session, project_id)
    for one in found:
        boxes = partial(_move, BoxRow, BoxRow.class_id, BoxRow.image_id, one)
        labels = partial(_move, ImageRow, ImageRow.label_id, ImageRow.id, one)
        for _ in parts.each(write, one.boxes, boxes, LARGEST):
            pass
        for _ in parts.each(write, one.labels, labels):
            pass


def left(session: Session, project_id: int) -> list[Left]:
    """What merges have not moved yet."""
    query = select(ClassRow.id, ClassRow.merged_into_id).where(
        ClassRow.project_id == project_id, ClassRow.merged_into_id.is_not(None)
    )
    merged: Mapping[int, int] = {id_: into or 0 for id_, into in session.execute(query)}
    labels: dict[int, list[int]] = {}
    held = select(ImageRow.label_id, ImageRow.id).where(
        ImageRow.project_id == project_id, ImageRow.label_id.in_(merged)
    )
    for class_id, image_id in session.execute(held):
        labels.setdefault(class_id or 0, []).append(image_id)
    return [
        Left(source, target, _boxed(session, source), labels.get(source, []))
        for source, target in merged.items()
    ]


def _boxed(session: Session, class_id: int) -> list[int]:
    query = select(BoxRow.image_id).where(BoxRow.class_id == class_id).distinct()
    return list(session.scalars(query.order_by(BoxRow.image_id)))


def _move(
    row: Any, kind: Any, image: Any, one: Left, session: Session, part: Sequence[int]
) -> None:
    query = update(row).where(kind == one.source, image.in_(part)).values({kind.key: one.target})
    session.execute(query, execution_options={"synchronize_session": False})
