"""One change of many images, with what undoes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Split, State
from backend.errors import Invalid, NotFound
from backend.services import growing, images, labelling
from backend.storage.tables import ImageRow

PART = 10_000


@dataclass(frozen=True, slots=True)
class Change:
    """What to do: split, group, state, delete or restore, and the new value."""

    action: str
    value: str = ""


def change(
    session: Session, project_id: int, wanted: Change, image_ids: Sequence[int], author: str
) -> dict[str, Any]:
    """Change the images; `undo` lists, by old value, the images that had it."""
    before = _before(session, project_id, wanted.action, image_ids)
    if wanted.action == "split":
        images.set_split(session, image_ids, _split(wanted.value))
    elif wanted.action == "group":
        images.set_group(session, image_ids, wanted.value)
    elif wanted.action == "state":
        _set_state(session, image_ids, _state(wanted.value), author)
        growing.after_label(session, project_id)
    elif wanted.action == "delete":
        images.put_away(session, image_ids)
    elif wanted.action == "restore":
        images.bring_back(session, image_ids)
    else:
        raise Invalid(f"Images cannot be changed by {wanted.action[:40]!r}.")
    return {"changed": len(image_ids), "undo": _undo(wanted.action, before)}


def _before(
    session: Session, project_id: int, action: str, image_ids: Sequence[int]
) -> dict[str, list[int]]:
    column: Any = {"split": ImageRow.split, "group": ImageRow.group}.get(action, ImageRow.state)
    before: dict[str, list[int]] = {}
    for start in range(0, len(image_ids), PART):
        part = image_ids[start : start + PART]
        query = select(ImageRow.id, column).where(
            ImageRow.id.in_(part), ImageRow.project_id == project_id
        )
        rows = session.execute(query).all()
        if len(rows) != len(set(part)):
            raise NotFound("Some of these images are not in this project; reload the page.")
        for id_, value in rows:
            before.setdefault(value or "", []).append(id_)
    return before


def _undo(action: str, before: dict[str, list[int]]) -> list[dict[str, Any]]:
    opposite = {"delete": "restore", "restore": "delete"}
    if action in opposite:
        ids = [id_ for group in before.values() for id_ in group]
        return [{"action": opposite[action], "value": "", "images": ids}]
    return [{"action": action, "value": value, "images": ids} for value, ids in before.items()]


def _split(value: str) -> Split | None:
    if value and value not in list(Split):
        raise Invalid(f"There is no split {value[:40]!r}; there are {', '.join(Split)}.")
    return Split(value) if value else None


def _state(value: str) -> State:
    if value not in list(State):
        raise Invalid(f"There is no state {value[:40]!r}; there are {', '.join(State)}.")
    return State(value)


def _set_state(session: Session, image_ids: Sequence[int], state: State, author: str) -> None:
    """A state is part of what was said of an image, so each change is a revision."""
    for id_ in image_ids:
        image = images.get(session, id_)
        if image.state != state:
            boxes = labelling.boxes_of(session, [id_]).get(id_, ())
            action = f"marked {state.value}"
            labelling.save(session, id_, image.version, boxes, author, state=state, action=action)
