"""A search whose process is killed again and again, beside one that nobody disturbs."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from backend.domain import JobState, Trial
from backend.jobs import claims, queue
from backend.models import searches, trials
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.tuning import curves

PAUSE = 0.05
# What of a trial does not depend on the clock.
Told = tuple[int, str, dict[str, float], list[tuple[float, float]], float | None]


@dataclass(frozen=True, slots=True)
class Ended:
    """A search at its end: its trials, its best, and every epoch that was done, in order."""

    trials: list[Told]
    best: int
    epochs: list[str]
    kills: int

    @property
    def again(self) -> int:
        """How many epochs were done more than once."""
        return sum(count - 1 for count in Counter(self.epochs).values())


def searched(home: Path, count: int, kills: int, seed: int) -> Ended:
    """Carry out a search in processes of their own, so many of which are killed."""
    curves.prepare()
    place = places.make(home)
    project = place.sample(12)
    with place.database.write.begin() as session:
        begun = searches.ask(
            session, project, curves.NAME, trials=count, seed=seed, at_once=1,
            parameters={"extra": {"pause": PAUSE}},
        )  # fmt: skip
    story = home / "jobs" / str(begun.job.id) / "epochs.txt"
    chance, killed = random.Random(seed), 0
    while state(place, begun.job.id) not in (JobState.DONE, JobState.FAILED):
        process = start(home)
        if killed < kills:
            wait(process, story, chance)
            killed += kill(place, process, begun.job.id)
        process.wait()
    found = ended(place, begun, story, killed)
    place.database.close()
    return found


def start(home: Path, **own: str) -> subprocess.Popen[bytes]:
    """A process that carries the search out, as a worker would start it."""
    environment = {**os.environ, "LOUPE_HOME": str(home), "LOUPE_MLFLOW_URI": "off", **own}
    command = [sys.executable, "-m", "tests.workers.tuning.attempt", str(home)]
    return subprocess.Popen(command, env=environment)


def wait(process: subprocess.Popen[bytes], story: Path, chance: random.Random) -> None:
    """Until a few more epochs are done, and then a part of the next one."""
    wanted = _count(story) + chance.randrange(1, 4)
    while process.poll() is None and _count(story) < wanted:
        time.sleep(0.005)
    time.sleep(chance.random() * 2 * PAUSE)


def _count(story: Path) -> int:
    return len(story.read_text().splitlines()) if story.is_file() else 0


def kill(place: Place, process: subprocess.Popen[bytes], job_id: int) -> int:
    """Kill it, and free its job as a worker would; 0 where it had come to its end."""
    process.kill()
    process.wait()
    with place.database.write.begin() as session:
        running = [(job, beats) for job, beats in claims.running(session) if job.id == job_id]
        for job, beats in running:
            claims.take_away(session, job, beats, "Its process was killed.")
    return len(running)


def state(place: Place, job_id: int) -> JobState:
    """How the search's job stands."""
    with place.database.read() as session:
        return queue.get(session, job_id).state


def ended(place: Place, begun: searches.Begun, story: Path, kills: int) -> Ended:
    """What it has come to."""
    with place.database.read() as session:
        search = searches.get(session, begun.search.id)
        found = trials.of_search(session, search.id)
    best = int(search.facts["best"])
    return Ended([_told(one) for one in found], best, story.read_text().splitlines(), kills)


def _told(trial: Trial) -> Told:
    curve = [(one["epoch"], one["map50"]) for one in trial.epochs]
    return (trial.number, trial.state.value, dict(trial.parameters), curve, trial.value)
