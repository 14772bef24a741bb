"""A served Loupe with ten jobs of mixed kinds, whose processes are killed at random meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import FINAL, Job, JobState, ModelState
from backend.jobs import journal, kinds, queue
from backend.labels import export_choice, exports, samples
from backend.models import registry, trainings
from backend.projects import catalogue
from backend.runs import detection, proposals
from backend.settings import Settings
from backend.storage import files
from backend.storage.files import Files
from backend.storage.tables import DetectionRow, RunImageRow
from tests import serving
from tests.homes import checked, many
from tests.workers import running
from tests.workers.running import House

BROUGHT = 40
TEN = (
    *("train yolo", "train faster_rcnn", "train golden", "import", "detect on Ray"),
    *("evaluate", "export", "detect", "propose", "check on Ray"),
)
# Those that begin at once, without Ray and torch; the last is the longest.
QUICK = ("train golden", "import", "evaluate", "export", "detect", "propose", "check")
# What may be killed, by a part of its command line; the first that fits counts.
PARTS = {
    "app.cli serve": "app",
    "workers.runner": "job",
    "workers.resident": "job",
    "workers.cluster": "Ray",
    "multiprocessing.forkserver": "job",
    "Agent": "Ray",
    "ray::": "actor",
    "ray/": "Ray",
    "-m workers": "worker",
}
MOST_FAILURES = 4  # of a job; one that breaks down six times is given up, and rightly so
# What Ray keeps for itself as long as a cluster stands: spare processes, and one actor of its own.
RAYS_OWN = ("ray::IDLE", "Agent", "_AutoscalingCoordinatorActor")


@dataclass(frozen=True)
class Size:
    """How much there is to do: epochs of each training, processes of one, images to look at."""

    images: int
    epochs: int = 1
    workers: int = 1


@dataclass
class Siege:
    """The site as `loupe serve` starts it, what it works on, and what was killed of it."""

    house: House
    temp: Path
    dice: random.Random
    size: Size
    port: int = field(default_factory=running.free_port)
    site: subprocess.Popen[bytes] = field(init=False)
    jobs: dict[str, int] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)

    def serve(self) -> None:
        """Start the site as a person does, and wait until it answers."""
        command = [sys.executable, "-m", "app.cli", "serve", "--no-browser", "--no-sample"]
        environment = {**os.environ, **self.house.environment(), "TMPDIR": str(self.temp)}
        with (self.house.home / "serve.log").open("ab") as log:
            self.site = subprocess.Popen(
                [*command, "--port", str(self.port)], env=environment, stdout=log, stderr=log
            )
        self.house.workers.append(self.site)
        address = f"http://127.0.0.1:{self.port}"
        ended = self.site.poll
        self.house.until_true(lambda: ended() is not None or serving.answers(address))
        assert self.site.poll() is None

    def kill_one(self, wanted: str = "") -> None:
        """Kill a process of the app, the worker or Ray; the app's own keeper starts it again."""
        self.house.until_true(lambda: bool(self._found(wanted)))
        part, victim = self._choose(self._found(wanted))
        with suppress(psutil.NoSuchProcess):
            victim.kill()
        self.killed[part] += 1
        if victim.pid == self.site.pid:
            self.site.wait()
            self.serve()

    def until_at_work(self, seconds: float = 40.0) -> None:
        """Wait until a job goes on within its attempt, or for so long."""
        end, before = time.monotonic() + seconds, self._told()
        while time.monotonic() < end:
            now = self._told()
            if any(before.get(attempt, told) != told for attempt, told in now.items()):
                return
            before = {**now, **before}
            time.sleep(0.05)

    def _told(self) -> dict[tuple[int, int], str]:
        """What each running job says of itself, by its attempt."""
        jobs = [self.house.get(id) for id in self.jobs.values()]
        assert any(job.state not in FINAL for job in jobs), "the jobs were too short"
        return {
            (job.id, job.attempt): job.message
            for job in jobs
            if job.state is JobState.RUNNING and job.message != "Starting"
        }

    def _found(self, wanted: str) -> list[tuple[str, psutil.Process]]:
        """The processes that may be killed, all or of one part, by the part that they are."""
        found = [(kind(process), process) for process in self.house.processes()]
        return [one for one in found if (one[0] == wanted if wanted else one[0])]

    def _choose(self, found: list[tuple[str, psutil.Process]]) -> tuple[str, psutil.Process]:
        failures = max(self.house.get(id).failures for id in self.jobs.values())
        if failures >= MOST_FAILURES:
            found = [one for one in found if one[0] in ("app", "worker")] or found
        part = self.dice.choice(sorted({part for part, _ in found}))
        chosen = sorted((process.pid, process) for each, process in found if each == part)
        return part, self.dice.choice(chosen)[1]


