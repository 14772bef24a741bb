"""The queue of a review: which images of a run, in what order, and who has which before them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NotRequired

from sqlalchemy import (
    ColumnElement,
    and_,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.orm import Session
from typing_extensions import TypedDict

from backend.domain import Verdict
from backend.errors import Invalid
from backend.labels import gallery, images
from backend.review import behind, rule_filter
from backend.review.behind import Behind
from backend.review.deciding import closing, decisions
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.tables import DetectionRow, ImageRow, LeaseRow, RunImageRow
from backend.storage.types import now

LEASE = timedelta(seconds=90)
MOST = 50
KEYS: dict[str, tuple[Any, bool]] = {
    "doubt": (RunImageRow.doubt, True),
    "name": (RunImageRow.name, False),
    "score": (RunImageRow.best, True),
    "detections": (RunImageRow.detections, True),
    "size": (RunImageRow.largest, True),
}
SORTS = tuple(KEYS)
RULED = ("rule-pass", "rule-fail", "rule-ask")
SAID = ("pass", "fail", *(one.value for one in closing.ANSWERS))
STANDS = ("open", *SAID, *RULED)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which images of a run, and in what order; empty means all."""

    labels: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    least: float = 0.0
    text: str = ""
    behind: Behind = behind.NOTHING
    sort: str = "doubt"


RuledBoards = TypedDict("RuledBoards", {"pass": int, "fail": int, "ask": NotRequired[int]})


@dataclass(frozen=True, slots=True)
class Taken:
    """Images that a person now has to themselves, and how many others are at it."""

    image_ids: tuple[int, ...]
    others: int


def parse(pairs: Iterable[tuple[str, str]]) -> Choice:
    """The choice that a URL's query names; other names are left alone."""
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if value:
            given.setdefault(name, []).append(value)
    sort = given.get("sort", ["doubt"])[-1]
    if sort not in SORTS:
        raise Invalid(f"A review cannot be sorted by {sort[:40]!r}; there are {', '.join(SORTS)}.")
    stands = tuple(given.get("stands", ()))
    if set(stands) - set(STANDS):
        raise Invalid(f"An image of a review is one of {', '.join(STANDS)}.")
    return Choice(
        labels=tuple(given.get("class", ())),
        stands=stands,
        groups=tuple(given.get("group", ())),
        least=_score(given.get("score", ["0"])[-1]),
        text=given.get("text", [""])[-1],
        behind=behind.parse(given),
        sort=sort,
    )


def take(
    session: Session,
    run_id: int,
    choice: Choice,
    holder: str,
    author: str,
    *,
    after: int = 0,
    wanted: int = 0,
    count: int = 4,
) -> Taken:
    """Reserve the next images for one person; nobody else is given them until the lease ends.

    `after` is the last image the person has; past the end the queue begins again. `wanted` names
    an image to begin with, which another person may hold.
    """
    if not 0 < count <= MOST or not holder:
        raise Invalid(f"A person takes 1 to {MOST} images at a time.")
    session.execute(delete(LeaseRow).where(LeaseRow.until < now()))
    first = [wanted] if wanted and _in_run(session, run_id, wanted) else []
    free = _next(session, run_id, choice, after, count - len(first) + 1)
    chosen = [image_id for image_id in free if image_id not in first]
    mine = reserve(session, run_id, [*first, *chosen][:count], holder, author)
    return Taken(mine, others(session, run_id, holder))


def look(
    session: Session,
    run_id: int,
    choice: Choice,
    *,
    after: int = 0,
    wanted: int = 0,
    count: int = 4,
) -> Taken:
    """The next images for one who only looks: reviewed or not, whoever has them."""
    first = [wanted] if wanted and _in_run(session, run_id, wanted) else []
    there = ids(session, run_id, choice, count + len(first), after)
    shown = [*first, *(image_id for image_id in there if image_id not in first)][:count]
    return Taken(tuple(shown), 0)


def renew(session: Session, run_id: int, holder: str) -> int:
    """Keep what a person has for another while; returns how many images that are."""
    query = update(LeaseRow).where(LeaseRow.run_id == run_id, LeaseRow.holder == holder)
    result: Any = session.execute(query.values(until=now() + LEASE))
    return int(result.rowcount)


def give_back(session: Session, run_id: int, holder: str) -> None:
    """Let others have what this person had."""
    session.execute(delete(LeaseRow).filter_by(run_id=run_id, holder=holder))


def held_by(session: Session, run_id: int, image_id: int, holder: str) -> str:
    """Who else has the image before them; empty: nobody."""
    row = session.get(LeaseRow, (run_id, image_id))
    other = row is not None and row.holder != holder and row.until >= now()
    return (row.author or "Somebody") if row is not None and other else ""


def ids(session: Session, run_id: int, choice: Choice, limit: int, after: int = 0) -> list[int]:
    """The images of a choice in its order, those after one, whoever has them."""
    query = select(RunImageRow.image_id).where(_where(session, run_id, choice))
    later = _later(session, run_id, choice.sort, after) if after else None
    query = query if later is None else query.where(later)
    return list(session.scalars(query.order_by(*_order(choice.sort)).limit(limit)))


def _next(session: Session, run_id: int, choice: Choice, after: int, count: int) -> list[int]:
    """Open images that nobody has, in order after one, then from the start again."""
    where = and_(_where(session, run_id, choice), ~_held(run_id))
    if not {*SAID}.intersection(choice.stands):
        where = and_(where, closing.is_open(session, run_id, RunImageRow.image_id))
    query = select(RunImageRow.image_id).order_by(*_order(choice.sort)).limit(count)
    later = _later(session, run_id, choice.sort, after) if after else None
    if later is None:
        return list(session.scalars(query.where(where)))
    found = list(session.scalars(query.where(where, later)))
    if len(found) < count:
        found += [id_ for id_ in session.scalars(query.where(where)) if id_ not in found]
    return [id_ for id_ in found if id_ != after][:count]


