"""Projects and their classes: make, find, list, rename, merge, reorder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.domain import Class, Project, Task
from backend.errors import NotFound, Refused
from backend.storage.tables import BoxRow, ClassNameRow, ClassRow, ImageRow, ProjectRow

# Okabe and Ito's eight colours that the colour-blind tell apart, without black, then an
# extension in the same spirit; none of them is the accent of the interface.
PALETTE = (
    "#56B4E9", "#009E73", "#F0E442", "#CC79A7", "#0072B2", "#E69F00", "#D55E00",
    "#88CCEE", "#44AA99", "#DDCC77", "#AA4499", "#6699CC", "#999933", "#CC6677",
)  # fmt: skip
HOTKEYS = "123456789"
# Letters that do nothing else on the canvas; assets/canvas/keys.js has the others.
LETTERS = "bimqtuy"
NAMED = 5
# A database keeps no number with more digits.
LONGEST_ID = 18
FOLDERS = (".", "..")


@dataclass(frozen=True, slots=True)
class Summary:
    """A project with the counts that lists show."""

    project: Project
    images: int
    goldens: int
    labelled: int
    boxes: dict[str, int]


def create(
    session: Session, name: str, task: Task = Task.DETECT, classes: Sequence[str] = ()
) -> Project:
    """Make a project; its name must be free."""
    name = refuse_taken(session, name)
    row = ProjectRow(name=name, task=task)
    session.add(row)
    session.flush()
    for title in classes:
        ensure_class(session, row.id, title)
    return _project(session, row)


def refuse_taken(session: Session, name: str) -> str:
    """The name, if a new project may have it: asked before long work is done for it."""
    name = check_name(name, "project")
    if name in FOLDERS:
        raise Refused(f"{name!r} means a folder in an address; choose another name.")
    if session.scalar(select(ProjectRow.id).where(ProjectRow.name == name)):
        raise Refused(f"There is already a project named {name!r}; choose another name.")
    return name


def find(session: Session, name: str) -> Project:
    """The project of that name."""
    row = session.scalar(select(ProjectRow).where(ProjectRow.name == name))
    if row is None:
        raise NotFound(f"There is no project named {name!r}{_others(session)}.")
    return _project(session, row)


def known(session: Session, name: str) -> bool:
    """Whether there is a project of that name."""
    return session.scalar(select(ProjectRow.id).where(ProjectRow.name == name)) is not None


def addressed(session: Session, named: str) -> int | None:
    """The id of the project of that name, else of the one with that number."""
    found = session.scalar(select(ProjectRow.id).where(ProjectRow.name == named))
    if found is not None or not named.isdecimal() or len(named) > LONGEST_ID:
        return found
    return session.scalar(select(ProjectRow.id).where(ProjectRow.id == int(named)))


def get(session: Session, project_id: int) -> Project:
    """The project with that id."""
    row = session.get(ProjectRow, project_id)
    if row is None:
        raise NotFound(f"There is no project {project_id}.")
    return _project(session, row)


def find_or_create(session: Session, name: str, task: Task = Task.DETECT) -> Project:
    """The project of that name, made if it is not there."""
    if session.scalar(select(ProjectRow.id).where(ProjectRow.name == name)):
        return find(session, name)
    return create(session, name, task)


def options(session: Session, project_id: int) -> dict[str, Any]:
    """What a project has chosen, by name."""
    get(session, project_id)
    return dict(session.scalars(select(ProjectRow.options).filter_by(id=project_id)).one())


def set_option(session: Session, project_id: int, name: str, value: Any) -> None:
    """Choose something for a project."""
    lock(session, project_id)
    chosen = options(session, project_id) | {name: value}
    session.execute(update(ProjectRow).filter_by(id=project_id).values(options=chosen))


def lock(session: Session, project_id: int) -> None:
    """Let nobody else change the project's row until the transaction ends; rows may be added."""
    query = select(ProjectRow.id).filter_by(id=project_id)
    session.execute(query.with_for_update(key_share=True))


def _others(session: Session) -> str:
    names = session.scalars(select(ProjectRow.name).order_by(ProjectRow.name).limit(NAMED)).all()
    return f"; there is {', '.join(names)}" if names else ""


def names(session: Session, ids: Iterable[int]) -> dict[int, str]:
    """What these projects are called."""
    query = select(ProjectRow.id, ProjectRow.name).where(ProjectRow.id.in_(set(ids)))
    return {project_id: name for project_id, name in session.execute(query)}


def summaries(session: Session) -> list[Summary]:
    """Every project with its counts, by name."""
    rows = session.scalars(select(ProjectRow).order_by(ProjectRow.name)).all()
    return [_summary(session, _project(session, row)) for row in rows]


def ensure_class(session: Session, project_id: int, name: str) -> Class:
    """The class that has or had this name, made if there is none."""
    known = find_class(session, project_id, name)
    return known or add_class(session, project_id, name)


def find_class(session: Session, project_id: int, name: str) -> Class | None:
    """The class that has or had this name."""
    found = session.get(ClassNameRow, (project_id, name.strip()))
    row = session.get(ClassRow, found.class_id) if found else None
    return _class(row) if row else None


def add_class(session: Session, project_id: int, name: str) -> Class:
    """Add a class at the end of the list."""
    name = check_name(name, "class")
    if session.get(ClassNameRow, (project_id, name)):
        raise Refused(f"There is already a class named {name!r} (or one had that name before).")
    index = len(_rows(session, project_id))
    row = ClassRow(
        project_id=project_id,
        index=index,
        name=name,
        color=PALETTE[index % len(PALETTE)],
        hotkey=HOTKEYS[index] if index < len(HOTKEYS) else "",
    )
    session.add(row)
    session.flush()
    session.add(ClassNameRow(project_id=project_id, name=name, class_id=row.id))
    session.flush()
    return _class(row)