def kind(process: psutil.Process) -> str:
    """Whose process it is; empty for one that has just ended."""
    line = running.line(process)
    return next((part for words, part in PARTS.items() if words in line), "")


@contextmanager
def laid(home: Path, seed: int, size: Size, wanted: tuple[str, ...] = TEN) -> Iterator[Siege]:
    """A site with ten jobs, or those wanted, in its queue, and a model trained before."""
    # A temp folder that nobody else uses; Ray's sockets need a short path.
    temp = Path(tempfile.mkdtemp(prefix="lp", dir="/tmp"))
    try:
        with running.house(home) as house:
            built = Siege(house, temp, random.Random(seed), size)
            _fill(built)
            built.serve()
            _queue(built, wanted)
            yield built
    finally:
        shutil.rmtree(temp, ignore_errors=True)


def _fill(built: Siege) -> None:
    """Projects to work on, and an archive to import."""
    house = built.house
    store = Files(str(house.home / "files"), house.home / "cache")
    built.made = {"seen": many.boards(house.database, store, "seen", built.size.images)}
    few, more = samples.draw(store, "pcb", 9, seed=5), samples.draw(store, "pcb", BROUGHT, seed=6)
    for name, drawn in {"drawn": few, "small": few, "shared": few, "more": more}.items():
        with house.database.write.begin() as session:
            built.made[name] = samples.create(session, name, "pcb", drawn).id
    with house.database.read() as session:
        everything = export_choice.asked({"states": [export_choice.ALL]})
        out = house.home / "boards.zip"
        exports.run(session, store, "more", out, "coco", lambda _done, _all: None, everything)
    with house.database.write.begin() as session:
        built.made["brought"] = catalogue.create(session, "brought").id


def _queue(built: Siege, wanted: tuple[str, ...]) -> None:
    """The jobs in their two lanes: what is long, and what is short."""
    with built.house.database.write.begin() as session:
        first = trainings.retrain(session, built.made["drawn"], "golden", seed=1).job
    assert built.house.until_ended(first.id).state is JobState.DONE
    with built.house.database.write.begin() as session:
        asked = _asked(built, session)
        built.jobs = {name: asked[name]().id for name in wanted}


def _asked(built: Siege, session: Session) -> dict[str, Callable[[], Job]]:
    """How each job is asked for."""
    where, retrain = built.made, partial(trainings.retrain, session, start="scratch", seed=1)
    alone = {"image_size": 96, "batch": 2, "epochs": built.size.epochs}
    shared = {**alone, "workers": built.size.workers}
    detect = partial(detection.ask, session, where["seen"], "golden")
    archive, every = str(built.house.home / "boards.zip"), {"states": [export_choice.ALL]}
    proposing = proposals.request(session, where["small"], {"states": ["new"]})
    queued: dict[str, kinds.Request] = {
        "import": kinds.Import(where["brought"], archive),
        "export": kinds.Export(where["more"], "voc", every),
        "propose": proposing,
        "check on Ray": kinds.Check(None, 20, 0.1, cluster=True),
        "check": kinds.Check(None, 40, 0.25),
    }
    return {
        "train yolo": lambda: retrain(where["small"], "yolo", parameters=alone).job,
        "train faster_rcnn": lambda: retrain(where["shared"], "faster_rcnn", parameters=shared).job,
        "train golden": lambda: trainings.retrain(session, where["drawn"], "golden", seed=1).job,
        "detect on Ray": lambda: detect(options={"ray": True, "again": True}),
        "evaluate": lambda: trainings.evaluate(session, where["drawn"], "v1"),
        "detect": lambda: detect(options={"again": True}),
        **{name: partial(queue.enqueue, session, one) for name, one in queued.items()},
    }


