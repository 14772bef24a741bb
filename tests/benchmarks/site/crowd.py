"""People who label and people who look, on a served site: what each waited for, and who failed."""

from __future__ import annotations

import itertools
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from tests.benchmarks import results

PAUSE = 0.3
WAIT = 120.0


@dataclass
class Waits:
    """How long each request of a kind took, in milliseconds, and what was refused."""

    milliseconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def ask(self, request: Callable[[], httpx.Response]) -> httpx.Response | None:
        """One request, measured; None where it failed."""
        began = time.perf_counter()
        try:
            answer = request()
        except httpx.HTTPError as error:
            self.failures.append(repr(error))
            return None
        self.milliseconds.append(1000 * (time.perf_counter() - began))
        if answer.status_code >= 400:
            self.failures.append(f"{answer.status_code} {answer.text[:100]}")
            return None
        return answer

    def add(self, others: Waits) -> None:
        """What was met another time, too."""
        self.milliseconds += others.milliseconds
        self.failures += others.failures

    def row(self) -> str:
        """How many there were, and p50, p95 and the longest."""
        median, p95, longest = self._ranks()
        return (
            f"{len(self.milliseconds):6,}  p50 {median:6.0f} ms  p95 {p95:6.0f} ms  "
            f"longest {longest:6.0f} ms  failed {len(self.failures)} {self.failures[:1] or ''}"
        )

    def figure(self, what: str, how: str) -> results.Figure:
        """The same, to be kept."""
        median, p95, longest = self._ranks()
        count = f"{len(self.milliseconds):,} in all, {len(self.failures)} failed"
        spread = f"p95 {p95:.0f}, longest {longest:.0f}; {count}"
        return results.Figure(f"{what}: p50", round(median), "ms", spread, how=how)

    def _ranks(self) -> tuple[float, float, float]:
        ranked = sorted(self.milliseconds) or [0.0]
        p95 = ranked[min(len(ranked) - 1, round(0.95 * len(ranked)))]
        return statistics.median(ranked), p95, ranked[-1]


@dataclass
class Crowd:
    """What people met while they were at it."""

    saves: Waits = field(default_factory=Waits)
    reads: Waits = field(default_factory=Waits)


@contextmanager
def at_work(url: str, project: int, images: Sequence[Sequence[int]]) -> Iterator[Crowd]:
    """A person for each list of images, who saves now and then; two more look through the grid."""
    crowd, stopping = Crowd(), threading.Event()

    def label(own: Sequence[int], number: int) -> None:
        chance, versions = random.Random(number), dict.fromkeys(own, 0)
        with httpx.Client(timeout=WAIT, headers={"X-Loupe": "1"}) as client:
            for image in itertools.cycle(own):
                if stopping.wait(chance.uniform(0.5, 1.5) * PAUSE):
                    return
                body = {"version": versions[image], "boxes": [], "state": "started"}
                path = f"{url}/api/images/{image}/boxes"
                answer = crowd.saves.ask(lambda p=path, b=body: client.put(p, json=b))  # type: ignore[misc]
                versions[image] = answer.json()["version"] if answer else versions[image]

    def look(number: int) -> None:
        chance = random.Random(number)
        with httpx.Client(timeout=WAIT) as client:
            while not stopping.wait(chance.uniform(0.5, 1.5) * PAUSE):
                image = chance.choice(images[0])
                path = f"{url}/api/projects/{project}/images/{image}/around?before=1&after=3"
                crowd.reads.ask(lambda p=path: client.get(p))  # type: ignore[misc]
                crowd.reads.ask(lambda: client.get(f"{url}/api/changes"))

    labelling = [threading.Thread(target=label, args=(own, n)) for n, own in enumerate(images)]
    looking = [threading.Thread(target=look, args=(n,)) for n in range(2)]
    for thread in [*labelling, *looking]:
        thread.start()
    try:
        yield crowd
    finally:
        stopping.set()
        for thread in [*labelling, *looking]:
            thread.join()
