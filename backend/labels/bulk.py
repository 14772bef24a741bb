"""One change of many images, with what undoes it.

Unlike its neighbours it opens its own transactions, one a part, so that nobody waits for a change
of any size. Done again, it goes on where it was ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from backend.domain import Split, State
from backend.errors import Invalid, LoupeError, NotFound
from backend.labels import images, state_marks
from backend.storage import engine
from backend.storage.tables import ImageRow
from backend.storage.writers import parts

OPPOSITE = {"delete": "restore", "restore": "delete"}
STOPPED = "The database did not take the rest."
Write = Callable[[Session, Sequence[int]], object]
Before = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Change:
    """What to do: split, group, state, delete or restore, and the new value."""

    action: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class UndoStep:
    """A change that takes back a part of another, and the images it is of."""

    action: str
    value: str
    images: Sequence[int]


@dataclass(frozen=True, slots=True)
class Changed:
    """What came of a change: `undo` lists, by old value, the images that had it.

    Where the change was ended in the middle, `error` says why; what is changed can be undone.
    """

    changed: int
    undo: Sequence[UndoStep]
    error: str


def change(
    begin: parts.Begin, project_id: int, wanted: Change, image_ids: Sequence[int], author: str
) -> Changed:
    """Change the images; `begin` opens a transaction that writes."""
    write = _write(wanted, author)
    before: Before = {}

    def step(session: Session, part: Sequence[int]) -> Before:
        had = _before(session, project_id, wanted.action, part)
        write(session, part)
        return had

    error = ""
    try:
        for _, had in parts.each(begin, image_ids, step):
            for value, ids in had.items():
                before.setdefault(value, []).extend(ids)
    except (LoupeError, DBAPIError) as broken:
        if not before:
            raise
        error = str(broken) if isinstance(broken, LoupeError) else STOPPED
    changed = sum(map(len, before.values()))
    return Changed(changed, _undo(wanted.action, before), error)


def _write(wanted: Change, author: str) -> Write:
    """What is done to a part of the images; a value that cannot be is refused before any is."""
    if wanted.action == "split":
        split = _split(wanted.value)
        return lambda session, ids: images.set_split(session, ids, split)
    if wanted.action == "group":
        return lambda session, ids: images.set_group(session, ids, wanted.value)
    if wanted.action == "state":
        state = _state(wanted.value)
        return lambda session, ids: state_marks.mark(session, ids, state, author)
    if wanted.action == "delete":
        return images.put_away
    if wanted.action == "restore":
        return images.bring_back
    raise Invalid(f"Images cannot be changed by {wanted.action[:40]!r}.")


def refuse_strange(session: Session, project_id: int, image_ids: Sequence[int]) -> None:
    """Refuse images of which some are not in the project, before any is changed."""
    for part in engine.batches(image_ids):
        _before(session, project_id, "", part)


def _before(session: Session, project_id: int, action: str, image_ids: Sequence[int]) -> Before:
    column: Any = {"split": ImageRow.split, "group": ImageRow.group}.get(action, ImageRow.state)
    query = select(ImageRow.id, column).where(
        ImageRow.id.in_(image_ids), ImageRow.project_id == project_id
    )
    rows = session.execute(query).all()
    if len(rows) != len(set(image_ids)):
        raise NotFound("Some of these images are not in this project; reload the page.")
    before: Before = {}
    for id_, value in rows:
        before.setdefault(value or "", []).append(id_)
    return before


def _undo(action: str, before: Before) -> list[UndoStep]:
    if action in OPPOSITE:
        ids = [id_ for group in before.values() for id_ in group]
        return [UndoStep(OPPOSITE[action], "", ids)]
    return [UndoStep(action, value, ids) for value, ids in before.items()]


def _split(value: str) -> Split | None:
    if value and value not in list(Split):
        raise Invalid(f"There is no split {value[:40]!r}; there are {', '.join(Split)}.")
    return Split(value) if value else None


def _state(value: str) -> State:
    if value not in list(State):
        raise Invalid(f"There is no state {value[:40]!r}; there are {', '.join(State)}.")
    return State(value)
