"""Who asks: in a session of a person, the rows of projects that are shut to them are not there.

The filter stands here, under every query, so that no route and no service can forget it; what it
cannot filter is refused. Workers and the command line ask as the owner, who sees all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Executable, Result, bindparam, event, exists, or_, select
from sqlalchemy.orm import ORMExecuteState, Session, sessionmaker, with_loader_criteria
from sqlalchemy.orm.interfaces import CriteriaOption

from backend.domain import Bearer, Person, Role
from backend.storage import tables

Query = TypeVar("Query", bound=Executable)
Seen = Callable[[Any], ColumnElement[bool]]

MEMBERS = "members"
_ASKER, _SHUT, _ALL = "loupe_asker", "loupe_shut", "loupe_of_all_projects"
# Values come with each statement, so that one compiled statement serves everybody.
_CLOSED: Any = bindparam(_SHUT, expanding=True)
_NAME: Any = bindparam(_ASKER)


def _own(row: Any) -> ColumnElement[bool]:
    """What has no project, as a folder looked at from the command line, is its author's alone."""
    # Of an empty list even what is no project is not a part.
    shared = row.project_id.is_not(None) & row.project_id.not_in(_CLOSED)
    return or_(shared, row.project_id.is_(None) & (row.author == _NAME))


def _of_image(row: Any) -> ColumnElement[bool]:
    image = tables.ImageRow.__table__.alias()
    there = exists().where(image.c.id == row.image_id, image.c.project_id.not_in(_CLOSED))
    return there.correlate_except(image)


def _of_run(row: Any) -> ColumnElement[bool]:
    run = tables.RunRow.__table__.alias()
    return exists().where(run.c.id == row.run_id, _own(run.c)).correlate_except(run)


def _of_job(row: Any) -> ColumnElement[bool]:
    job = tables.JobRow.__table__.alias()
    return exists().where(job.c.id == row.job_id, _own(job.c)).correlate_except(job)


def _of_tracked(row: Any) -> ColumnElement[bool]:
    tracked = tables.TrackedRunRow.__table__.alias()
    open_ = tracked.c.project_id.not_in(_CLOSED)
    return exists().where(tracked.c.id == row.tracked_run_id, open_).correlate_except(tracked)


def _of_snapshot(row: Any) -> ColumnElement[bool]:
    snapshot = tables.SnapshotRow.__table__.alias()
    there = exists().where(snapshot.c.id == row.snapshot_id, snapshot.c.project_id.not_in(_CLOSED))
    return there.correlate_except(snapshot)


def _of_search(row: Any) -> ColumnElement[bool]:
    search = tables.SearchRow.__table__.alias()
    there = exists().where(search.c.id == row.search_id, search.c.project_id.not_in(_CLOSED))
    return there.correlate_except(search)


# Each row of each of these tables leads to a project. (A lambda each: they are told apart by it.)
LEADING: Mapping[Any, Seen] = {
    tables.ProjectRow: lambda row: row.id.not_in(_CLOSED),
    tables.ClassRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.ClassNameRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.ImageRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.SnapshotRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.SelectionRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.ModelRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.SearchRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.JobRow: lambda row: _own(row),
    tables.RunRow: lambda row: _own(row),
    tables.BoxRow: lambda row: _of_image(row),
    tables.RevisionRow: lambda row: _of_image(row),
    tables.DoubtRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.DismissalRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.CropRow: lambda row: _of_image(row),
    tables.PictureRow: lambda row: _of_image(row),
    tables.SnapshotImageRow: lambda row: _of_snapshot(row),
    tables.TrialRow: lambda row: _of_search(row),
    tables.JobEventRow: lambda row: _of_job(row),
    tables.DecisionRow: lambda row: _of_run(row),
    tables.RepeatRow: lambda row: _of_run(row),
    tables.LeaseRow: lambda row: _of_run(row),
    tables.RunImageRow: lambda row: _of_run(row),
    tables.DetectionRow: lambda row: _of_run(row),
    tables.PartSumRow: lambda row: _of_run(row),
    tables.BoardSumRow: lambda row: _of_run(row),
    tables.ClassSumRow: lambda row: _of_run(row),
    tables.BoardMarkRow: lambda row: _of_run(row),
    tables.MetricRow: lambda row: _of_job(row),
    tables.TurnRow: lambda row: _of_job(row),
    tables.TrackedRunRow: lambda row: row.project_id.not_in(_CLOSED),
    tables.TrackedFigureRow: lambda row: _of_tracked(row),
}
# The rows of these belong to no project.
APART = (
    tables.WorkerRow,
    tables.PersonRow,
    tables.LoginRow,
    tables.TokenRow,
    tables.TokenUseRow,
    tables.SettingRow,
    tables.OutboxRow,
    tables.LoadRow,
)
CRITERIA: Any = tuple(
    with_loader_criteria(
        table, seen, include_aliases=True, propagate_to_loaders=False, track_closure_variables=False
    )
    for table, seen in LEADING.items()
)


