"""What the last day went into is the time in which jobs were carried out."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import update

from backend.jobs import kinds, queue, usage
from backend.storage.engine import Database
from backend.storage.tables import JobRow
from backend.storage.types import now

HOUR = timedelta(hours=1)


def test_a_job_that_waits_or_is_paused_uses_nothing_meanwhile(database: Database) -> None:
    ago = {hours: now() - hours * HOUR for hours in (1, 3, 90, 99)}
    rows = {
        "ann": {"state": "done", "started": ago[3], "finished": ago[1]},
        "bob": {"state": "done", "started": ago[99], "finished": ago[90]},
        "cay": {"state": "paused", "started": ago[99]},
        "dan": {"state": "queued", "started": ago[99]},  # once more, after a failure
        "eve": {"state": "running", "started": ago[99]},
        "fay": {"state": "cancelled", "finished": ago[1]},  # before anybody took it
    }
    with database.write.begin() as session:
        for author, values in rows.items():
            job = queue.enqueue(session, kinds.Check(None), author=author)
            session.execute(update(JobRow).filter_by(id=job.id).values(**values))
    with database.read() as session:
        found = [(one.author, round(one.seconds / 3600)) for one in usage.of_last_day(session)]
    assert found == [("eve", 24), ("ann", 2)]
