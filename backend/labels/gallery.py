"""Images of a project as a page shows them: filtered, sorted, counted, a window at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased
from typing_extensions import TypedDict  # pydantic reads typing's own from Python 3.12 on only

from backend.domain import Box, Image, Split, State
from backend.errors import Invalid
from backend.labels import days, facts, images, labelling
from backend.storage.tables import BoxRow, ClassNameRow, ClassRow, ImageRow

NONE = images.NO_LOT
SORTS = ("name", "newest", "boxes", "doubt")
MOST = 500
APART = 400


# How many images have each value of a field, by its name.
ImageCounts = TypedDict(
    "ImageCounts",
    {
        "state": dict[str, int],
        "split": dict[str, int],
        "group": dict[str, int],
        "author": dict[str, int],
        "class": dict[str, int],
        "golden": dict[str, int],
        "proposals": dict[str, int],
    },
    total=False,
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which images of a project; empty means all. Values of one field are alternatives."""

    states: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    golden: bool | None = None
    proposals: bool | None = None
    goldens: bool = False
    text: str = ""
    since: date | None = None
    until: date | None = None
    said: tuple[facts.Pair, ...] = ()
    ids: tuple[int, ...] = ()
    sort: str = "name"


@dataclass(frozen=True, slots=True)
class GalleryImage:
    """An image with all that a page draws of it.

    `lie` is how its golden lies on it where `lying.laid` was asked: an affine motion.
    """

    image: Image
    boxes: tuple[Box, ...]
    author: str
    golden_sha256: str = ""
    lie: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A window of the images that a filter lets through."""

    total: int
    items: tuple[GalleryImage, ...]


def parse(pairs: Iterable[tuple[str, str]]) -> Filter:
    """The filter that a URL's query names; names that are no filter are left alone."""
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if value:
            given.setdefault(name, []).append(value)
    sort = given.get("sort", ["name"])[-1]
    if sort not in SORTS:
        raise Invalid(f"Images cannot be sorted by {sort[:40]!r}; there are {', '.join(SORTS)}.")
    return Filter(
        states=_known("state", given, [state.value for state in State]),
        splits=_known("split", given, [*(split.value for split in Split), NONE]),
        classes=tuple(given.get("class", ())),
        groups=tuple(given.get("group", ())),
        authors=tuple(given.get("author", ())),
        golden=_yes_no("golden", given),
        proposals=_yes_no("proposals", given),
        goldens=given.get("goldens", [""])[-1] == "yes",
        text=given.get("text", [""])[-1],
        since=days.day(given.get("since", [""])[-1]),
        until=days.day(given.get("until", [""])[-1]),
        said=facts.parse(given.get("data", ())),
        sort=sort,
    )


def page(
    session: Session, project_id: int, chosen: Filter, offset: int = 0, limit: int = 100
) -> Page:
    """The images from `offset` on, with their boxes."""
    if not 0 <= offset <= 10**9 or not 0 < limit <= MOST:
        raise Invalid(f"A page starts at 0 or later and holds 1 to {MOST} images.")
    where = conditions(project_id, chosen)
    total = session.scalar(select(func.count()).select_from(ImageRow).where(where)) or 0
    # The ids come from an index alone; only the rows of this window are then read.
    ids = select(ImageRow.id).where(where).order_by(*order(chosen.sort))
    window = session.scalars(ids.offset(offset).limit(limit)).all()
    return Page(total, items(session, window))


def following(
    session: Session, project_id: int, chosen: Filter, after: int, limit: int
) -> list[int]:
    """The images with higher numbers than `after`, in their order: new ones come at the end."""
    where = conditions(project_id, chosen), ImageRow.id > after
    return list(
        session.scalars(select(ImageRow.id).where(*where).order_by(ImageRow.id).limit(limit))
    )


def one(session: Session, image_id: int) -> GalleryImage:
    """One image with its boxes."""
    return items(session, [images.get(session, image_id).id])[0]