def reserve(
    session: Session, run_id: int, image_ids: Sequence[int], holder: str, author: str
) -> tuple[int, ...]:
    """Those of the images that this person now has to themselves, for a while."""
    until = now() + LEASE
    rows = [
        {"run_id": run_id, "image_id": id_, "holder": holder, "author": author, "until": until}
        for id_ in image_ids
    ]
    engine.insert_new(session, LeaseRow, rows)
    query = select(LeaseRow.image_id).where(
        LeaseRow.run_id == run_id, LeaseRow.holder == holder, LeaseRow.image_id.in_(image_ids)
    )
    mine = set(session.scalars(query))
    return tuple(id_ for id_ in image_ids if id_ in mine)


def _where(session: Session, run_id: int, choice: Choice) -> ColumnElement[bool]:
    """What is put away cannot be saved, so that nobody is given it."""
    parts: list[ColumnElement[bool]] = [
        RunImageRow.run_id == run_id,
        RunImageRow.status == "ok",
        images.there(RunImageRow.image_id),
    ]
    if choice.labels or choice.least > 0 or choice.behind.below < behind.ABOVE:
        parts.append(_has_detection(session, run_id, choice))
    if choice.text:
        parts.append(RunImageRow.name.icontains(choice.text, autoescape=True))
    if choice.groups:
        named = ["" if one == gallery.NONE else one for one in choice.groups]
        members = select(ImageRow.id).where(ImageRow.group.in_(named))
        parts.append(RunImageRow.image_id.in_(members))
    if choice.stands:
        parts.append(or_(*(_stands(session, run_id, one) for one in choice.stands)))
    parts += behind.conditions(session, run_id, RunImageRow.image_id, choice.behind)
    return and_(*parts)


def _has_detection(session: Session, run_id: int, choice: Choice) -> ColumnElement[bool]:
    query = select(DetectionRow.image_id).where(
        DetectionRow.run_id == run_id,
        DetectionRow.score >= choice.least,
        DetectionRow.score < choice.behind.below,
    )
    if not choice.labels:
        return RunImageRow.image_id.in_(query)
    kinds = class_names.of_run(session, run_id).detected(choice.labels)
    return or_(*(RunImageRow.image_id.in_(query.where(one)) for one in kinds))


def _stands(session: Session, run_id: int, stand: str) -> ColumnElement[bool]:
    if stand in RULED:
        return rule_filter.of(session, run_id, RunImageRow.image_id, stand.removeprefix("rule-"))
    if stand == "open":
        return ~_closed(session, run_id)
    verdict = Verdict(stand)
    said = closing.answered if verdict in closing.ANSWERS else decisions.boards
    return RunImageRow.image_id.in_(said(run_id, (verdict,)))


def _closed(session: Session, run_id: int) -> ColumnElement[bool]:
    return RunImageRow.image_id.in_(closing.closed(session, run_id))


def _held(run_id: int) -> ColumnElement[bool]:
    """Images that anybody has: others, or this person already."""
    return exists().where(LeaseRow.run_id == run_id, LeaseRow.image_id == RunImageRow.image_id)


def others(session: Session, run_id: int, holder: str) -> int:
    """How many others have images of a run before them."""
    query = select(func.count(func.distinct(LeaseRow.holder))).where(
        LeaseRow.run_id == run_id, LeaseRow.holder != holder
    )
    return session.scalar(query) or 0


def _in_run(session: Session, run_id: int, image_id: int) -> bool:
    query = select(RunImageRow.image_id).filter_by(run_id=run_id, image_id=image_id)
    return session.scalar(query.where(images.there(RunImageRow.image_id))) is not None


def _order(sort: str) -> tuple[ColumnElement[Any], ...]:
    column, down = KEYS[sort]
    last = RunImageRow.image_id
    return (column.desc(), last.desc()) if down else (column.asc(), last.asc())


def _later(session: Session, run_id: int, sort: str, after: int) -> ColumnElement[bool] | None:
    """What comes after an image in an order; both columns run one way, so that an index does it."""
    column, down = KEYS[sort]
    query = select(column).where(RunImageRow.run_id == run_id, RunImageRow.image_id == after)
    found = session.execute(query).first()
    if found is None:
        return None
    here = tuple_(column, RunImageRow.image_id)
    there = tuple_(*(literal(value) for value in (found[0], after)))
    return here < there if down else here > there


def counts(session: Session, run_id: int, choice: Choice) -> tuple[int, int]:
    """How many images the choice has, and how many of them are still open."""
    query = select(func.count()).select_from(RunImageRow).where(_where(session, run_id, choice))
    total = session.scalar(query) or 0
    return total, total - (session.scalar(query.where(_closed(session, run_id))) or 0)


def ruled(session: Session, run_id: int) -> RuledBoards:
    """How many images of a run the project's rule passes and fails, as the queue's filters do.

    Of classified pictures also those of which it asks a person.
    """

    def number(*stands: str) -> int:
        chosen = _where(session, run_id, Choice(stands=stands))
        return session.scalar(select(func.count()).select_from(RunImageRow).where(chosen)) or 0

    failed = number("rule-fail")
    if not closing.by_answer(session, run_id):
        return {"pass": number() - failed, "fail": failed}
    asking = number("rule-ask")
    return {"pass": number() - failed - asking, "fail": failed, "ask": asking}


def _score(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise Invalid(f"A score is a number between 0 and 1, not {text[:40]!r}.") from error
    if not 0 <= value <= 1:
        raise Invalid(f"A score is a number between 0 and 1, not {text[:40]!r}.")
    return value
