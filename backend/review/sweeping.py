"""The sweep of classified pictures: screens of one predicted class, the least sure first, each
picture before one person alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, exists, func, literal, select, tuple_
from sqlalchemy.orm import Session

from backend.errors import Invalid
from backend.labels import images, labelling
from backend.review import agenda, views
from backend.review.deciding import closing, decisions
from backend.review.deciding.decisions import Subject
from backend.review.views import Tile
from backend.storage.classes import class_names
from backend.storage.tables import DetectionRow, LeaseRow, RevisionRow
from backend.storage.types import now

MOST = 200


@dataclass(frozen=True, slots=True)
class After:
    """The last picture that a person has had: its score and its number."""

    score: float
    image_id: int


@dataclass(frozen=True, slots=True)
class Screen:
    """Pictures that a person now has to themselves, and how many others are at it."""

    tiles: tuple[Tile, ...]
    others: int


def take(
    session: Session,
    run_id: int,
    label: str,
    holder: str,
    author: str,
    *,
    after: After | None = None,
    count: int = 96,
) -> Screen:
    """Reserve the next pictures of a class that nobody has answered and nobody else has.

    Those that this person has already, and has not answered, come again; those that are answered
    the person has no more.
    """
    _check(holder, count)
    _let_go(session, run_id, holder)
    found = _next(session, run_id, label, after, count, _held_by_others(run_id, holder))
    mine = set(agenda.reserve(session, run_id, [row.image_id for row in found], holder, author))
    tiles = views.tiles(session, run_id, [row for row in found if row.image_id in mine])
    return Screen(tiles, agenda.others(session, run_id, holder))


def look(
    session: Session, run_id: int, label: str, *, after: After | None = None, count: int = 96
) -> Screen:
    """The same for one who only looks: whoever has them."""
    _check("nobody", count)
    found = _next(session, run_id, label, after, count, None)
    return Screen(views.tiles(session, run_id, found), agenda.others(session, run_id, ""))


def left(session: Session, run_id: int, label: str) -> int:
    """How many pictures of a class nobody has answered."""
    query = select(func.count()).select_from(DetectionRow)
    found = class_names.of_run(session, run_id).detected([label])
    where = (query.where(DetectionRow.run_id == run_id, one, _open(run_id)) for one in found)
    return sum(session.scalar(one) or 0 for one in where)


def refuse_answered(session: Session, run_id: int, image_id: int, saw: str, key: str) -> None:
    """Refuse an answer over one that the person has not seen; one that is sent again is none."""
    labelling.version_of(session, image_id)  # whoever answers it at this moment comes first
    sent = select(RevisionRow.version).where(
        RevisionRow.image_id == image_id, RevisionRow.key == key
    )
    if key and session.scalar(sent) is not None:
        return
    standing = decisions.standing(session, [image_id], [run_id])[image_id]
    one = standing.get(Subject(run_id, closing.ANSWER))
    if (one.verdict.value if one else "") != saw:
        who = (one.author or "Somebody") if one else "Somebody"
        done = "has answered it" if one else "has taken the answer back"
        raise Invalid(f"{who} {done} in the meantime; that answer stands.")


def _check(holder: str, count: int) -> None:
    if not 0 < count <= MOST or not holder:
        raise Invalid(f"A screen has 1 to {MOST} pictures.")


def _let_go(session: Session, run_id: int, holder: str) -> None:
    """Ends what nobody holds any more, and what this person holds and has answered."""
    row = LeaseRow
    answered = ~closing.answer_is_open(run_id, row.image_id)
    session.execute(delete(row).where(row.until < now()))
    session.execute(delete(row).where(row.run_id == run_id, row.holder == holder, answered))


def _next(
    session: Session,
    run_id: int,
    label: str,
    after: After | None,
    count: int,
    held: ColumnElement[bool] | None,
) -> Sequence[DetectionRow]:
    """The least sure first: walks along the index of each class that is called so."""
    row = DetectionRow
    open_ = [_open(run_id), *([] if held is None else [~held])]
    if after is not None:
        last = tuple_(literal(after.score), literal(after.image_id))
        open_.append(tuple_(row.score, row.image_id) > last)
    found: list[DetectionRow] = []
    for one in class_names.of_run(session, run_id).detected([label]):
        query = select(row).where(row.run_id == run_id, one, *open_)
        found += session.scalars(query.order_by(row.score, row.image_id).limit(count))
    return sorted(found, key=lambda one: (one.score, one.image_id))[:count]


def _open(run_id: int) -> ColumnElement[bool]:
    image_id, idx = DetectionRow.image_id, DetectionRow.idx
    return and_(closing.answer_is_open(run_id, image_id, idx), images.there(image_id))


def _held_by_others(run_id: int, holder: str) -> ColumnElement[bool]:
    return exists().where(
        LeaseRow.run_id == run_id,
        LeaseRow.image_id == DetectionRow.image_id,
        LeaseRow.holder != holder,
    )
