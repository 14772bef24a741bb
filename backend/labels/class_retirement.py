"""A class is taken out of a project: its labels go as revisions, which stay, then the class.

What runs found, and what models know of it, keeps its name; whoever adds the name again has the
same class back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from backend import words
from backend.errors import Refused
from backend.labels import labelling
from backend.projects import class_merge, classes
from backend.storage.tables import BoxRow, ClassRow, ImageRow
from backend.storage.writers import parts, retries

LARGEST = 200  # images of a part, each of which is a save


@dataclass(frozen=True, slots=True)
class Uses:
    """Where a class stands in labels; `put_away` images cannot be saved."""

    boxes: int
    images: int
    put_away: int


def uses(session: Session, class_id: int) -> Uses:
    """How often a class stands in the labels."""
    boxed = select(BoxRow.image_id).where(BoxRow.class_id == class_id)
    labelled = or_(ImageRow.label_id == class_id, ImageRow.id.in_(boxed))
    boxes = session.scalar(select(func.count()).select_from(BoxRow).filter_by(class_id=class_id))
    images, away = session.execute(
        select(func.count(), func.count(ImageRow.deleted)).where(labelled)
    ).one()
    return Uses(boxes or 0, images, away)


def refuse(session: Session, class_id: int) -> None:
    """Refuse a class whose labels cannot all be taken away."""
    found = uses(session, class_id)
    if found.put_away:
        away = words.many(found.put_away, "image that is", "images that are")
        raise Refused(
            f"{away} put away have this class; bring them back, or remove them "
            "for good, first (Projects → Remove)."
        )


def retire(begin: parts.Begin, class_id: int, author: str) -> None:
    """Take away every label of the class, in parts between which others save, then the class.

    `begin` opens a transaction that writes.
    """
    begin = retries.patient(begin)

    def drop(session: Session, part: Sequence[int]) -> None:
        _drop(session, part, class_id, author)

    with begin() as session:
        project_id = session.get_one(ClassRow, class_id).project_id
    class_merge.settle(begin, begin, project_id)
    while images := _here(begin, class_id):
        for _ in parts.each(begin, images, drop, LARGEST):
            pass
    with begin() as session:
        refuse(session, class_id)
        classes.retire(session, class_id)


def _here(begin: parts.Begin, class_id: int) -> list[int]:
    with begin() as session:
        refuse(session, class_id)
        return _labelled(session, class_id)


def _drop(session: Session, image_ids: Sequence[int], class_id: int, author: str) -> None:
    name = session.get_one(ClassRow, class_id).name
    boxes = labelling.boxes_of(session, image_ids)
    for image_id in image_ids:
        label = "" if session.get_one(ImageRow, image_id).label_id == class_id else None
        left = [box for box in boxes[image_id] if box.label != name]
        version = labelling.version_of(session, image_id)
        action = f"class {name} removed"
        labelling.save(session, image_id, version, left, author, label=label, action=action)


def _labelled(session: Session, class_id: int) -> list[int]:
    boxed = select(BoxRow.image_id).where(BoxRow.class_id == class_id)
    named = select(ImageRow.id).where(ImageRow.label_id == class_id)
    return sorted({*session.scalars(boxed), *session.scalars(named)})
