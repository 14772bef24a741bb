"""The classes of a project: made, renamed, merged, put in order; each stays one, however called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from backend.domain import Class
from backend.errors import NotFound, Refused
from backend.storage import engine
from backend.storage.classes import class_names, memory
from backend.storage.tables import BoxRow, ClassNameRow, ClassRow, ImageRow
from backend.storage.types import now
from backend.storage.writers import locks

# Okabe and Ito's colours that the colour-blind tell apart, without black, then each as far from
# all before it, and from the accent of the interface, as one can be that is seen on dark grey.
PALETTE = (
    "#56B4E9", "#009E73", "#F0E442", "#CC79A7", "#0072B2", "#E69F00", "#D55E00", "#9018F0",
    "#00F000", "#F00060", "#F018C0", "#607800", "#0060F0", "#90F078", "#C0D8A8", "#60F0F0",
    "#C078F0", "#906048", "#F00018", "#A8F000", "#009000", "#307878", "#D86060", "#C01878",
)  # fmt: skip
HOTKEYS = "123456789"
# Letters that do nothing else on the canvas; assets/desk/keys.js has the others.
LETTERS = "imqtuy"
MOST = 10_000


def ensure(session: Session, project_id: int, name: str) -> Class:
    """The class that has or had this name, made if there is none."""
    class_id = ensure_all(session, project_id, [name])[name]
    return _class(session.get_one(ClassRow, class_id))


def ensure_all(session: Session, project_id: int, names: Iterable[str]) -> dict[str, int]:
    """The ids of the classes that have or had these names; those that are none are made."""
    wanted = {name: check_name(name, "class") for name in names}
    known = class_names.of(session, project_id).ids if wanted else {}
    if any(name not in known for name in wanted.values()):
        known = _made(session, project_id, dict.fromkeys(wanted.values()))
    return {name: known[title] for name, title in wanted.items()}


def find(session: Session, project_id: int, name: str) -> Class | None:
    """The class that has this name, else the one that had it last."""
    class_id = class_names.of(session, project_id).id(name)
    row = session.get(ClassRow, class_id) if class_id is not None else None
    return _class(row) if row else None


def add(session: Session, project_id: int, name: str) -> Class:
    """Add a class at the end of the list."""
    name = check_name(name, "class")
    _alone(session, project_id)
    back = _bring_back(session, project_id, [name])
    if not back and session.get(ClassNameRow, (project_id, name)) is not None:
        raise Refused(f"There is already a class named {name!r} (or one had that name before).")
    if not back:
        _add_all(session, project_id, [name])
    row = session.get_one(ClassRow, session.get_one(ClassNameRow, (project_id, name)).class_id)
    return _class(row)


def edit(
    session: Session,
    class_id: int,
    *,
    name: str | None = None,
    color: str | None = None,
    hotkey: str | None = None,
    severity: int | None = None,
) -> Class:
    """Change a class; its labels stay, and its old name finds it until another class has it."""
    row = _held(session, class_id)
    if name is not None and name.strip() != row.name:
        _rename(session, row, check_name(name, "class"))
    if color is not None:
        row.color = _check_color(color)
    if hotkey is not None:
        row.hotkey = _free_hotkey(session, row.project_id, hotkey.lower())
    if severity is not None:
        row.severity = _check_severity(severity)
    session.flush()
    class_names.changed(session, row.project_id)
    return _class(row)


def merge(session: Session, source_id: int, target_id: int) -> None:
    """Make every label of one class a label of another; the first is listed no more.

    What runs found, and what models and snapshots know, keeps the class of its time and is read
    as the other one from now on.
    """
    join(session, source_id, target_id)
    boxes, images = update(BoxRow), update(ImageRow)
    session.execute(boxes.filter_by(class_id=source_id).values(class_id=target_id))
    session.execute(images.filter_by(label_id=source_id).values(label_id=target_id))


def join(session: Session, source_id: int, target_id: int) -> None:
    """Say that one class is another from now on; its boxes are read so, and may follow later."""
    source, target = _held(session, source_id), _class_row(session, target_id)
    if source.id == target.id or source.project_id != target.project_id:
        raise Refused("Choose two different classes of the same project to merge.")
    names = update(ClassNameRow).filter_by(class_id=source.id)
    session.execute(names.values(class_id=target.id))
    earlier = update(ClassRow).filter_by(merged_into_id=source.id)
    session.execute(earlier.values(merged_into_id=target.id))
    source.merged_into_id = target.id
    session.flush()
    class_names.changed(session, target.project_id)
    left = [row.id for row in _rows(session, target.project_id)]
    reorder(session, target.project_id, left)


def retire(session: Session, class_id: int) -> None:
    """List a class no more; no label has it, and what runs found of it keeps its name."""
    row = _held(session, class_id)
    row.retired, row.hotkey = now(), ""
    session.flush()
    class_names.changed(session, row.project_id)
    reorder(session, row.project_id, [one.id for one in _rows(session, row.project_id)])


def reorder(session: Session, project_id: int, class_ids: Iterable[int]) -> None:
    """Put the classes in this order."""
    _alone(session, project_id)
    wanted = list(class_ids)
    rows = {row.id: row for row in _rows(session, project_id)}
    if sorted(wanted) != sorted(rows):
        raise Refused("The new order must name each class of the project exactly once.")
    for index, class_id in enumerate(wanted):
        rows[class_id].index = index
    session.flush()
    class_names.changed(session, project_id)


def of(session: Session, project_id: int) -> tuple[Class, ...]:
    """The classes of a project, in their order."""
    return memory.of(session, project_id, "classes", _all)


def check_name(name: str, what: str) -> str:
    """A name that can be shown, typed and found again."""
    name = name.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise Refused(f"The name of a {what} must have 1 to 200 printable characters.")
    return name


def _alone(session: Session, project_id: int) -> None:
    """Let nobody else change the classes meanwhile, and see what others made of them."""
    locks.naming(session, project_id)
    class_names.forget(session)


def _held(session: Session, class_id: int) -> ClassRow:
    """A class that nobody else changes until the transaction ends."""
    _alone(session, _class_row(session, class_id).project_id)
    return _class_row(session, class_id)


def _made(session: Session, project_id: int, names: Iterable[str]) -> Mapping[str, int]:
    """What all names mean, once there is a class for each of these."""
    _alone(session, project_id)
    _bring_back(session, project_id, names)
    known = class_names.of(session, project_id).ids
    if fresh := [name for name in names if name not in known]:
        _add_all(session, project_id, fresh)
    return class_names.of(session, project_id).ids


def _add_all(session: Session, project_id: int, names: Sequence[str]) -> None:
    """Add classes of names that are free at the end of the list."""
    last = len(_rows(session, project_id))
    if last + len(names) > MOST:
        raise Refused(
            f"The project would have {last + len(names):,} classes, such as {names[-1]!r}, and "
            f"has at most {MOST:,}. Are these the names of classes?"
        )
    rows = [_new(project_id, index, name) for index, name in enumerate(names, last)]
    engine.bulk_insert(session, ClassRow, rows)
    for part in engine.batches(names):
        # Only a class that was taken out can have had these names before.
        had = delete(ClassNameRow).where(ClassNameRow.name.in_(part))
        session.execute(had.where(ClassNameRow.project_id == project_id))
        query = select(ClassRow.id, ClassRow.name).where(
            ClassRow.project_id == project_id,
            ClassRow.name.in_(part),
            ClassRow.merged_into_id.is_(None),
        )
        named = [
            {"project_id": project_id, "name": name, "class_id": id_}
            for id_, name in session.execute(query)
        ]
        engine.bulk_insert(session, ClassNameRow, named)
    class_names.changed(session, project_id)


def _bring_back(session: Session, project_id: int, names: Iterable[str]) -> bool:
    """List classes of these names again that were taken out; tells whether there were any."""
    query = select(ClassRow).filter_by(project_id=project_id).where(ClassRow.retired.is_not(None))
    wanted = set(names)
    gone = [row for row in session.scalars(query.order_by(ClassRow.id)) if row.name in wanted]
    last = len(_rows(session, project_id)) if gone else 0
    for index, row in enumerate(gone, last):
        row.index, row.retired = index, None
    if gone:
        session.flush()
        class_names.changed(session, project_id)
    return bool(gone)


def _new(project_id: int, index: int, name: str) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "index": index,
        "name": name,
        "color": PALETTE[index % len(PALETTE)],
        "hotkey": HOTKEYS[index] if index < len(HOTKEYS) else "",
    }


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
    """A name that another class has given up may be taken; from then on it means this one."""
    if any(one.name == name for one in _rows(session, row.project_id)):
        raise Refused(f"There is already a class named {name!r}; merge the two instead.")
    gone = select(ClassRow.id).filter_by(project_id=row.project_id, name=name)
    if session.scalar(gone.where(ClassRow.retired.is_not(None)).limit(1)) is not None:
        raise Refused(f"A class named {name!r} was taken out, and models know it; add it again.")
    known = session.get(ClassNameRow, (row.project_id, name))
    if known is None:
        session.add(ClassNameRow(project_id=row.project_id, name=name, class_id=row.id))
    else:
        known.class_id = row.id
    row.name = name


def _all(session: Session, project_id: int) -> tuple[Class, ...]:
    return tuple(_class(row) for row in _rows(session, project_id))


def _rows(session: Session, project_id: int) -> list[ClassRow]:
    query = select(ClassRow).filter_by(project_id=project_id, merged_into_id=None, retired=None)
    query = query.order_by(ClassRow.index, ClassRow.id)
    return list(session.scalars(query.execution_options(populate_existing=True)))


def _class_row(session: Session, class_id: int) -> ClassRow:
    row = session.get(ClassRow, class_id, populate_existing=True)
    if row is None or row.merged_into_id is not None or row.retired is not None:
        raise NotFound(f"There is no class {class_id} any more; reload the page.")
    return row


def _class(row: ClassRow) -> Class:
    return Class(row.id, row.index, row.name, row.color, row.hotkey, row.severity)
