"""Jobs as pages are shown them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain import Job, JobState, Wish
from backend.jobs import kinds
from backend.jobs.outlook import Outlook

AT_REST = Outlook()


@dataclass(frozen=True, slots=True)
class JobCard:
    """A job; the last four say where it stands in the queue, and the seconds still to go."""

    id: int
    kind: str
    title: str
    project: int | None
    state: JobState
    attempt: int
    author: str
    at: datetime
    progress: float
    message: str
    error: str
    result: Mapping[str, Any]
    started: datetime | None
    finished: datetime | None
    worker: str
    wish: Wish | None
    position: int
    waits: float | None
    needs: float | None
    behind: int | None


@dataclass(frozen=True, slots=True)
class JobList:
    """The jobs of a page, and what they can be filtered by; kinds and projects by their names."""

    open: Sequence[JobCard]
    done: Sequence[JobCard]
    kinds: Mapping[str, str]
    authors: Sequence[str]
    projects: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class JobCounts:
    """How many jobs stand in each state that is not an end."""

    queued: int
    running: int
    paused: int


@dataclass(frozen=True, slots=True)
class LogTail:
    """The end of a job's log file."""

    text: str


def whole(job: Job, stands: Outlook = AT_REST) -> JobCard:
    """A job with all that came of it."""
    return _card(job, job.result, stands)


def listed(job: Job, stands: Outlook = AT_REST) -> JobCard:
    """A job among others: of its result the figures alone, which are small whatever it did."""
    plain = {k: v for k, v in job.result.items() if not isinstance(v, (dict, list, tuple))}
    return _card(job, plain, stands)


def _card(job: Job, result: Mapping[str, Any], stands: Outlook) -> JobCard:
    return JobCard(
        id=job.id,
        kind=job.kind,
        title=kinds.find(job.kind).title,
        project=job.project_id,
        state=job.state,
        attempt=job.attempt,
        author=job.author,
        at=job.at,
        progress=job.progress,
        message=job.message,
        error=job.error,
        result=result,
        started=job.started,
        finished=job.finished,
        worker=job.worker,
        wish=job.wish,
        position=stands.position,
        waits=stands.waits,
        needs=stands.needs,
        behind=stands.behind,
    )
