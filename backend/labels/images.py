"""The images of a project: add, find, change many at once, put away and bring back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, exists, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain import Box, Image, Split, State
from backend.errors import Invalid, NotFound
from backend.labels import labelling
from backend.projects import classes
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.tables import ImageRow
from backend.storage.types import now
from backend.storage.writers import locks

NO_LOT = "none"  # what filters call the images of no lot


@dataclass(frozen=True, slots=True)
class NewImage:
    """A picture whose bytes are already in the store, to be added to a project."""

    name: str
    sha256: str
    width: int
    height: int
    boxes: tuple[Box, ...] = ()
    label: str = ""
    split: Split | None = None
    group: str = ""
    golden: str = ""
    is_golden: bool = False
    labelled: bool = False


def add(session: Session, project_id: int, new: Sequence[NewImage], author: str) -> int:
    """Add the images whose name is new to the project; returns how many that were.

    `golden` names an image of the project, or of the same call; new class names become classes.
    """
    locks.naming(session, project_id)
    known = ids(session, project_id, [image.name for image in new])
    fresh = list({image.name: image for image in new if image.name not in known}.values())
    class_ids = _class_ids(session, project_id, fresh)
    goldens = [image for image in fresh if image.is_golden]
    _insert(session, project_id, goldens, {}, class_ids, author)
    golden_ids = ids(session, project_id, {image.golden for image in fresh if image.golden})
    rest = [image for image in fresh if not image.is_golden]
    _insert(session, project_id, rest, golden_ids, class_ids, author)
    return len(fresh)


def ids(session: Session, project_id: int, names: Collection[str]) -> dict[str, int]:
    """The ids of the images that have these names, also of those put away."""
    found: dict[str, int] = {}
    for part in engine.batches(list(names)):
        query = select(ImageRow.name, ImageRow.id).where(
            ImageRow.project_id == project_id, ImageRow.name.in_(part)
        )
        found.update((name, id_) for name, id_ in session.execute(query))
    return found


def get(session: Session, image_id: int) -> Image:
    """The image with that id."""
    row = session.get(ImageRow, image_id)
    if row is None or row.deleted is not None:
        raise NotFound(f"There is no image {image_id}; it may have been deleted.")
    return of_rows(session, [row])[0]


def find(session: Session, project_id: int, name: str) -> Image:
    """The image of that name."""
    found = ids(session, project_id, [name])
    if name not in found:
        raise NotFound(f"There is no image named {name!r} in this project.")
    return get(session, found[name])


def of_rows(session: Session, rows: Iterable[ImageRow]) -> list[Image]:
    """Rows as images."""
    rows = list(rows)
    return [_image(row, _label(session, row)) for row in rows]


def _label(session: Session, row: ImageRow) -> str:
    """Read only where images are classified."""
    return class_names.of(session, row.project_id).name(row.label_id) if row.label_id else ""


def set_split(session: Session, image_ids: Sequence[int], split: Split | None) -> int:
    """Say what these images are used for; None leaves it to each snapshot."""
    return _change(session, image_ids, {"split": split})


def set_group(session: Session, image_ids: Sequence[int], group: str) -> int:
    """Put these images into one group, such as a lot; groups are never torn by a split."""
    refuse_none(group.strip())
    return _change(session, image_ids, {"group": group.strip()})


def refuse_none(lot: str) -> None:
    """Refuse a lot that filters could not tell from the images of no lot."""
    if lot == NO_LOT:
        raise Invalid(f"No lot is named {NO_LOT!r}: filters call the images of no lot so.")


def set_golden(session: Session, image_ids: Sequence[int], golden_id: int | None) -> int:
    """Name the clean reference of these images."""
    if golden_id is not None:
        get(session, golden_id)
    return _change(session, image_ids, {"golden_id": golden_id})


def has_goldens(session: Session, project_id: int) -> bool:
    """Whether any image of the project has a clean reference."""
    query = select(ImageRow.id).where(
        ImageRow.project_id == project_id,
        ImageRow.golden_id.is_not(None),
        ImageRow.deleted.is_(None),
    )
    return session.scalar(query.limit(1)) is not None


def put_away(session: Session, image_ids: Sequence[int]) -> int:
    """Delete images from the project's view; snapshots, runs and history keep them."""
    return _change(session, image_ids, {"deleted": now()})


def there(column: ColumnElement[int] | InstrumentedAttribute[int]) -> ColumnElement[bool]:
    """Whether an image that another table names is in its project and not put away."""
    return exists().where(ImageRow.id == column, ImageRow.deleted.is_(None))


def bring_back(session: Session, image_ids: Sequence[int]) -> int:
    """Undo `put_away`."""
    return _change(session, image_ids, {"deleted": None})


def _change(session: Session, image_ids: Sequence[int], values: Mapping[str, Any]) -> int:
    changed = 0
    for part in engine.batches(image_ids):
        query = update(ImageRow).where(ImageRow.id.in_(part)).values(dict(values))
        result: Any = session.execute(query, execution_options={"synchronize_session": False})
        changed += result.rowcount
    session.expire_all()
    return changed


def _insert(
    session: Session,
    project_id: int,
    new: Sequence[NewImage],
    golden_ids: Mapping[str, int],
    class_ids: Mapping[str, int],
    author: str,
) -> None:
    at = now()
    rows = [
        {
            "project_id": project_id,
            "name": image.name,
            "sha256": image.sha256,
            "width": image.width,
            "height": image.height,
            "added": at,
            "split": image.split,
            "group_name": image.group,
            "golden_id": golden_ids.get(image.golden),
            "is_golden": image.is_golden,
            "state": _state(image),
            "version": 1 if image.labelled else 0,
            "label_id": class_ids.get(image.label),
            "comment": "",
            "author": author if image.labelled else "",
            "box_count": len(image.boxes),
        }
        for image in new
    ]
    engine.bulk_insert(session, ImageRow, rows)
    labelled = [image for image in new if image.labelled]
    image_ids = ids(session, project_id, [image.name for image in labelled])
    first = [
        labelling.First(image_ids[image.name], image.boxes, class_ids.get(image.label))
        for image in labelled
    ]
    labelling.insert_first(session, first, class_ids, author, at)


def _state(image: NewImage) -> State:
    return State.DONE if image.labelled else State.NEW


def _class_ids(session: Session, project_id: int, new: Sequence[NewImage]) -> dict[str, int]:
    names = {box.label: None for image in new for box in image.boxes}
    names |= {image.label: None for image in new if image.label}
    return classes.ensure_all(session, project_id, names)


def _image(row: ImageRow, label: str) -> Image:
    return Image(
        id=row.id,
        project_id=row.project_id,
        name=row.name,
        sha256=row.sha256,
        width=row.width,
        height=row.height,
        state=State(row.state),
        version=row.version,
        split=Split(row.split) if row.split else None,
        group=row.group,
        golden_id=row.golden_id,
        is_golden=row.is_golden,
        label=label,
        comment=row.comment,
    )
