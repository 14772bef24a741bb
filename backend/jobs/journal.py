"""What a job tells while it runs: its events in the database, its log in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from backend.domain import JobEvent
from backend.errors import NotFound
from backend.storage import tables
from backend.storage.types import now


def write(
    session: Session,
    job_id: int,
    text: str = "",
    *,
    level: str = "info",
    data: Mapping[str, Any] | None = None,
) -> int:
    """Add an event; its number is the job's own, so no reader can miss one that commits late."""
    job = tables.JobRow
    seq = session.scalar(
        update(job)
        .where(job.id == job_id)
        .values(events=job.events + 1)
        .returning(job.events)
        .execution_options(synchronize_session=False)
    )
    if seq is None:
        raise NotFound(f"There is no job {job_id}.")
    row = {"job_id": job_id, "seq": seq, "at": now(), "level": level, "text": text}
    session.execute(insert(tables.JobEventRow), [{**row, "data": dict(data or {})}])
    return seq


def read(session: Session, job_id: int, since: int = 0, limit: int = 1000) -> list[JobEvent]:
    """The events after number `since`, oldest first."""
    event = tables.JobEventRow
    found = session.scalars(
        select(event)
        .where(event.job_id == job_id, event.seq > since)
        .order_by(event.seq)
        .limit(limit)
    )
    return [
        JobEvent(seq=row.seq, at=row.at, level=row.level, text=row.text, data=row.data or {})
        for row in found
    ]


def log_path(home: Path, job_id: int) -> Path:
    """Where all that a job's libraries print is kept; it outlives the job."""
    return home / "logs" / f"job-{job_id}.log"


def cluster_log_path(home: Path) -> Path:
    """Where all that our own Ray cluster prints is kept."""
    return home / "logs" / "cluster.log"


def folder(home: Path, job_id: int) -> Path:
    """Where a job keeps what it needs to go on after a crash; removed when it has ended."""
    return home / "jobs" / str(job_id)


def tail(home: Path, job_id: int, size: int = 64_000) -> str:
    """The end of a job's log; empty where it ran on another machine."""
    path = log_path(home, job_id)
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        start = max(file.tell() - size, 0)
        file.seek(start)
        text = file.read().decode(errors="replace")
    return text.partition("\n")[2] if start else text
