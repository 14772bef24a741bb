"""What is taken away for good: a project with all that hangs on it, and images put away before.

The rows go in parts, each a short transaction, so that nobody waits for it and a kill loses
nothing: what is left is taken by whoever does it again. Files stay until `loupe tidy`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, select, tuple_, update
from sqlalchemy.orm import Session

from backend import words
from backend.domain import FINAL, JobState
from backend.errors import Busy, Refused
from backend.jobs import queue
from backend.labels import images
from backend.projects import catalogue
from backend.storage import findings, tables
from backend.storage.engine import Database
from backend.storage.types import now
from backend.storage.writers import retries

PART = 2_000
PAUSE = 0.3
Told = Callable[[int, int], None]
# A row's column, and the rows of the project that it leads to: leaves first.
HANGING: tuple[tuple[Any, str, Any], ...] = (
    (tables.TrackedFigureRow, "tracked_run_id", tables.TrackedRunRow),
    (tables.BoardMarkRow, "run_id", tables.RunRow),
    (tables.ClassSumRow, "run_id", tables.RunRow),
    (tables.BoardSumRow, "run_id", tables.RunRow),
    (tables.PartSumRow, "run_id", tables.RunRow),
    (tables.DetectionRow, "run_id", tables.RunRow),
    (tables.RunImageRow, "run_id", tables.RunRow),
    (tables.MetricRow, "job_id", tables.JobRow),
    (tables.TurnRow, "job_id", tables.JobRow),
    (tables.DecisionRow, "run_id", tables.RunRow),
    (tables.RepeatRow, "run_id", tables.RunRow),
    (tables.LeaseRow, "run_id", tables.RunRow),
    (tables.JobEventRow, "job_id", tables.JobRow),
    (tables.BoxRow, "image_id", tables.ImageRow),
    (tables.RevisionRow, "image_id", tables.ImageRow),
    (tables.CropRow, "image_id", tables.ImageRow),
    (tables.PictureRow, "image_id", tables.ImageRow),
    (tables.DoubtRow, "image_id", tables.ImageRow),
    (tables.SnapshotImageRow, "snapshot_id", tables.SnapshotRow),
    (tables.TrialRow, "search_id", tables.SearchRow),
)
# What has a project of its own, in an order in which each may go; and what leads to its like.
OWN: tuple[tuple[Any, str], ...] = (
    (tables.TrackedRunRow, "parent_id"),
    (tables.RunRow, ""),
    (tables.ModelRow, "parent_id"),
    (tables.SearchRow, ""),
    (tables.SnapshotRow, ""),
    (tables.ImageRow, "golden_id"),
    (tables.ClassNameRow, ""),
    (tables.ClassRow, "merged_into_id"),
    (tables.JobRow, "after_id"),
    (tables.SelectionRow, ""),
    (tables.DismissalRow, ""),
)
# What is said of an image, also by runs.
OF_IMAGE: tuple[Any, ...] = (
    tables.DetectionRow,
    tables.RunImageRow,
    tables.DecisionRow,
    tables.RepeatRow,
    tables.LeaseRow,
    tables.BoardMarkRow,
)
OF_IMAGE_ALONE: tuple[Any, ...] = (
    tables.BoxRow,
    tables.RevisionRow,
    tables.SnapshotImageRow,
    tables.CropRow,
    tables.PictureRow,
    tables.DoubtRow,
)


@dataclass(frozen=True, slots=True)
class Remains:
    """What goes with a project."""

    name: str
    pictures: int
    boxes: int
    models: int
    runs: int
    decisions: int

    def __str__(self) -> str:
        counts = {"picture": self.pictures, "box": self.boxes, "model": self.models}
        counts |= {"run": self.runs, "decision": self.decisions}
        more = {"box": "boxes"}
        told = [words.many(n, one, more.get(one, "")) for one, n in counts.items() if n]
        return " and ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told or ["nothing"])


def remains(session: Session, project_id: int) -> Remains:
    """What there is of a project, to be said before it goes."""
    pictures = select(tables.ImageRow.id).filter_by(project_id=project_id)
    runs = select(tables.RunRow.id).filter_by(project_id=project_id)
    said = tables.DecisionRow.run_id.in_(runs)
    return Remains(
        catalogue.get(session, project_id).name,
        _count(session, pictures),
        _count(session, select(tables.BoxRow.id).where(tables.BoxRow.image_id.in_(pictures))),
        _count(session, select(tables.ModelRow.id).filter_by(project_id=project_id)),
        _count(session, runs),
        _count(session, select(tables.DecisionRow.id).where(said)),
    )


def begin(session: Session, project_id: int, typed: str, author: str) -> Remains:
    """Let nobody find the project any more, and free its name; `typed` must be that name."""
    found = remains(session, project_id)
    if typed.strip() != found.name:
        raise Refused(f"To remove {found.name} with {found}, give its name exactly.")
    _stop_jobs(session, project_id, author)
    gone = {"removed": now(), "name": f"removed {project_id}: {found.name}"[:200]}
    session.execute(update(tables.ProjectRow).filter_by(id=project_id).values(gone))
    return found


def finish(
    database: Database, project_id: int, told: Told = lambda *_: None, patience: float = 0.0
) -> None:
    """Take away all that hangs on a project that was removed, part by part, the project last.

    Its jobs that are still ending are waited for, for so many seconds.
    """
    end = time.monotonic() + patience
    while (job := _still_ending(database, project_id)) is not None:
        if time.monotonic() >= end:
            raise Busy(f"Job {job} of the project is still ending; try again after it.")
        told(0, 1)
        time.sleep(PAUSE)
    steps = list(_steps(project_id))
    for done, (row_, where) in enumerate(steps):
        told(done, len(steps))
        while _took(database, row_, where):
            told(done, len(steps))
    with retries.patient(database.write.begin)() as session:
        session.execute(delete(tables.ProjectRow).filter_by(id=project_id))
    told(len(steps), len(steps))


def purgeable(session: Session, project_id: int) -> int:
    """How many images are put away."""
    return _count(session, _put_away(project_id))


def bring_back(session: Session, project_id: int) -> int:
    """Undo every putting away; returns how many images that were."""
    put_away = (tables.ImageRow.project_id == project_id, tables.ImageRow.deleted.is_not(None))
    ids = session.scalars(select(tables.ImageRow.id).where(*put_away)).all()
    return images.bring_back(session, ids)


def purge(database: Database, project_id: int, told: Told = lambda *_: None) -> int:
    """Take away the images that were put away, with all that was said of them, for good.

    A golden that other images are still compared with stays.
    """
    with database.read.begin() as session:
        ids = list(session.scalars(_put_away(project_id)))
    for done in range(0, len(ids), PART):
        told(done, len(ids))
        _purge(database, project_id, ids[done : done + PART])
    _recount(database, project_id)
    told(len(ids), len(ids))
    return len(ids)


def _steps(project_id: int) -> Iterator[tuple[Any, ColumnElement[bool]]]:
    for row, column, owner in HANGING:
        ours = select(owner.id).where(owner.project_id == project_id)
        yield row, getattr(row, column).in_(ours)
    for row, _ in OWN:
        yield row, row.project_id == project_id


def _took(database: Database, row: Any, where: ColumnElement[bool]) -> bool:
    """Take one part; tells whether there was any."""
    key = list(row.__table__.primary_key)
    with retries.patient(database.write.begin)() as session:
        part = session.execute(select(*key).where(where).limit(PART)).all()
        if part:
            _let_go(session, row, [values[0] for values in part])
            session.execute(_delete(row).where(tuple_(*key).in_([tuple(one) for one in part])))
        return bool(part)


def _let_go(session: Session, row: Any, ids: list[Any]) -> None:
    """Rows of the same table, or of another one, that lead to these lead to nothing."""
    for own, column in OWN:
        if own is row and column:
            leading = getattr(row, column)
            session.execute(update(row).where(leading.in_(ids)).values({leading.key: None}))


def _delete(row: Any) -> Any:
    return delete(row).execution_options(synchronize_session=False)


def _purge(database: Database, project_id: int, ids: list[int]) -> None:
    with retries.patient(database.write.begin)() as session:
        # A run that has just looked at them writes before they are gone, or not at all.
        going = select(tables.ImageRow.id).where(tables.ImageRow.id.in_(ids))
        session.execute(going.order_by(tables.ImageRow.id).with_for_update())
        runs = _runs_of_images(session, project_id)
        # Who adds up the boards of a run holds the run first, too; else each waits for the other.
        findings.forget_counts(session, runs)
        session.flush()
        for row in OF_IMAGE:
            session.execute(_delete(row).where(row.run_id.in_(runs), row.image_id.in_(ids)))
        for row in OF_IMAGE_ALONE:
            session.execute(_delete(row).where(row.image_id.in_(ids)))
        _let_go(session, tables.ImageRow, ids)
        frozen = tables.SnapshotImageRow
        session.execute(update(frozen).where(frozen.golden_id.in_(ids)).values(golden_id=None))
        session.execute(_delete(tables.ImageRow).where(tables.ImageRow.id.in_(ids)))


def _recount(database: Database, project_id: int) -> None:
    with database.read.begin() as session:
        runs = _runs_of_images(session, project_id)
    for run in runs:
        with retries.patient(database.write.begin)() as session:
            findings.recount(session, run)


def _runs_of_images(session: Session, project_id: int) -> list[int]:
    """The runs over images of the project; those over a folder number pictures for themselves."""
    query = select(tables.RunRow.id, tables.RunRow.source).filter_by(project_id=project_id)
    return [id_ for id_, source in session.execute(query) if "path" not in source]


def _put_away(project_id: int) -> Select[tuple[int]]:
    served = select(tables.ImageRow.golden_id).where(
        tables.ImageRow.project_id == project_id,
        tables.ImageRow.deleted.is_(None),
        tables.ImageRow.golden_id.is_not(None),
    )
    return select(tables.ImageRow.id).where(
        tables.ImageRow.project_id == project_id,
        tables.ImageRow.deleted.is_not(None),
        tables.ImageRow.id.not_in(served),
    )


def _stop_jobs(session: Session, project_id: int, author: str) -> None:
    query = select(tables.JobRow.id).where(
        tables.JobRow.project_id == project_id, tables.JobRow.state.not_in(FINAL)
    )
    for job_id in session.scalars(query).all():
        queue.cancel(session, job_id, author)


def _still_ending(database: Database, project_id: int) -> int | None:
    """The number of a job that still runs, where the project was removed as it should be."""
    with database.read.begin() as session:
        row = session.get(tables.ProjectRow, project_id)
        if row is not None and row.removed is None:
            raise Refused(f"The project {row.name} has not been removed.")
        running = select(tables.JobRow.id).filter_by(project_id=project_id, state=JobState.RUNNING)
        return session.scalar(running.limit(1))


def _count(session: Session, query: Select[Any]) -> int:
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0