class _Filters(CriteriaOption):
    """All criteria as one option: a statement's key in the cache of compiled ones stays short."""

    _traverse_internals = []  # noqa: RUF012
    propagate_to_loaders = False

    def process_compile_state(self, compile_state: Any) -> None:
        self.get_global_criteria(compile_state.global_attributes)

    def process_compile_state_replaced_entities(
        self,
        compile_state: Any,
        mapper_entities: Any,  # noqa: ARG002
    ) -> None:
        self.process_compile_state(compile_state)

    def get_global_criteria(self, attributes: dict[Any, Any]) -> None:
        for one in CRITERIA:
            one.get_global_criteria(attributes)


FILTERS = _Filters()


def asked_by(person: Person | None) -> dict[str, Any]:
    """The `info` of a session in which a person asks; without one it is the owner's."""
    return {_ASKER: person}


def of_all(query: Query) -> Query:
    """The query over all projects, for places in a queue and other bare numbers."""
    return query.execution_options(**{_ALL: True})


def shut(session: Session, person: Person) -> frozenset[int]:
    """The projects that a person may not enter."""
    if sees_all(person):
        return frozenset()
    rows = session.execute(of_all(select(tables.ProjectRow.id, tables.ProjectRow.options)))
    return frozenset(id_ for id_, chosen in rows if not _enters(id_, chosen.get(MEMBERS), person))


def sees_all(person: Person) -> bool:
    """Whether no project is shut to a person."""
    return person.role is Role.ADMIN and _named(person) is None


def guard(sessions: sessionmaker[Session]) -> sessionmaker[Session]:
    """Filter all that is asked in these sessions."""
    event.listen(sessions, "do_orm_execute", _filtered)
    return sessions


def _filtered(asked: ORMExecuteState) -> Result[Any] | None:
    person: Person | None = asked.session.info.get(_ASKER)
    if person is None or sees_all(person) or asked.execution_options.get(_ALL):
        return None
    if asked.is_insert or asked.is_column_load:
        return None
    if not asked.is_orm_statement or not hasattr(asked.statement, "options"):
        raise TypeError(f"In a session of a person this cannot be filtered: {asked.statement}")
    values = {_SHUT: _closed(asked.session, person), _ASKER: _author(person)}
    asked.parameters = asked.parameters or {}
    return asked.invoke_statement(asked.statement.options(FILTERS), params=values)


def _closed(session: Session, person: Person) -> list[int]:
    known: list[int] | None = session.info.get(_SHUT)
    if known is None:
        known = session.info[_SHUT] = sorted(shut(session, person))
    return known


def _enters(project_id: int, names: list[str] | None, person: Person) -> bool:
    named = _named(person)
    if named is not None and project_id not in named:
        return False
    # A token of less than its person's role still enters where its person does.
    rules = (person.rank if isinstance(person, Bearer) else person.role) is Role.ADMIN
    return rules or names is None or person.name in names


def _author(person: Person) -> str | None:
    """Whose the rows without a project are; nobody's for a token that enters some projects alone.

    In SQL null is equal to nothing, so to no author either.
    """
    return person.name if _named(person) is None else None


def _named(person: Person) -> frozenset[int] | None:
    """The only projects that a token enters; None: all that its person does."""
    return person.projects if isinstance(person, Bearer) else None
