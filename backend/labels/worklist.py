"""The images of a project as a person walks through them: what stands before and after one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, and_, false, func, or_, select
from sqlalchemy.orm import Session

from backend.domain import State
from backend.errors import Invalid, NotFound
from backend.labels import gallery
from backend.storage.tables import ImageRow

MOST = 200


@dataclass(frozen=True, slots=True)
class Window:
    """Images in the order of a filter, around one of them; `position` is that one's place."""

    total: int
    position: int
    image_id: int
    items: tuple[gallery.GalleryImage, ...]


def around(
    session: Session,
    project_id: int,
    chosen: gallery.Filter,
    image_id: int,
    before: int = 1,
    after: int = 8,
) -> Window:
    """The neighbours of an image, also of one that the filter no longer lets through; 0: the first.

    A person who marks an image done must not lose the place that it had.
    """
    if not 0 <= before <= MOST or not 0 <= after <= MOST:
        raise Invalid(f"A window holds at most {MOST} images on either side.")
    where = gallery.conditions(project_id, chosen)
    total = session.scalar(select(func.count()).select_from(ImageRow).where(where)) or 0
    middle = image_id or _first(session, where, chosen.sort)
    if not middle:
        return Window(total, 0, 0, ())
    keys = _keys(chosen.sort)
    values = _values(session, project_id, middle, keys)
    earlier, later = _side(keys, values, back=True), _side(keys, values, back=False)
    position = session.scalar(select(func.count()).select_from(ImageRow).where(where, earlier))
    ids = [
        *reversed(_ids(session, and_(where, earlier), keys, before, back=True)),
        middle,
        *_ids(session, and_(where, later), keys, after, back=False),
    ]
    return Window(total, position or 0, middle, gallery.items(session, ids))


def next_new(session: Session, project_id: int, chosen: gallery.Filter, image_id: int) -> int:
    """The next image that nobody has looked at, from the start again after the end; 0: no other."""
    new = gallery.conditions(project_id, replace(chosen, states=(State.NEW,)))
    where = and_(new, ImageRow.id != image_id)
    keys = _keys(chosen.sort)
    if image_id:
        values = _values(session, project_id, image_id, keys)
        later = _side(keys, values, back=False)
        found = _ids(session, and_(where, later), keys, 1, back=False)
        if found:
            return found[0]
    return next(iter(_ids(session, where, keys, 1, back=False)), 0)


@dataclass(frozen=True, slots=True)
class Key:
    """A column of an order; one with gaps has rows without a value, which stand below all."""

    column: ColumnElement[Any]
    descending: bool = False
    gaps: bool = False


Keys = tuple[Key, ...]


def _keys(sort: str) -> Keys:
    """What a sort's name stands for, as listing.order has it."""
    name = Key(ImageRow.name.expression)
    if sort == "newest":
        return (Key(ImageRow.id.expression, descending=True),)
    if sort == "boxes":
        return (Key(ImageRow.boxes.expression, descending=True), name)
    if sort == "doubt":
        return (Key(ImageRow.doubt.expression, descending=True, gaps=True), name)
    return (name,)


def _values(session: Session, project_id: int, image_id: int, keys: Keys) -> Sequence[Any]:
    query = select(*(key.column for key in keys)).where(
        ImageRow.id == image_id, ImageRow.project_id == project_id, ImageRow.deleted.is_(None)
    )
    row = session.execute(query).first()
    if row is None:
        raise NotFound(f"There is no image {image_id} in this project; it may have been deleted.")
    return tuple(row)


def _side(keys: Keys, values: Sequence[Any], *, back: bool) -> ColumnElement[bool]:
    """Rows strictly before, or strictly after, the one with these values."""
    parts: list[ColumnElement[bool]] = []
    for depth, (key, value) in enumerate(zip(keys, values, strict=True)):
        same = [k.column == v for k, v in zip(keys[:depth], values[:depth], strict=True)]
        parts.append(and_(*same, _beyond(key, value, up=key.descending == back)))
    return or_(*parts)


def _beyond(key: Key, value: Any, *, up: bool) -> ColumnElement[bool]:
    """Rows above, or below, a value; said in the column itself, so that its index serves it."""
    if value is None:
        return key.column.is_not(None) if up else false()
    if up:
        return and_(key.column > value)
    return or_(key.column < value, key.column.is_(None)) if key.gaps else and_(key.column < value)


def _ids(
    session: Session, where: ColumnElement[bool], keys: Keys, limit: int, *, back: bool
) -> list[int]:
    order = [_ordered(key, down=key.descending != back) for key in keys]
    return list(session.scalars(select(ImageRow.id).where(where).order_by(*order).limit(limit)))


def _ordered(key: Key, *, down: bool) -> ColumnElement[Any]:
    order = key.column.desc() if down else key.column.asc()
    if not key.gaps:
        return order
    return order.nulls_last() if down else order.nulls_first()


def _first(session: Session, where: ColumnElement[bool], sort: str) -> int:
    return next(iter(_ids(session, where, _keys(sort), 1, back=False)), 0)