def edit_class(
    session: Session,
    class_id: int,
    *,
    name: str | None = None,
    color: str | None = None,
    hotkey: str | None = None,
    severity: int | None = None,
) -> Class:
    """Change a class; its labels stay, and its old name still finds it."""
    row = _class_row(session, class_id)
    if name is not None and name.strip() != row.name:
        _rename(session, row, check_name(name, "class"))
    if color is not None:
        row.color = _check_color(color)
    if hotkey is not None:
        row.hotkey = _free_hotkey(session, row.project_id, hotkey.lower())
    if severity is not None:
        row.severity = _check_severity(severity)
    session.flush()
    return _class(row)


def merge_classes(session: Session, source_id: int, target_id: int) -> None:
    """Make every label of one class a label of another; the first is listed no more."""
    source, target = _class_row(session, source_id), _class_row(session, target_id)
    if source.id == target.id or source.project_id != target.project_id:
        raise Refused("Choose two different classes of the same project to merge.")
    move = {"class_id": target.id}
    session.execute(update(BoxRow).filter_by(class_id=source.id).values(move))
    session.execute(update(ClassNameRow).filter_by(class_id=source.id).values(move))
    session.execute(update(ImageRow).filter_by(label_id=source.id).values(label_id=target.id))
    earlier = update(ClassRow).filter_by(merged_into_id=source.id)
    session.execute(earlier.values(merged_into_id=target.id))
    source.merged_into_id = target.id
    session.flush()
    left = [row.id for row in _rows(session, target.project_id)]
    reorder_classes(session, target.project_id, left)


def reorder_classes(session: Session, project_id: int, class_ids: Iterable[int]) -> None:
    """Put the classes in this order."""
    wanted = list(class_ids)
    rows = {row.id: row for row in _rows(session, project_id)}
    if sorted(wanted) != sorted(rows):
        raise Refused("The new order must name each class of the project exactly once.")
    for index, class_id in enumerate(wanted):
        rows[class_id].index = index
    session.flush()


def classes(session: Session, project_id: int) -> tuple[Class, ...]:
    """The classes of a project, in their order."""
    return tuple(_class(row) for row in _rows(session, project_id))


def check_name(name: str, what: str) -> str:
    """A name that can be shown, typed and found again."""
    name = name.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise Refused(f"The name of a {what} must have 1 to 200 printable characters.")
    return name


def _check_color(color: str) -> str:
    if len(color) != 7 or color[0] != "#" or not set(color[1:]) <= set("0123456789abcdefABCDEF"):
        raise Refused(f"{color[:20]!r} is not a colour; write it as #RRGGBB, for example #56B4E9.")
    return color


def _check_severity(severity: int) -> int:
    if not 0 <= severity <= 10:
        raise Refused("The severity of a class is a number from 0 (note only) to 10.")
    return severity


def _free_hotkey(session: Session, project_id: int, hotkey: str) -> str:
    """The key, taken from the class that had it."""
    if len(hotkey) > 1 or hotkey not in HOTKEYS + LETTERS:
        raise Refused(
            f"The key of a class is a digit from 1 to 9 or one of {', '.join(LETTERS)}; "
            "the other letters do other things."
        )
    if hotkey:
        session.execute(
            update(ClassRow).filter_by(hotkey=hotkey, project_id=project_id).values(hotkey="")
        )
    return hotkey


def _rename(session: Session, row: ClassRow, name: str) -> None:
    owner = session.get(ClassNameRow, (row.project_id, name))
    if owner and owner.class_id != row.id:
        raise Refused(f"There is already a class named {name!r}; merge the two instead.")
    if owner is None:
        session.add(ClassNameRow(project_id=row.project_id, name=name, class_id=row.id))
    row.name = name


def _rows(session: Session, project_id: int) -> list[ClassRow]:
    query = select(ClassRow).filter_by(project_id=project_id, merged_into_id=None)
    return list(session.scalars(query.order_by(ClassRow.index, ClassRow.id)))


def _class_row(session: Session, class_id: int) -> ClassRow:
    row = session.get(ClassRow, class_id)
    if row is None or row.merged_into_id is not None:
        raise NotFound(f"There is no class {class_id} any more; reload the page.")
    return row


def _class(row: ClassRow) -> Class:
    return Class(row.id, row.index, row.name, row.color, row.hotkey, row.severity)


def _project(session: Session, row: ProjectRow) -> Project:
    return Project(row.id, row.name, Task(row.task), classes(session, row.id))


def _summary(session: Session, project: Project) -> Summary:
    here = (ImageRow.project_id == project.id) & ImageRow.deleted.is_(None)
    counts = session.execute(
        select(
            func.count().filter(~ImageRow.is_golden),
            func.count().filter(ImageRow.is_golden),
            func.count().filter(~ImageRow.is_golden & (ImageRow.state == "done")),
        )
        .select_from(ImageRow)
        .where(here)
    ).one()
    boxes = session.execute(
        select(BoxRow.class_id, func.count())
        .join(ImageRow, ImageRow.id == BoxRow.image_id)
        .where(here)
        .group_by(BoxRow.class_id)
    ).all()
    by_class: dict[int, int] = {class_id: count for class_id, count in boxes}
    images, goldens, labelled = counts
    named = {kind.name: by_class.get(kind.id, 0) for kind in project.classes}
    return Summary(project, images, goldens, labelled, named)
