"""What the classes of a project are called: the one place where names become ids and ids names.

Rows keep a class by its id; people, model files and label files name it. A name means the class
that has it today, else the one that had it last; a merged class stands for what it went into.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from backend.storage.classes import memory
from backend.storage.tables import ClassNameRow, ClassRow, DetectionRow, RunRow

CACHE = "naming"


@dataclass(frozen=True, slots=True)
class Naming:
    """The classes of one project as they are called at one moment.

    `own` has the last name of every class, merged ones too, `stands` what each stands for now,
    and `ids` the class that each name means, earlier names too; one that was taken out of the
    project has a name, but no name means it.
    """

    own: Mapping[int, str] = field(default_factory=dict)
    stands: Mapping[int, int] = field(default_factory=dict)
    ids: Mapping[str, int] = field(default_factory=dict)

    def name(self, class_id: int | None, said: str = "") -> str:
        """What a class is called today; `said` is what it was called where no class was known."""
        stands = None if class_id is None else self.stands.get(class_id)
        return self.today(said) if stands is None else self.own[stands]

    def id(self, name: str) -> int | None:
        """The class that a name of today or of earlier means."""
        return self.ids.get(name.strip())

    def today(self, name: str) -> str:
        """What the class of this name is called today; a name of no class stays."""
        class_id = self.id(name)
        return name if class_id is None else self.own[class_id]

    def now(self, class_id: int | None, name: str = "") -> int | None:
        """What a class stands for now; one without an id, or of another project, goes by name."""
        stands = None if class_id is None else self.stands.get(class_id)
        return self.id(name) if stands is None else stands

    def members(self, names: Iterable[str]) -> set[int]:
        """Every class, merged ones too, that is one of these."""
        wanted = {self.id(name) for name in names}
        return {class_id for class_id, now in self.stands.items() if now in wanted}

    def titles(self, class_ids: Sequence[int]) -> dict[int, str]:
        """A name for each of these, no two alike: what was merged into another says what it was."""
        merged = {one for one in class_ids if self.stands[one] != one}
        both = {one for one in merged if self.stands[one] in class_ids}
        return {
            one: f"{self.own[one]} (now {self.name(one)})" if one in both else self.name(one)
            for one in class_ids
        }

    def detected(self, names: Collection[str]) -> list[ColumnElement[bool]]:
        """The ways in which a detection is of one of these, whatever it was called when it was
        found: each can be walked along an index by score, and no two meet."""
        members = self.members(names)
        said = {name for name, class_id in self.ids.items() if class_id in members}
        unknown = DetectionRow.class_id.is_(None) & DetectionRow.label.in_({*said, *names})
        return [*(DetectionRow.class_id == one for one in sorted(members)), unknown]


def of(session: Session, project_id: int | None) -> Naming:
    """How a project's classes are called; the same throughout a transaction that changes none."""
    if project_id is None:
        return Naming()
    kept = session.info.get(CACHE, {})
    if project_id in kept and kept[project_id][0] is session.get_transaction():
        return kept[project_id][1]  # type: ignore[no-any-return]
    found = memory.of(session, project_id, CACHE, _read)
    session.info.setdefault(CACHE, {})[project_id] = (session.get_transaction(), found)
    return found


def of_run(session: Session, run_id: int) -> Naming:
    """How the classes are called in the project of a run; a run of no project has none."""
    return of(session, session.scalar(select(RunRow.project_id).where(RunRow.id == run_id)))


def forget(session: Session) -> None:
    """Read it anew the next time, because somebody may have changed a class."""
    session.info.pop(CACHE, None)


def changed(session: Session, project_id: int) -> None:
    """Say that this transaction has changed the classes of a project."""
    forget(session)
    memory.changed(session, project_id)


def _read(session: Session, project_id: int) -> Naming:
    rows = session.execute(
        select(ClassRow.id, ClassRow.name, ClassRow.merged_into_id, ClassRow.retired).where(
            ClassRow.project_id == project_id
        )
    ).all()
    names = session.execute(
        select(ClassNameRow.name, ClassNameRow.class_id).where(
            ClassNameRow.project_id == project_id
        )
    ).all()
    own = {id_: name for id_, name, _, _ in rows}
    stands = {id_: merged or id_ for id_, _, merged, _ in rows}
    gone = {id_ for id_, _, _, retired in rows if retired is not None}
    ids = {name: stands[id_] for name, id_ in names if stands[id_] not in gone}
    return Naming(own, stands, ids)
