"""The tables of requests and of who carries them out."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.domain import JobState
from backend.storage.tables.base import NEVER_AGAIN, Base, unique_where
from backend.storage.types import Key, Moment, now


class JobRow(Base):
    """A request; `beats` counts heartbeats, so that a silent worker shows on any clock.

    People call a job, and the run that it makes, by its id; that of a try of a picture is negative.
    No two running jobs share a `lock`, no two that never ran share a `queueing_lock`.
    """

    __tablename__ = "job"
    __table_args__ = (
        Index("job_by_state", "state", "priority", "id"),
        unique_where("job_lock", "state = 'running'", "lock"),
        unique_where("job_queueing_lock", "state = 'queued' AND attempt = 0", "queueing_lock"),
        Index("job_by_end", "finished"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    kind: Mapped[str] = mapped_column(String(40))
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"), index=True)
    request: Mapped[dict[str, Any]] = mapped_column(default=dict)
    author: Mapped[str] = mapped_column(String(100), default="")
    state: Mapped[str] = mapped_column(String(10), default=JobState.QUEUED)
    priority: Mapped[int] = mapped_column(default=0)
    at: Mapped[datetime] = mapped_column(default=now)
    started: Mapped[datetime | None] = mapped_column(Moment)
    finished: Mapped[datetime | None] = mapped_column(Moment)
    lock: Mapped[str | None] = mapped_column(String(200))
    queueing_lock: Mapped[str | None] = mapped_column(String(200))
    idempotency_key: Mapped[str | None] = mapped_column(String(200), unique=True)
    after_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"))
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str] = mapped_column(String(200), default="")
    beats: Mapped[int] = mapped_column(default=0)
    wish: Mapped[str] = mapped_column(String(10), default="")
    events: Mapped[int] = mapped_column("event_count", default=0)
    progress: Mapped[float] = mapped_column(default=0.0)
    message: Mapped[str] = mapped_column(default="")
    error: Mapped[str] = mapped_column(default="")
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)


class JobEventRow(Base):
    __tablename__ = "job_event"
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)
    level: Mapped[str] = mapped_column(String(10), default="info")
    text: Mapped[str] = mapped_column(default="")
    data: Mapped[dict[str, Any]] = mapped_column(default=dict)


class WorkerRow(Base):
    """A worker process that is or was alive, and the cluster as it sees it."""

    __tablename__ = "worker"
    id: Mapped[str] = mapped_column(String(200), primary_key=True)
    host: Mapped[str] = mapped_column(String(200))
    pid: Mapped[int]
    started: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)
    cluster: Mapped[dict[str, Any]] = mapped_column(default=dict)
