"""The worker: claims jobs, keeps a process for each, and looks after those of dead workers."""

from __future__ import annotations

import logging
import shutil
import time
from dataclasses import dataclass, field
from threading import Event

from sqlalchemy.exc import SQLAlchemyError

from backend.domain import FINAL, Job, JobState
from backend.errors import LeaseLost, NotFound, Unavailable
from backend.jobs import claims, holder, journal, kinds, presence, queue
from backend.jobs.lanes import Lane
from backend.settings import Settings
from backend.storage import outages
from backend.storage.engine import Database
from workers import attempt, leftovers, scratch
from workers.attempt import Attempt
from workers.cluster_child import Keeper, Resident
from workers.publishing import Publisher
from workers.tracking import Tracker

log = logging.getLogger(__name__)
TICK = 0.1
LANES = tuple(lane for lane in Lane if lane is not Lane.INSTANT)  # the resident's
LOOK = 0.5
WATCH = 1.0
SHOW = 3.0
LONGEST_REST = 60.0  # seconds; other jobs of the lane wait, too, after one that has broken down


@dataclass(slots=True)
class Silence:
    """A heartbeat counter, and since when (on our own clock) it has not moved."""

    beats: int
    since: float


@dataclass(slots=True)
class Worker:
    """One worker process: a job of each lane at a time."""

    database: Database
    settings: Settings
    name: str = field(default_factory=holder.me)
    stopping: Event = field(default_factory=Event)
    busy: dict[Lane, Attempt] = field(default_factory=dict)
    keeper: Keeper = field(init=False)
    resident: Resident = field(init=False)
    publisher: Publisher = field(init=False)
    tracker: Tracker = field(init=False)
    _rest_until: dict[Lane, float] = field(default_factory=dict)
    _silences: dict[tuple[int, int], Silence] = field(default_factory=dict)
    _due: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keeper = Keeper(self.settings)
        self.resident = Resident()
        self.publisher = Publisher(self.database, self.settings)
        self.tracker = Tracker(self.database, self.settings)

    def run(self) -> None:
        """Work until asked to stop; then hand back what runs."""
        scratch.clear_dead()
        try:
            while not self.stopping.is_set():
                try:
                    self.tick()
                except (SQLAlchemyError, Unavailable) as error:
                    log.warning("Nothing can be claimed: %s", _why(error))
                    self.stopping.wait(1.0)
                self.stopping.wait(TICK)
        finally:
            self.close()

    def tick(self) -> None:
        """One round over everything that may need us."""
        self.keeper.tick()
        self.resident.tick(self._is_asked)
        self.publisher.tick()
        self.tracker.tick()
        for lane in list(self.busy):
            self._look_after(lane, self.busy[lane])
        if len(self.busy) < len(LANES) and self._is_due("take", LOOK):
            self._take_next()
        if self._is_due("look after others", WATCH):
            self._watch()
        if self._is_due("show", SHOW):
            self._show()

    def is_idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        with self.database.read() as session:
            waits = any(claims.is_waiting(session, lane) for lane in Lane)
        return not self.busy and not waits

    def close(self) -> None:
        """Stop what runs, give it back to the queue, leave the cluster."""
        for running in self.busy.values():
            running.stop()
        while any(not running.has_ended() for running in self.busy.values()):
            time.sleep(0.05)
        try:
            for lane in list(self.busy):
                self._conclude(lane)
            with self.database.write.begin() as session:
                presence.leave(session, self.name)
        except (SQLAlchemyError, Unavailable) as error:
            log.warning("What ran cannot be given back: %s", _why(error))
        finally:
            for running in self.busy.values():
                running.child.kill()
            self.publisher.close()
            self.tracker.close()
            self.resident.close()
            self.keeper.close()
            scratch.clear_dead()

    def _is_asked(self) -> bool:
        """Whether a person waits for what the resident answers."""
        if not self._is_due("ask", LOOK):
            return False
        with self.database.read() as session:
            return claims.is_waiting(session, Lane.INSTANT)

    def _take_next(self) -> None:
        """Fill the free lanes in which something waits."""
        with self.database.read() as session:
            waiting = claims.lanes_waiting(session)
        for lane in LANES:
            rests = time.monotonic() < self._rest_until.get(lane, 0.0)
            if lane in waiting and lane not in self.busy and not rests:
                self._take(lane)

    def _take(self, lane: Lane) -> None:
        with self.database.write.begin() as session:
            job = claims.claim(session, self.name, lane)
        if job is not None:
            log.info("Job %d begins: %s.", job.id, kinds.find(job.kind).title)
            self.busy[lane] = attempt.begin(job, self.settings.lease_seconds)

    def _look_after(self, lane: Lane, running: Attempt) -> None:
        self._answer(running)
        if running.has_ended():
            self._conclude(lane)
            return
        now = time.monotonic()
        try:
            if now >= running.renew_at:
                with self.database.write.begin() as session:
                    claims.renew(session, running.job)
                running.renew_at = now + self.settings.lease_seconds / 4
            if now >= running.look_at:
                running.look_at = now + LOOK
                with self.database.read() as session:
                    wish = claims.wish(session, running.job)
                if wish is not None:
                    running.stop()
        except LeaseLost:
            # It has ended by itself, or another worker has it: the process must not go on.
            running.stop()

    def _answer(self, running: Attempt) -> None:
        """The job's process asks for one thing only: the cluster."""
        for _ in running.child.messages():
            running.uses_cluster = True
            self.keeper.want(running.child)
        if running.uses_cluster and self.keeper.broke_down():
            running.trouble = "The Ray cluster broke down."
            running.kill_at = 0.0

    def _conclude(self, lane: Lane) -> None:
        """The process is dead: see to it that the job's row says what became of it."""
        running = self.busy[lane]
        asked = running.kill_at is not None and not running.trouble
        code = running.child.kill() if running.child.process.returncode is None else 0
        if code and not running.trouble:
            running.trouble = attempt.how_it_ended(code)
        state = self._settle(running, asked)
        del self.busy[lane]
        seconds = time.monotonic() - running.began
        if state is JobState.QUEUED and not asked:
            rest = min(LONGEST_REST, 0.5 * 2**running.job.failures)
            self._rest_until[lane] = time.monotonic() + rest
        log.info("Job %d: %s after %.1f s.", running.job.id, state or "gone", seconds)
        if state in FINAL:
            self._clear(running.job.id)

    def _settle(self, running: Attempt, asked: bool) -> JobState | None:
        try:
            with self.database.write.begin() as session:
                claims.fence(session, running.job)
                if asked:
                    claims.release(session, running.job, "The worker was stopped.")
                else:
                    trouble = running.trouble or "Its process ended without a word."
                    claims.forgive(session, running.job, trouble)
        except LeaseLost:
            pass
        return self._state(running.job)

    def _state(self, job: Job) -> JobState | None:
        try:
            with self.database.read() as session:
                return queue.get(session, job.id).state
        except NotFound:
            return None

    def _watch(self) -> None:
        """Free the jobs of workers that are dead or silent."""
        with self.database.read() as session:
            found = claims.running(session)
        ours = {running.job.id for running in self.busy.values()}
        seen = {}
        for job, beats in found:
            if job.worker == self.name and job.id in ours:
                continue
            silence = self._silence(job, beats)
            seen[job.id, job.attempt] = silence
            if reason := self._why_free(job, silence):
                log.info("Job %d is free again: %s", job.id, reason)
                with self.database.write.begin() as session:
                    claims.take_away(session, job, beats, reason)
        self._silences = seen

    def _silence(self, job: Job, beats: int) -> Silence:
        known = self._silences.get((job.id, job.attempt))
        if known is not None and known.beats == beats:
            return known
        return Silence(beats, time.monotonic())

    def _why_free(self, job: Job, silence: Silence) -> str:
        if job.worker == self.name or holder.gone(job.worker):
            return "Its worker died."
        if time.monotonic() - silence.since > self.settings.lease_seconds:
            return f"Its worker was silent for {self.settings.lease_seconds:g} seconds."
        return ""

    def _show(self) -> None:
        """Tell the pages that we live, and what the cluster looks like; tidy up after others."""
        jobs = {running.child.process.pid: running.job.id for running in self.busy.values()}
        with self.database.write.begin() as session:
            presence.show(session, self.name, self.keeper.sight(jobs))
            presence.forget_dead(session)
        if self._is_due("tidy", 60.0):
            self._tidy()

    def _tidy(self) -> None:
        scratch.clear_dead()
        folders = journal.folder(self.settings.home, 0).parent
        ids = [int(one.name) for one in folders.glob("*") if one.name.removeprefix("-").isdecimal()]
        for id in ids:
            try:
                with self.database.read() as session:
                    ended = queue.get(session, id).state in FINAL
            except NotFound:
                ended = True
            if ended:
                self._clear(id)
        leftovers.clear(self.database, self.settings)

    def _clear(self, id: int) -> None:
        shutil.rmtree(journal.folder(self.settings.home, id), ignore_errors=True)

    def _is_due(self, what: str, every: float) -> bool:
        now = time.monotonic()
        if now < self._due.get(what, 0.0):
            return False
        self._due[what] = now + every
        return True


def _why(error: Exception) -> str:
    return outages.sentence(error) or str(getattr(error, "orig", None) or error).splitlines()[0]
