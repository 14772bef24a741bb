"""Who used the machines in the last day, and for what: from start to end of jobs' last attempts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from backend.domain import JobState
from backend.jobs import kinds, listing
from backend.storage import tables
from backend.storage.types import now

Row = tables.JobRow
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DayOfUse:
    """What jobs of a kind took of the last day, asked for by somebody."""

    title: str
    author: str
    jobs: int
    seconds: float


@dataclass(frozen=True, slots=True)
class AskedJob:
    """What a job is, who asked for it, and since when it runs."""

    title: str
    author: str
    since: datetime | None


def of_last_day(session: Session) -> list[DayOfUse]:
    """Who had most, first; a job that runs counts until now, one that waits or rests does not."""
    end = now()
    begin = end - DAY
    columns = (Row.kind, Row.author, Row.started, Row.finished)
    query = select(*columns).where(
        Row.kind.not_in(listing.ANSWERS),
        Row.started.is_not(None),
        or_(Row.finished >= begin, Row.state == JobState.RUNNING),
    )
    taken: dict[tuple[str, str], list[float]] = defaultdict(list)
    for kind, author, started, finished in session.execute(query):
        seconds = ((finished or end) - max(started, begin)).total_seconds()
        taken[kind, author].append(max(0.0, seconds))
    found = [
        DayOfUse(kinds.find(kind).title, author, len(each), round(sum(each), 1))
        for (kind, author), each in taken.items()
    ]
    return sorted(found, key=lambda one: -one.seconds)


def asked(session: Session, ids: Collection[int]) -> dict[int, AskedJob]:
    """What these jobs are."""
    columns = (Row.id, Row.kind, Row.author, Row.started)
    found = session.execute(select(*columns).where(Row.id.in_(ids))) if ids else ()
    return {
        id: AskedJob(kinds.find(kind).title, author, started) for id, kind, author, started in found
    }
