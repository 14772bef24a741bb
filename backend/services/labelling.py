"""Boxes and what else a person says of an image; every save is a revision that stays."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from backend.domain import Box, DetectionRef, Origin, Revision, State
from backend.errors import Conflict, Invalid, NotFound
from backend.storage import engine
from backend.storage.tables import BoxRow, ClassNameRow, ClassRow, ImageRow, RevisionRow
from backend.storage.types import now

MOST_BOXES = 10_000


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
) -> Revision:
    """Save all boxes of an image; `version` is the one the person has seen.

    What is None stays as it is. Raises Conflict when somebody else saved in between.
    """
    row = _locked(session, image_id)
    if row.version != version:
        raise _conflict(session, row)
    class_ids, names = _classes(session, row.project_id)
    checked = [_checked(box, row, class_ids, author) for box in _limited(boxes, row)]
    _write_boxes(session, row, checked, class_ids)
    row.state = state or (State.STARTED if row.state == State.NEW else State(row.state))
    row.author = author
    if label is not None:
        row.label_id = _class_id(label, row, class_ids) if label else None
    if comment is not None:
        row.comment = comment[:5000]
    row.version += 1
    added = _revision_row(row, checked, class_ids, author, action)
    session.add(added)
    session.flush()
    return _revision(added, names)


def boxes_of(session: Session, image_ids: Iterable[int]) -> dict[int, tuple[Box, ...]]:
    """The boxes that stand now, by image; an image without boxes has an empty entry."""
    found: dict[int, list[Box]] = {image_id: [] for image_id in image_ids}
    query = (
        select(BoxRow, ClassRow.name)
        .join(ClassRow, ClassRow.id == BoxRow.class_id)
        .where(BoxRow.image_id.in_(found))
        .order_by(BoxRow.image_id, BoxRow.y1, BoxRow.x1, BoxRow.id)
    )
    for row, name in session.execute(query):
        found[row.image_id].append(_box_of_row(row, name))
    return {image_id: tuple(boxes) for image_id, boxes in found.items()}


def roots_of(session: Session, image_id: int) -> dict[str, DetectionRef | None]:
    """The boxes of an image that stand now, by id, each with the detection that it came from."""
    query = select(BoxRow.id, BoxRow.run_id, BoxRow.run_image_id, BoxRow.run_idx)
    rows = session.execute(query.where(BoxRow.image_id == image_id))
    return {id_: _ref(run, image, idx) for id_, run, image, idx in rows}


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
    names = _class_names(session, image_id)
    return [_revision(row, names) for row in rows]


def revision(session: Session, image_id: int, version: int) -> Revision:
    """One revision of an image; version 0 is the bare picture."""
    if version == 0:
        return Revision(image_id, 0, "", now(), "added", State.NEW, ())
    row = session.get(RevisionRow, (image_id, version))
    if row is None:
        raise NotFound(f"Image {image_id} has no version {version}.")
    return _revision(row, _class_names(session, image_id))


def revisions(session: Session, versions: Mapping[int, int]) -> dict[int, Revision]:
    """Many images of one project, each as it stood at a version above 0."""
    if not versions:
        return {}
    names = _class_names(session, next(iter(versions)))
    query = select(RevisionRow).where(RevisionRow.image_id.in_(versions))
    return {
        row.image_id: _revision(row, names)
        for row in session.scalars(query)
        if row.version == versions[row.image_id]
    }


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
        named = [_named(box, author) for box in item.boxes]
        boxes += [_box_values(item.image_id, box, class_ids[box.label]) for box in named]
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
                "boxes": [_to_json(box, class_ids[box.label]) for box in named],
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
        f"{row.version} with {len(theirs.boxes)} boxes); your boxes were not saved over theirs.",
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


def _checked(box: Box, row: ImageRow, class_ids: Mapping[str, int], author: str) -> Box:
    corners = (box.x1, box.y1, box.x2, box.y2)
    if not all(math.isfinite(corner) for corner in corners):
        raise Invalid(f"A box of {row.name} has a corner that is not a number.")
    x1, y1 = max(0.0, box.x1), max(0.0, box.y1)
    x2, y2 = min(float(row.width), box.x2), min(float(row.height), box.y2)
    if x2 <= x1 or y2 <= y1:
        raise Invalid(f"A box of {row.name} has no area inside the picture: {corners}.")
    _class_id(box.label, row, class_ids)
    _check_id(box)
    id_ = box.id or uuid.uuid4().hex
    return replace(box, x1=x1, y1=y1, x2=x2, y2=y2, id=id_, author=box.author or author)


def _class_id(label: str, row: ImageRow, class_ids: Mapping[str, int]) -> int:
    if label not in class_ids:
        raise Invalid(f"{row.name} cannot be labelled {label[:80]!r}: there is no such class.")
    return class_ids[label]


def _check_id(box: Box) -> None:
    if len(box.id) > 32:
        raise Invalid("The id of a box has at most 32 characters.")


def _named(box: Box, author: str) -> Box:
    _check_id(box)
    return replace(box, id=box.id or uuid.uuid4().hex, author=box.author or author)


def _write_boxes(
    session: Session, row: ImageRow, boxes: Sequence[Box], class_ids: Mapping[str, int]
) -> None:
    session.execute(delete(BoxRow).filter_by(image_id=row.id))
    values = [_box_values(row.id, box, class_ids[box.label]) for box in boxes]
    engine.bulk_insert(session, BoxRow, values)
    row.boxes = len(boxes)


def _revision_row(
    row: ImageRow, boxes: Sequence[Box], class_ids: Mapping[str, int], author: str, action: str
) -> RevisionRow:
    return RevisionRow(
        image_id=row.id,
        version=row.version,
        author=author,
        action=action[:200],
        state=row.state,
        label_id=row.label_id,
        comment=row.comment,
        boxes=[_to_json(box, class_ids[box.label]) for box in boxes],
    )


def _revision(row: RevisionRow, names: Mapping[int, str]) -> Revision:
    return Revision(
        image_id=row.image_id,
        version=row.version,
        author=row.author,
        at=row.at,
        action=row.action,
        state=State(row.state),
        boxes=tuple(_from_json(value, names) for value in row.boxes),
        label=names.get(row.label_id or 0, ""),
        comment=row.comment,
    )


def _classes(session: Session, project_id: int) -> tuple[dict[str, int], dict[int, str]]:
    """The ids by every name that a class has or had, and the names that they have now."""
    query = select(ClassNameRow.name, ClassRow.id, ClassRow.name)
    named = query.join(ClassRow, ClassRow.id == ClassNameRow.class_id)
    rows = session.execute(named.where(ClassNameRow.project_id == project_id)).all()
    return {known: id_ for known, id_, _ in rows}, {id_: name for _, id_, name in rows}


def _class_names(session: Session, image_id: int) -> dict[int, str]:
    """Names by class id, those of merged classes leading to what they were merged into."""
    image = session.get(ImageRow, image_id)
    return _names(session, image.project_id) if image else {}


def _names(session: Session, project_id: int) -> dict[int, str]:
    query = select(ClassRow.id, ClassRow.name, ClassRow.merged_into_id)
    rows = session.execute(query.where(ClassRow.project_id == project_id)).all()
    own = {id_: name for id_, name, _ in rows}
    return {id_: own[merged or id_] for id_, _, merged in rows}


def _box_values(image_id: int, box: Box, class_id: int) -> dict[str, Any]:
    ref = box.detection
    return {
        "image_id": image_id,
        "id": box.id,
        "class_id": class_id,
        "x1": box.x1,
        "y1": box.y1,
        "x2": box.x2,
        "y2": box.y2,
        "origin": box.origin,
        "author": box.author,
        "run_id": ref.run_id if ref else None,
        "run_image_id": ref.image_id if ref else None,
        "run_idx": ref.idx if ref else None,
    }


def _box_of_row(row: BoxRow, name: str) -> Box:
    ref = _ref(row.run_id, row.run_image_id, row.run_idx)
    return Box(row.x1, row.y1, row.x2, row.y2, name, Origin(row.origin), row.id, ref, row.author)


def _ref(run: int | None, image: int | None, idx: int | None) -> DetectionRef | None:
    return None if run is None else DetectionRef(run, image or 0, idx or 0)


def _to_json(box: Box, class_id: int) -> dict[str, Any]:
    ref = box.detection
    value: dict[str, Any] = {
        "id": box.id,
        "class": class_id,
        "at": [box.x1, box.y1, box.x2, box.y2],
        "origin": box.origin,
        "author": box.author,
    }
    if ref:
        value["detection"] = [ref.run_id, ref.image_id, ref.idx]
    return value


def _from_json(value: Mapping[str, Any], names: Mapping[int, str]) -> Box:
    ref = DetectionRef(*value["detection"]) if "detection" in value else None
    label = names.get(value["class"], "")
    x1, y1, x2, y2 = value["at"]
    return Box(x1, y1, x2, y2, label, Origin(value["origin"]), value["id"], ref, value["author"])
