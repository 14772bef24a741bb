"""The labels in doubt of a project: kept as a job has found them, shown as far as they still stand.

A label that was changed since is in doubt no more, nor is a place that has a label by now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from backend import matching
from backend.domain import Box, Image
from backend.errors import NotFound
from backend.labels import box_rows, images, labelling
from backend.review.doubts.scoring import Kind
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import DismissalRow, DoubtRow, ImageRow
from backend.storage.types import LARGEST_KEY

MOST = 5_000  # kept of a project; nobody goes through more
LEAST = 0.05  # certainty
COVERED = 0.3  # overlap from which a label stands where one was missing
AGAIN = 0.5  # from which a place is one that was dismissed
ALIKE = 0.9  # from which a label is
PART = 200
OF_CLASSES = (Kind.MISSING, Kind.CLASS)  # whose answer gives a label the class that was found
Said = tuple[Box | None, Box | None]  # the label, and what was found in its place


@dataclass(frozen=True, slots=True)
class Raised:
    """A doubt about an image as it stood at a version."""

    image_id: int
    sha256: str
    version: int
    kind: Kind
    certainty: float
    label: Box | None
    found: Box | None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Held:
    """A doubt as it is shown: the label, and what was found in its place."""

    id: int
    image: Image
    kind: Kind
    certainty: float
    label: Box | None
    found: Box | None
    score: float
    answer: str
    author: str


def keep(session: Session, project_id: int, job_id: int, raised: Sequence[Raised]) -> int:
    """Put these in place of those that nobody has answered; what people dismissed stays away."""
    open_ = delete(DoubtRow).where(DoubtRow.project_id == project_id, DoubtRow.answer == "")
    session.execute(open_.execution_options(synchronize_session=False))
    there = set(session.scalars(_present(project_id)))
    dismissed = _dismissed(session, project_id)
    likely = [one for one in raised if one.certainty >= LEAST and one.image_id in there]
    likely.sort(key=lambda one: -one.certainty)
    fresh = [one for one in likely if not _was_dismissed(one, dismissed.get(one.sha256, ()))]
    # Images in the order in which others hold many of them, so that nobody waits in a circle.
    first = sorted(fresh[:MOST], key=lambda one: one.image_id)
    rows = [_values(project_id, job_id, one) for one in first]
    engine.bulk_insert(session, DoubtRow, rows)
    return len(rows)


def window(session: Session, project_id: int, count: int, after: int = 0) -> list[Held]:
    """Those that stand, the surest first, behind the one with that id."""
    last = session.get(DoubtRow, after) if after else None
    query = _open(project_id).order_by(DoubtRow.certainty.desc(), DoubtRow.id)
    if last is not None:
        behind = (DoubtRow.certainty == last.certainty) & (DoubtRow.id > last.id)
        query = query.where((DoubtRow.certainty < last.certainty) | behind)
    found: list[Held] = []
    offset = 0
    while len(found) < count and (rows := session.scalars(query.offset(offset).limit(PART)).all()):
        found += _standing(session, rows)
        offset += PART
    return found[:count]


def count(session: Session, project_id: int) -> dict[str, int]:
    """How many stand, by their kind."""
    rows = session.scalars(_open(project_id).where(ImageRow.version != DoubtRow.version)).all()
    stand = {one.id for one in _standing(session, rows)}
    gone = {row.id: row.kind for row in rows if row.id not in stand}
    gone |= _meaningless(session, project_id)
    query = _open(project_id).with_only_columns(DoubtRow.kind, func.count())
    counted = Counter({kind: n for kind, n in session.execute(query.group_by(DoubtRow.kind))})
    counted.subtract(Counter(gone.values()))
    return {kind.value: counted[kind.value] for kind in Kind if counted[kind.value]}


def get(session: Session, doubt_id: int) -> DoubtRow:
    """The row of a doubt, held until the transaction ends."""
    held = select(DoubtRow).filter_by(id=doubt_id).with_for_update()
    row = session.scalar(held) if doubt_id <= LARGEST_KEY else None
    if row is None:
        raise NotFound(
            "This doubt is there no more: the labels were looked through anew; reload the page."
        )
    return row


def standing(session: Session, row: DoubtRow) -> Held | None:
    """The doubt as it is shown, if it still stands."""
    return next(iter(_standing(session, [row])), None)


def shown(session: Session, rows: Sequence[DoubtRow]) -> list[Held]:
    """Doubts as they are shown, whether they stand or not."""
    ids = {row.image_id for row in rows}
    pictures = session.scalars(select(ImageRow).where(ImageRow.id.in_(ids))).all()
    known = {one.id: one for one in images.of_rows(session, pictures)}
    return [_held(session, row, known[row.image_id]) for row in rows]


def _open(project_id: int) -> Any:
    return (
        select(DoubtRow)
        .join(ImageRow, ImageRow.id == DoubtRow.image_id)
        .where(
            DoubtRow.project_id == project_id,
            DoubtRow.answer == "",
            ImageRow.deleted.is_(None),
        )
    )


def _present(project_id: int) -> Any:
    return select(ImageRow.id).where(ImageRow.project_id == project_id, ImageRow.deleted.is_(None))


def _standing(session: Session, rows: Sequence[DoubtRow]) -> list[Held]:
    boxes = labelling.boxes_of(session, {row.image_id for row in rows})
    found = zip(rows, shown(session, rows), strict=True)
    return [
        one
        for row, one in found
        if _means(one.kind, one.label, one.found, class_names.of(session, row.project_id))
        and _stands(one, boxes[one.image.id])
    ]


def _stands(one: Held, boxes: Iterable[Box]) -> bool:
    if one.label is None:
        return one.found is not None and _most(one.found, boxes) < COVERED
    label = one.label
    now = next((box for box in boxes if box.id == label.id), None)
    return now is not None and (now.class_id, *_corners(now)) == (label.class_id, *_corners(label))


def _means(kind: Kind, label: Box | None, found: Box | None, names: Naming) -> bool:
    """Not where the two classes were merged since, or the one that was found was taken out."""
    if found is None or kind not in OF_CLASSES:
        return True
    same = label is not None and label.class_id == found.class_id
    return not same and found.class_id in names.ids.values()


def _meaningless(session: Session, project_id: int) -> dict[int, str]:
    """Open doubts of which a change of the classes has left nothing, with their kinds."""
    names = class_names.of(session, project_id)
    if len(set(names.ids.values())) == len(names.own):
        return {}
    rows = session.scalars(_open(project_id).where(DoubtRow.kind.in_(OF_CLASSES))).all()
    return {
        row.id: row.kind
        for row in rows
        if not _means(Kind(row.kind), _box(row.label, names), _box(row.found, names), names)
    }


def _held(session: Session, row: DoubtRow, image: Image) -> Held:
    names = class_names.of(session, row.project_id)
    return Held(
        row.id,
        image,
        Kind(row.kind),
        row.certainty,
        _box(row.label, names),
        _box(row.found, names),
        float(row.found.get("score", 0.0)),
        row.answer,
        row.author,
    )


def _box(kept: Mapping[str, Any], names: Naming) -> Box | None:
    return box_rows.of_revision(kept, names) if kept else None


def _values(project_id: int, job_id: int, one: Raised) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "image_id": one.image_id,
        "job_id": job_id,
        "version": one.version,
        "kind": one.kind.value,
        "certainty": one.certainty,
        "label": box_rows.kept(one.label) if one.label else {},
        "found": {**box_rows.kept(one.found), "score": one.score} if one.found else {},
        "answer": "",
        "author": "",
        "answered": None,
        "revision": None,
    }


def _dismissed(session: Session, project_id: int) -> dict[str, list[Said]]:
    names = class_names.of(session, project_id)
    found: dict[str, list[Said]] = {}
    for row in session.scalars(select(DismissalRow).filter_by(project_id=project_id)):
        said = _box(row.label, names), _box(row.found, names)
        found.setdefault(row.sha256, []).append(said)
    return found


def _was_dismissed(one: Raised, said: Collection[Said]) -> bool:
    """A label that was found right is so in every way; a place that needs none needs none."""
    return any(_same(one.label, label, one.found, found) for label, found in said)


def _same(mine: Box | None, label: Box | None, found: Box | None, place: Box | None) -> bool:
    if mine is not None and label is not None:
        return mine.class_id == label.class_id and _most(mine, [label]) >= ALIKE
    if mine is None and label is None and found is not None and place is not None:
        return _most(found, [place]) >= AGAIN
    return False


def _most(box: Box, others: Iterable[Box]) -> float:
    """The largest overlap with any of them."""
    rows = np.array([_corners(one) for one in others], np.float64).reshape(-1, 4)
    return float(matching.overlaps(np.array([_corners(box)]), rows).max(initial=0.0))


def _corners(box: Box) -> tuple[float, float, float, float]:
    return box.x1, box.y1, box.x2, box.y2
