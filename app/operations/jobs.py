"""Jobs, as programs follow them; and what any operation answers that leaves work to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field
from starlette.responses import Response

from app.operations.operation import Asked, Desk, Operation
from app.premises import Premises
from app.routes import jobs as pages
from backend import domain
from backend.domain import JobEvent, JobState, Role
from backend.jobs import journal, queue


@dataclass(frozen=True, slots=True)
class Job:
    """A request that a worker carries out; `result` has what came of it, by its kind.

    A detection's run has the number of its job.
    """

    id: int
    kind: str
    project: int | None
    state: JobState
    progress: float
    message: str
    error: str
    author: str
    at: datetime
    started: datetime | None
    finished: datetime | None
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EventPage:
    """What a job told; `next` is where to go on, also while it still works."""

    items: Sequence[JobEvent]
    next: str


class Since(Asked):
    """After which event."""

    after: int = Field(0, ge=0, description="`next` of the part before")


def job(desk: Desk, job: int) -> Job:
    """One job and how far it is; it has ended when `state` is done, failed or cancelled."""
    return shown(queue.get(desk.session, job))


def events(desk: Desk, job: int, asked: Since) -> EventPage:
    """What a job told, from the beginning or from where one was."""
    known = queue.get(desk.session, job)
    found = journal.read(desk.session, known.id, asked.after)
    return EventPage(found, str(found[-1].seq if found else asked.after))


def cancel(desk: Desk, job: int) -> Job:
    """Stop a job for good."""
    return shown(queue.cancel(desk.session, job, desk.person.name))


def file(at: Premises, job: int) -> Response:
    """The file that an export has written."""
    return pages.file(job, at)


def shown(one: domain.Job) -> Job:
    """A job as programs are shown it."""
    return Job(
        id=one.id,
        kind=one.kind,
        project=one.project_id,
        state=one.state,
        progress=one.progress,
        message=one.message,
        error=one.error,
        author=one.author,
        at=one.at,
        started=one.started,
        finished=one.finished,
        result=one.result,
    )


OPERATIONS = (
    Operation("GET", "/jobs/{job}", Role.VIEWER, job, {"job": 7}),
    Operation("GET", "/jobs/{job}/events", Role.VIEWER, events, {"job": 7}),
    Operation("POST", "/jobs/{job}/cancel", Role.LABELER, cancel, {"job": 7}),
    Operation("GET", "/jobs/{job}/file", Role.VIEWER, file, {"job": 7}, sends="application/zip"),
)
