"""Twenty people label at once on one server, which is then killed and started again under them.

Each is a thread that does over HTTP what a browser does: ask for a window of images, look at one,
save its boxes, keep what was not answered and send it again. Run:
python -m tests.benchmarks.site.many_people [--people N --seconds S --keep]
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from backend.domain import Project
from backend.labels import images, labelling, samples
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import engine, files, schema
from tests.benchmarks import results
from tests.journeys import conftest

PICTURES = 400
PAUSE = 0.5


@dataclass
class Labeler:
    """One person with images of their own, and what the server said of each save."""

    number: int
    project: Project
    images: Sequence[int]
    url: str
    stopping: threading.Event
    milliseconds: list[float] = field(default_factory=list)
    shown: dict[int, tuple[int, int]] = field(default_factory=dict)
    sent_again: int = 0
    refused: list[str] = field(default_factory=list)

    def work(self) -> None:
        """Label one image after the other until told to stop."""
        chance = random.Random(self.number)
        with httpx.Client(timeout=60, headers={"X-Loupe": "1"}) as client:
            versions = {one: 1 for one in self.images}
            while not self.stopping.wait(chance.uniform(0.5, 1.5) * PAUSE):
                image = chance.choice(self.images)
                versions[image] = self.save(client, image, versions[image], chance)

    def save(self, client: httpx.Client, image: int, version: int, chance: random.Random) -> int:
        """Look, save, and send again until there is an answer."""
        mark = chance.randrange(1_000_000)
        box = {
            "id": "", "x1": 10, "y1": 10, "x2": 20 + mark % 600, "y2": 20 + mark / 2000,
            "label": self.project.classes[0].name, "origin": "human", "detection": None,
        }  # fmt: skip
        while not self.stopping.is_set():
            began = time.perf_counter()
            try:
                answer = client.put(
                    f"{self.url}/api/images/{image}/boxes",
                    json={"version": version, "boxes": [box]},
                )
            except httpx.HTTPError:
                self.sent_again += 1
                time.sleep(0.5)
                continue
            self.milliseconds.append(1000 * (time.perf_counter() - began))
            if answer.status_code == 409:
                # The server had saved it when the line broke: the version has moved by ours.
                version = int(answer.json()["theirs"]["version"])
                continue
            if answer.status_code != 200:
                self.refused.append(answer.text[:200])
                return version
            version = int(answer.json()["version"])
            self.shown[image] = (version, mark)
            self.look(client, image)
            return version
        return version

    def look(self, client: httpx.Client, image: int) -> None:
        """The window and the picture that a browser asks for."""
        try:
            base = f"{self.url}/api/projects/{self.project.id}/images/{image}/around"
            window = client.get(f"{base}?before=1&after=3").json()
            sha256 = window["items"][0]["sha256"]
            client.get(f"{self.url}/files/{sha256}/preview")
        except httpx.HTTPError:
            time.sleep(0.2)


def main() -> None:
    """Print p50 and p95 of a save, the memory of the server, and what was lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="loupe-people-"))
    try:
        rows = _measure(home, given.people, given.seconds)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    if given.keep:
        results.keep("many_people", rows)


def _measure(home: Path, people: int, seconds: float) -> list[results.Figure]:
    project, ids = _fill(home)
    url, process = conftest.start(home, "--no-worker")
    port = url.rsplit(":", 1)[1]
    stopping = threading.Event()
    share = len(ids) // people
    crowd = [
        Labeler(n, project, ids[n * share : (n + 1) * share], url, stopping) for n in range(people)
    ]
    threads = [threading.Thread(target=one.work) for one in crowd]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    times = [ms for one in crowd for ms in one.milliseconds]
    memory = psutil.Process(process.pid).memory_info().rss / 1e6
    low, high = _say(f"{people} people, {len(times) / seconds:.0f} saves/s: save", times)
    print(f"memory of the server process: {memory:.0f} MB")
    process.kill()
    process.wait()
    _, process = conftest.start(home, "--no-worker", "--port", port)
    time.sleep(8)
    stopping.set()
    for thread in threads:
        thread.join()
    conftest.stop(process)
    lost = _check(home, crowd)
    how = f"{people} people for {seconds:g} s, SQLite, {results.machine()}"
    rows = [
        ("a save: p50", round(low), "ms", f"p95 {high:.0f}"),
        ("memory of the server", round(memory), "MB", ""),
        ("saves lost by a kill", lost, "", ""),
    ]
    return [results.Figure(*row, how=how) for row in rows]


def _fill(home: Path) -> tuple[Project, list[int]]:
    settings = Settings(home=home)
    database, store = engine.connect(settings), files.connect(settings)
    schema.prepare(database)
    drawn = samples.draw(store, "pcb", 60, 1)
    new = [one for one in drawn if not one.is_golden]
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", classes=["short"])
        many = [
            images.NewImage(f"{n:04d}.png", new[n % len(new)].sha256, 640, 640, labelled=True)
            for n in range(PICTURES)
        ]
        images.add(session, project.id, many, "benchmark")
        ids = sorted(images.ids(session, project.id, [one.name for one in many]).values())
    database.close()
    return project, ids


def _check(home: Path, crowd: Sequence[Labeler]) -> int:
    """Every save that was answered must stand in the history with the box it carried."""
    database = engine.connect(Settings(home=home))
    lost = 0
    with database.read.begin() as session:
        for one in crowd:
            for image, (version, mark) in one.shown.items():
                boxes = labelling.revision(session, image, version).boxes
                lost += boxes[0].x2 != 20 + mark % 600
    database.close()
    answered = sum(len(one.shown) for one in crowd)
    again = sum(one.sent_again for one in crowd)
    refused = [text for one in crowd for text in one.refused]
    print(f"killed and started again: {answered} last saves answered, {lost} lost, {again} retries")
    print(f"refused: {len(refused)} {refused[:1]}")
    return lost


def _say(words: str, milliseconds: Sequence[float]) -> tuple[float, float]:
    ranked = sorted(milliseconds)
    p50 = statistics.median(ranked)
    p95 = ranked[min(len(ranked) - 1, round(0.95 * len(ranked)))]
    print(f"{words} p50 {p50:.0f} ms, p95 {p95:.0f} ms (n={len(ranked)})")
    return p50, p95


if __name__ == "__main__":
    main()
