"""What has changed, in a few small marks that pages ask for again and again.

A mark says only that it is another one than before. Each is read from the ends of indexes, so that
it costs the same however much there is, and nobody who saves waits for it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from backend.jobs.listing import OPEN
from backend.storage import doors
from backend.storage.tables import (
    ClassRow,
    DecisionRow,
    ImageRow,
    JobRow,
    ModelRow,
    ProjectRow,
    RevisionRow,
    RunRow,
    WorkerRow,
)

MOST_OPEN = 500


@dataclass(frozen=True, slots=True)
class Marks:
    """A mark for jobs and their runs, for models, for labels and decisions, and for projects."""

    jobs: str
    models: str
    labels: str
    projects: str


def marks(session: Session) -> Marks:
    """How all that pages show is marked now."""
    # Of all projects: a mark tells nothing but that somewhere something has changed.
    ends = session.execute(doors.of_all(_ends())).one()
    jobs = session.execute(doors.of_all(_open_jobs())).all()
    workers = session.execute(select(WorkerRow.id, WorkerRow.cluster).order_by(WorkerRow.id)).all()
    best = select(ModelRow.id, ModelRow.state).where(ModelRow.champion).order_by(ModelRow.id)
    models = session.execute(doors.of_all(best)).all()
    return Marks(
        jobs=_mark(ends.job, ends.run, jobs, workers),
        models=_mark(ends.model, models),
        labels=_mark(ends.revision, ends.decision, ends.image),
        projects=_mark(ends.project, ends.projects, ends.kind),
    )


def _ends() -> Select[Any]:
    ends: dict[str, Any] = {
        "job": func.max(JobRow.id),
        "run": func.max(RunRow.id),
        "model": func.max(ModelRow.id),
        "revision": func.max(RevisionRow.at),
        "decision": func.max(DecisionRow.id),
        "image": func.max(ImageRow.id),
        "project": func.max(ProjectRow.id),
        "projects": func.count(ProjectRow.id),
        "kind": func.max(ClassRow.id),
    }
    return select(*(select(end).scalar_subquery().label(name) for name, end in ends.items()))


def _open_jobs() -> Select[Any]:
    row = JobRow
    told: list[Any] = [row.id, row.state, row.wish, row.progress, row.message, row.events]
    return select(*told).where(row.state.in_(OPEN)).order_by(row.id).limit(MOST_OPEN)


def _mark(*seen: Any) -> str:
    plain = [[list(row) for row in one] if isinstance(one, list) else one for one in seen]
    return hashlib.sha256(json.dumps(plain, default=str).encode()).hexdigest()[:16]
