"""One change of many images, with what undoes it.

Unlike its neighbours it opens its own transactions, one a part, so that nobody waits for a change
of any size. Done again, it goes on where it was ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import String, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from backend.domain import Project, Split, State, Task
from backend.errors import Invalid, LoupeError, NotFound
from backend.labels import images, state_marks
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.tables import ImageRow
from backend.storage.writers import parts

OPPOSITE = {"delete": "restore", "restore": "delete"}
CLASS, CLASS_BACK = "class", "class-back"
STOPPED = "The database did not take the rest."
Write = Callable[[Session, Sequence[int]], object]
Before = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Change:
    """What to do: split, group, state, class, delete or restore, and the new value.

    A class is named, "" for none of them; `class-back` brings a state and the id of a class.
    """

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
    write = _write(project_id, wanted, author)
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


def _write(project_id: int, wanted: Change, author: str) -> Write:
    """What is done to a part of the images; a value that cannot be is refused before any is."""
    if wanted.action == "split":
        split = _split(wanted.value)
        return lambda session, ids: images.set_split(session, ids, split)
    if wanted.action == "group":
        return lambda session, ids: images.set_group(session, ids, wanted.value)
    if wanted.action == "state":
        state = _state(wanted.value)
        return lambda session, ids: state_marks.mark(session, ids, state, author)
    if wanted.action == CLASS:
        return lambda session, ids: state_marks.name(
            session, ids, _class(session, project_id, wanted.value), author
        )
    if wanted.action == CLASS_BACK:
        state_, class_id = _stood(wanted.value)
        return lambda session, ids: state_marks.name(
            session, ids, _own(session, project_id, class_id), author, state_
        )
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
    if action in (CLASS, CLASS_BACK):
        class_id = func.coalesce(ImageRow.label_id, 0).cast(String)
        column = ImageRow.state.concat(" ").concat(class_id)
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
    back = CLASS_BACK if action == CLASS else action
    return [UndoStep(back, value, ids) for value, ids in before.items()]


def _split(value: str) -> Split | None:
    if value and value not in list(Split):
        raise Invalid(f"There is no split {value[:40]!r}; there are {', '.join(Split)}.")
    return Split(value) if value else None


def _state(value: str) -> State:
    if value not in list(State):
        raise Invalid(f"There is no state {value[:40]!r}; there are {', '.join(State)}.")
    return State(value)


def _class(session: Session, project_id: int, name: str) -> int | None:
    """The class of that name, or (for "") none; only where whole pictures have one."""
    project = _of_classes(session, project_id)
    found = class_names.of(session, project_id).id(name)
    if name and found is None:
        raise Invalid(f"There is no class {name[:80]!r} in {project.name}.")
    return found


def _of_classes(session: Session, project_id: int) -> Project:
    project = catalogue.get(session, project_id)
    if project.task is not Task.CLASSIFY:
        raise Invalid(f"Images of {project.name} have boxes, and no class as a whole.")
    return project


def _stood(value: str) -> tuple[State, int]:
    """The state and the class's id that images had before they were given another class."""
    state, _, number = value.partition(" ")
    if not number.isdecimal() or len(number) > 18:
        raise Invalid(f"{value[:40]!r} is no state with the number of a class.")
    return _state(state), int(number)


def _own(session: Session, project_id: int, class_id: int) -> int | None:
    """What that class is today, if the project has it still."""
    _of_classes(session, project_id)
    return class_names.of(session, project_id).stands.get(class_id)
