"""Requests that a worker carries out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class JobState(StrEnum):
    """The states of a job; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class Wish(StrEnum):
    """What a person wants of a job while a worker still runs it."""

    CANCEL = "cancel"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class Job:
    """A request that a worker carries out; `attempt` fences off a worker that lost it."""

    id: int
    kind: str
    project_id: int | None
    request: Mapping[str, Any]
    state: JobState
    attempt: int
    author: str
    at: datetime
    progress: float = 0.0
    message: str = ""
    error: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    started: datetime | None = None
    finished: datetime | None = None
    worker: str = ""
    wish: Wish | None = None
    failures: int = 0
    priority: int = 0
    after_id: int | None = None


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One line of a job's log, or one point of its curves (`data`)."""

    seq: int
    at: datetime
    level: str
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