def check_ended(built: Siege, seconds: float) -> None:
    """Each job has ended well and once, and what it made is whole."""
    house, names = built.house, list(built.jobs)
    ended = {name: house.until_ended(id, seconds) for name, id in built.jobs.items()}
    assert [(n, job.state, job.error) for n, job in ended.items()] == [
        (name, JobState.DONE, "") for name in names
    ]
    assert {name: _ends(house, id) for name, id in built.jobs.items()} == dict.fromkeys(names, 1)
    assert ended["export"].result["images"] == BROUGHT
    with house.database.read() as session:
        summaries = {one.project.name: one for one in catalogue.summaries(session)}
        counts = [(summaries[n].images, summaries[n].boxes) for n in ("more", "brought")]
        assert counts[0] == counts[1]
        made = {n: registry.models(session, id) for n, id in built.made.items()}
    states = {name: [(m.name, m.state) for m in models] for name, models in made.items()}
    for job, name in {"train yolo": "small", "train faster_rcnn": "shared"}.items():
        assert states[name] == ([("v1", ModelState.READY)] if job in names else [])
    assert states["drawn"] == [("v2", ModelState.READY), ("v1", ModelState.READY)]
    detected = found(house, built.jobs["detect"])
    assert len(detected) == built.size.images
    assert detected == undisturbed(built)
    if "detect on Ray" in names:
        assert detected == found(house, built.jobs["detect on Ray"])


def undisturbed(built: Siege) -> list[tuple[str, int, list[tuple[float, ...]]]]:
    """The same detection when nothing is killed."""
    with built.house.database.write.begin() as session:
        options = {"again": True, "ray": False}
        job = detection.ask(session, built.made["seen"], "golden", options=options).id
    built.house.until_ended(job)
    return found(built.house, job)


def found(house: House, run: int) -> list[tuple[str, int, list[tuple[float, ...]]]]:
    """Every picture of a run, how many detections it was counted with, and these."""
    boxes: dict[int, list[tuple[float, ...]]] = {}
    with house.database.read() as session:
        pictures = session.execute(
            select(RunImageRow.name, RunImageRow.image_id, RunImageRow.detections)
            .where(RunImageRow.run_id == run, RunImageRow.status == "ok")
            .order_by(RunImageRow.name)
        ).all()
        d = DetectionRow
        for image, *box in session.execute(
            select(d.image_id, d.x1, d.y1, d.x2, d.y2, d.score)
            .where(d.run_id == run)
            .order_by(d.image_id, d.idx)
        ):
            boxes.setdefault(image, []).append(tuple(round(value, 3) for value in box))
    return [(name, count, boxes.get(image, [])) for name, image, count in pictures]


def check_left(built: Siege) -> None:
    """Nothing runs for a job any more; and once the site has ended, nothing at all is left."""
    house = built.house
    house.until_none(lambda: at_work(house), 15.0)
    built.site.send_signal(signal.SIGTERM)
    assert built.site.wait(30) == 0
    house.until_empty()
    assert sorted(path.name for path in built.temp.iterdir()) == []
    assert list((house.home / "jobs").iterdir()) == []
    assert [path for path in house.home.rglob("*.part") if path.is_dir()] == []
    checked.whole(house.database, files.connect(Settings(home=house.home)))


def at_work(house: House) -> list[str]:
    """Processes and actors that carry out something."""
    lines = [running.line(process) for process in house.processes()]
    actors = [line for line in lines if line.startswith("ray::")]
    busy = [line for line in actors if not any(word in line for word in RAYS_OWN)]
    return busy + [line for line in lines if "workers.runner" in line]


def _ends(house: House, job: int) -> int:
    with house.database.read() as session:
        return [event.text for event in journal.read(session, job)].count("Done.")