def apart(session: Session, project_id: int, count: int) -> tuple[GalleryImage, ...]:
    """A few images that do not all show the same thing: apart from each other, by name."""
    ids = select(ImageRow.id).where(conditions(project_id, Filter())).order_by(*order("name"))
    first = session.scalars(ids.limit(APART)).all()
    return items(session, first[:: max(1, len(first) // count)][:count])


def items(session: Session, image_ids: Sequence[int]) -> tuple[GalleryImage, ...]:
    """These images, in this order, with their boxes."""
    query = select(ImageRow).where(ImageRow.id.in_(image_ids))
    rows = {row.id: row for row in session.scalars(query)}
    boxes = labelling.boxes_of(session, image_ids)
    shas = _shas(session, {row.golden_id for row in rows.values() if row.golden_id})
    return tuple(
        GalleryImage(
            image,
            boxes.get(image.id, ()),
            rows[image.id].author,
            shas.get(image.golden_id or 0, ""),
        )
        for image in images.of_rows(session, (rows[id_] for id_ in image_ids if id_ in rows))
    )


def ids(session: Session, project_id: int, chosen: Filter) -> list[int]:
    """The images that a filter lets through, in its order."""
    query = select(ImageRow.id).where(conditions(project_id, chosen)).order_by(*order(chosen.sort))
    return list(session.scalars(query))


def every(session: Session, project_id: int, chosen: Filter) -> Iterator[GalleryImage]:
    """All images that a filter lets through, a window in memory at a time."""
    found = ids(session, project_id, chosen)
    for start in range(0, len(found), MOST):
        yield from items(session, found[start : start + MOST])


def counts(
    session: Session, project_id: int, chosen: Filter, fields: Collection[str] = ()
) -> ImageCounts:
    """How many images each value of each field would show, the other fields standing as they do.

    All fields are counted, or the given ones alone.
    """
    ways: dict[str, Callable[[], dict[str, int]]] = {
        "state": lambda: _tally(session, project_id, replace(chosen, states=()), ImageRow.state),
        "split": lambda: _tally(session, project_id, replace(chosen, splits=()), ImageRow.split),
        "group": lambda: _tally(
            session, project_id, replace(chosen, groups=()), ImageRow.group, 200
        ),
        "author": lambda: _tally(
            session, project_id, replace(chosen, authors=()), ImageRow.author, 50
        ),
        "class": lambda: _tally_classes(session, project_id, replace(chosen, classes=())),
        "golden": lambda: _tally_yes_no(
            session, project_id, replace(chosen, golden=None), ImageRow.golden_id.is_not(None)
        ),
        "proposals": lambda: _tally_yes_no(
            session, project_id, replace(chosen, proposals=None), ImageRow.doubt.is_not(None)
        ),
    }
    found = {field: count() for field, count in ways.items() if field in (fields or ways)}
    return cast(ImageCounts, found)


def conditions(project_id: int, chosen: Filter) -> ColumnElement[bool]:
    """The filter as SQL over the image table."""
    parts: list[ColumnElement[bool]] = [
        ImageRow.project_id == project_id,
        ImageRow.is_golden == chosen.goldens,
        ImageRow.deleted.is_(None),
    ]
    if chosen.states:
        parts.append(ImageRow.state.in_(chosen.states))
    if chosen.splits:
        parts.append(_among(ImageRow.split, chosen.splits))
    if chosen.groups:
        parts.append(ImageRow.group.in_(["" if g == NONE else g for g in chosen.groups]))
    if chosen.authors:
        parts.append(ImageRow.author.in_(["" if a == NONE else a for a in chosen.authors]))
    if chosen.classes:
        parts.append(_of_classes(project_id, chosen.classes))
    if chosen.golden is not None:
        parts.append(ImageRow.golden_id.is_not(None) == chosen.golden)
    if chosen.proposals is not None:
        parts.append(ImageRow.doubt.is_not(None) == chosen.proposals)
    if chosen.text:
        parts.append(ImageRow.name.icontains(chosen.text, autoescape=True))
    parts += days.came(chosen.since, chosen.until)
    parts += facts.having(ImageRow.facts, chosen.said)
    if chosen.ids:
        parts.append(ImageRow.id.in_(chosen.ids))
    return and_(*parts)


def order(sort: str) -> tuple[ColumnElement[Any], ...]:
    """The order that a sort's name stands for; equal images stay in order of their names."""
    if sort == "newest":
        return (ImageRow.id.desc(),)
    if sort == "boxes":
        return (ImageRow.boxes.desc(), ImageRow.name.asc())
    if sort == "doubt":
        return (ImageRow.doubt.desc().nulls_last(), ImageRow.name.asc())
    return (ImageRow.name.asc(),)


def _known(name: str, given: Mapping[str, list[str]], allowed: list[str]) -> tuple[str, ...]:
    values = given.get(name, [])
    for value in values:
        if value not in allowed:
            raise Invalid(f"There is no {name} {value[:40]!r}; there are {', '.join(allowed)}.")
    return tuple(values)


def _yes_no(name: str, given: Mapping[str, list[str]]) -> bool | None:
    values = _known(name, given, ["yes", "no"])
    return None if not values else values[-1] == "yes"


def _among(column: Any, values: Sequence[str]) -> ColumnElement[bool]:
    named = [value for value in values if value != NONE]
    parts = [column.in_(named)] if named else []
    return or_(*parts, column.is_(None)) if NONE in values else and_(*parts)


def _of_classes(project_id: int, names: Sequence[str]) -> ColumnElement[bool]:
    named = [name for name in names if name != NONE]
    meant = select(ClassNameRow.class_id).where(
        ClassNameRow.project_id == project_id, ClassNameRow.name.in_(named)
    )
    # The boxes of a merged class may still follow.
    stands = func.coalesce(ClassRow.merged_into_id, ClassRow.id)
    wanted = select(ClassRow.id).where(ClassRow.project_id == project_id, stands.in_(meant))
    held = select(BoxRow.image_id).where(BoxRow.class_id.in_(wanted))
    labelled = ImageRow.label_id.in_(wanted)
    parts: list[ColumnElement[bool]] = [or_(ImageRow.id.in_(held), labelled)] if named else []
    if NONE in names:
        parts.append((ImageRow.boxes == 0) & ImageRow.label_id.is_(None))
    return or_(*parts)


def _tally(
    session: Session, project_id: int, chosen: Filter, column: Any, most: int = 50
) -> dict[str, int]:
    number = func.count().label("number")
    query: Select[Any] = (
        select(column, number)
        .where(conditions(project_id, chosen))
        .group_by(column)
        .order_by(number.desc())
        .limit(most)
    )
    return {value or NONE: n for value, n in session.execute(query)}


def _tally_yes_no(
    session: Session, project_id: int, chosen: Filter, condition: ColumnElement[bool]
) -> dict[str, int]:
    where = conditions(project_id, chosen)
    query = select(func.count(), func.count().filter(condition)).select_from(ImageRow).where(where)
    total, yes = session.execute(query).one()
    return {"yes": yes, "no": total - yes}


def _tally_classes(session: Session, project_id: int, chosen: Filter) -> dict[str, int]:
    where, now = conditions(project_id, chosen), aliased(ClassRow)
    stands = now.id == func.coalesce(ClassRow.merged_into_id, ClassRow.id)
    boxes = (
        select(now.name, func.count(func.distinct(BoxRow.image_id)))
        .join(ClassRow, stands)
        .join(BoxRow, BoxRow.class_id == ClassRow.id)
        .join(ImageRow, ImageRow.id == BoxRow.image_id)
        .where(where)
        .group_by(now.name)
    )
    labels = (
        select(now.name, func.count())
        .join(ClassRow, stands)
        .join(ImageRow, ImageRow.label_id == ClassRow.id)
        .where(where)
        .group_by(now.name)
    )
    found: dict[str, int] = {}
    for name, number in [*session.execute(boxes), *session.execute(labels)]:
        found[name] = found.get(name, 0) + number
    bare = and_(where, ImageRow.boxes == 0, ImageRow.label_id.is_(None))
    found[NONE] = session.scalar(select(func.count()).select_from(ImageRow).where(bare)) or 0
    return found


def _shas(session: Session, image_ids: set[int]) -> dict[int, str]:
    query = select(ImageRow.id, ImageRow.sha256).where(ImageRow.id.in_(image_ids))
    return {id_: sha256 for id_, sha256 in session.execute(query)} if image_ids else {}
