"""A house in which a handler can be called directly, with a claimed job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from backend.domain import Job, JobState, Run
from backend.jobs import claims, kinds, queue
from backend.jobs.lanes import Lane
from backend.labels import samples
from backend.runs import detection
from backend.settings import Settings
from backend.storage import engine, files, findings
from backend.storage.engine import Database
from workers import handlers
from workers.context import Context


@dataclass
class Place:
    """A home folder, its database and its files."""

    settings: Settings
    database: Database
    files: files.Files

    def sample(self, count: int, kind: str = "pcb") -> int:
        """A drawn project; gives its id."""
        drawn = samples.draw(self.files, kind, count)
        with self.database.write.begin() as session:
            return samples.create(session, f"sample of {count}", kind, drawn).id

    def detect(self, project_id: int | None, model: str = "golden", **asked: Any) -> dict[str, Any]:
        """Ask for a detection and carry it out here; gives the job's result."""
        with self.database.write.begin() as session:
            detection.ask(session, project_id, model, **asked)
        return self.carry_out(self.claim())

    def claim(self) -> Job:
        """Take the next job as a worker does."""
        for lane in Lane:
            with self.database.write.begin() as session:
                job = claims.claim(session, "test", lane)
            if job is not None:
                return job
        raise AssertionError("no job waits")

    def carry_out(self, job: Job) -> dict[str, Any]:
        """Run the job's handler to its end."""
        result = dict(handlers.find(job.kind).run(self.context(job)))
        with self.database.write.begin() as session:
            claims.finish(session, job, result)
            assert queue.get(session, job.id).state is JobState.DONE
        return result

    def context(self, job: Job) -> Context:
        """What the job's process would give its handler."""
        request = kinds.decode(job.kind, job.request)
        folder = self.settings.home / "jobs" / str(job.id)
        folder.mkdir(parents=True, exist_ok=True)
        return Context(job, request, self.database, self.files, self.settings, folder)

    def run(self, run_id: int) -> Run:
        """The run's row."""
        with self.database.read() as session:
            return findings.get(session, run_id)


def make(home: Path, cache: Path | None = None) -> Place:
    """An empty house; prepared models may be kept in another one's cache."""
    settings = Settings(home=home, database_url=SecretStr(""))
    if cache is not None:
        home.mkdir(parents=True)
        settings.cache.symlink_to(cache)
    database = engine.connect(settings)
    engine.create_tables(database)
    return Place(settings, database, files.connect(settings))
