"""Boxes and what else a person says of an image; every save is a revision that stays."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, tuple_
from sqlalchemy.orm import Session

from backend.domain import Box, Revision, State
from backend.errors import Conflict, Invalid, NotFound
from backend.labels import box_rows
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import BoxRow, ImageRow, RevisionRow
from backend.storage.types import now
from backend.words import many

MOST_BOXES = 10_000
PAIRS = 500  # of an image and a version, in one statement


@dataclass(frozen=True, slots=True)
class First:
    """The labels that an image comes with."""

    image_id: int
    boxes: tuple[Box, ...]
    label_id: int | None = None


def save(
    session: Session,
    image_id: int,
    version: int,
    boxes: Sequence[Box],
    author: str,
    *,
    state: State | None = None,
    label: str | None = None,
    comment: str | None = None,
    action: str = "edit",
    key: str = "",
) -> Revision:
    """Save all boxes of an image; `version` is the one the person has seen.

    What is None stays as it is. Raises Conflict when somebody else saved in between.
    """
    row = _locked(session, image_id)
    if row.version != version:
        raise _conflict(session, row)
    names = class_names.of(session, row.project_id)
    checked = [_checked(box, row, names, author) for box in _limited(boxes, row)]
    _write_boxes(session, row, checked)
    row.state = state or (State.STARTED if row.state == State.NEW else State(row.state))
    row.author = author
    if label is not None:
        row.label_id = _class_id(label, None, row, names) if label else None
    if comment is not None:
        row.comment = comment[:5000]
    row.version += 1
    added = _revision_row(row, checked, author, action)
    added.key = key or None
    session.add(added)
    session.flush()
    return _revision(added, names)


def boxes_of(session: Session, image_ids: Iterable[int]) -> dict[int, tuple[Box, ...]]:
    """The boxes that stand now, by image; an image without boxes has an empty entry."""
    found: dict[int, list[Box]] = {image_id: [] for image_id in image_ids}
    query = (
        select(BoxRow, ImageRow.project_id)
        .join(ImageRow, ImageRow.id == BoxRow.image_id)
        .where(BoxRow.image_id.in_(found))
        .order_by(BoxRow.image_id, BoxRow.y1, BoxRow.x1, BoxRow.id)
    )
    for row, project_id in session.execute(query):
        found[row.image_id].append(box_rows.of_row(row, class_names.of(session, project_id)))
    return {image_id: tuple(boxes) for image_id, boxes in found.items()}


def called(session: Session, image_id: int, boxes: Iterable[Box]) -> tuple[Box, ...]:
    """Boxes that a page sends, under the names that their classes have today."""
    names = _names(session, image_id)
    ids = [(box, names.now(box.class_id, box.label)) for box in boxes]
    return tuple(
        replace(box, label=names.name(class_id, box.label), class_id=class_id)
        for box, class_id in ids
    )


def saved_as(session: Session, image_id: int, key: str) -> Revision | None:
    """The revision that a save of this name made, which may be sent more than once."""
    _locked(session, image_id)
    query = select(RevisionRow).filter_by(image_id=image_id, key=key)
    row = session.scalar(query) if key else None
    return _revision(row, _names(session, image_id)) if row else None


def version_of(session: Session, image_id: int) -> int:
    """The version that stands now, held until the transaction ends."""
    return _locked(session, image_id).version


def history(
    session: Session, image_id: int, *, before: int = 0, most: int | None = None
) -> list[Revision]:
    """Revisions of an image, newest first: all, or `most` of those older than `before`."""
    query = select(RevisionRow).filter_by(image_id=image_id).order_by(RevisionRow.version.desc())
    if before:
        query = query.where(RevisionRow.version < before)
    rows = session.scalars(query.limit(most)).all()
    if not rows and session.get(ImageRow, image_id) is None:
        raise NotFound(f"There is no image {image_id}.")
    names = _names(session, image_id)
    return [_revision(row, names) for row in rows]


def revision(session: Session, image_id: int, version: int) -> Revision:
    """One revision of an image; version 0 is the bare picture."""
    if version == 0:
        return Revision(image_id, 0, "", now(), "added", State.NEW, ())
    row = session.get(RevisionRow, (image_id, version))
    if row is None:
        raise NotFound(f"Image {image_id} has no version {version}.")
    return _revision(row, _names(session, image_id))


def revisions(session: Session, versions: Mapping[int, int]) -> dict[int, Revision]:
    """Many images of one project, each as it stood at a version above 0."""
    if not versions:
        return {}
    names = _names(session, next(iter(versions)))
    found: dict[int, Revision] = {}
    pair = tuple_(RevisionRow.image_id, RevisionRow.version)
    for part in engine.batches(list(versions.items()), PAIRS):
        rows = session.scalars(select(RevisionRow).where(pair.in_(part)))
        found.update((row.image_id, _revision(row, names)) for row in rows)
    return found


def restore(session: Session, image_id: int, version: int, author: str) -> Revision:
    """Make an earlier revision the newest; nothing in between is lost."""
    old = revision(session, image_id, version)
    seen = _locked(session, image_id).version
    return save(
        session,
        image_id,
        seen,
        old.boxes,
        author,
        state=old.state,
        label=old.label,
        action=f"restore v{version}",
    )


def insert_first(
    session: Session,
    first: Sequence[First],
    class_ids: Mapping[str, int],
    author: str,
    at: datetime,
) -> None:
    """Write version 1 of many images that come with labels."""
    revisions_: list[dict[str, Any]] = []
    boxes: list[dict[str, Any]] = []
    for item in first:
        named = [_named(box, author, class_ids[box.label]) for box in item.boxes]
        boxes += [box_rows.values(item.image_id, box) for box in named]
        revisions_.append(
            {
                "image_id": item.image_id,
                "version": 1,
                "author": author,
                "at": at,
                "action": "import",
                "state": State.DONE,
                "label_id": item.label_id,
                "comment": "",
                "boxes": [box_rows.kept(box) for box in named],
            }
        )
    engine.bulk_insert(session, RevisionRow, revisions_)
    engine.bulk_insert(session, BoxRow, boxes)


def _locked(session: Session, image_id: int) -> ImageRow:
    row = session.scalar(select(ImageRow).filter_by(id=image_id).with_for_update())
    if row is None or row.deleted is not None:
        raise NotFound(f"Image {image_id} has been deleted; nothing was saved.")
    return row


def _conflict(session: Session, row: ImageRow) -> Conflict:
    theirs = revision(session, row.id, row.version)
    who = theirs.author or "Somebody"
    return Conflict(
        f"{who} has changed {row.name} in the meantime ({theirs.action}, now version "
        f"{row.version} with {many(len(theirs.boxes), 'box', 'boxes')}); "
        "your boxes were not saved over theirs.",
        theirs,
    )


def _limited(boxes: Sequence[Box], row: ImageRow) -> Sequence[Box]:
    if len(boxes) > MOST_BOXES:
        raise Invalid(
            f"{row.name} would have {len(boxes):,} boxes; an image takes at most {MOST_BOXES:,}."
        )
    if len({box.id for box in boxes if box.id}) < sum(1 for box in boxes if box.id):
        raise Invalid(f"Two boxes of {row.name} have the same id; reload the page.")
    return boxes


def _checked(box: Box, row: ImageRow, names: Naming, author: str) -> Box:
    corners = (box.x1, box.y1, box.x2, box.y2)
    if not all(math.isfinite(corner) for corner in corners):
        raise Invalid(f"A box of {row.name} has a corner that is not a number.")
    x1, y1 = max(0.0, box.x1), max(0.0, box.y1)
    x2, y2 = min(float(row.width), box.x2), min(float(row.height), box.y2)
    if x2 <= x1 or y2 <= y1:
        raise Invalid(f"A box of {row.name} has no area inside the picture: {corners}.")
    _check_id(box)
    sure = replace(box, x1=x1, y1=y1, x2=x2, y2=y2)
    return _named(sure, author, _class_id(box.label, box.class_id, row, names))


def _class_id(label: str, class_id: int | None, row: ImageRow, names: Naming) -> int:
    """A page may have been opened when the class was called otherwise; its id says which it is."""
    found = names.now(class_id, label)
    if found is None:
        raise Invalid(f"{row.name} cannot be labelled {label[:80]!r}: there is no such class.")
    return found


def _check_id(box: Box) -> None:
    if len(box.id) > 32:
        raise Invalid("The id of a box has at most 32 characters.")


def _named(box: Box, author: str, class_id: int) -> Box:
    _check_id(box)
    id_ = box.id or uuid.uuid4().hex
    return replace(box, id=id_, author=box.author or author, class_id=class_id)


def _write_boxes(session: Session, row: ImageRow, boxes: Sequence[Box]) -> None:
    session.execute(delete(BoxRow).filter_by(image_id=row.id))
    values = [box_rows.values(row.id, box) for box in boxes]
    engine.bulk_insert(session, BoxRow, values)
    row.boxes = len(boxes)


def _revision_row(row: ImageRow, boxes: Sequence[Box], author: str, action: str) -> RevisionRow:
    return RevisionRow(
        image_id=row.id,
        version=row.version,
        author=author,
        action=action[:200],
        state=row.state,
        label_id=row.label_id,
        comment=row.comment,
        boxes=[box_rows.kept(box) for box in boxes],
    )


def _revision(row: RevisionRow, names: Naming) -> Revision:
    return Revision(
        image_id=row.image_id,
        version=row.version,
        author=row.author,
        at=row.at,
        action=row.action,
        state=State(row.state),
        boxes=tuple(box_rows.of_revision(value, names) for value in row.boxes),
        label=names.name(row.label_id),
        comment=row.comment,
        key=row.key or "",
    )


def _names(session: Session, image_id: int) -> Naming:
    image = session.get(ImageRow, image_id)
    return class_names.of(session, image.project_id if image else None)
