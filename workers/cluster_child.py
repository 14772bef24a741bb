"""The worker's hold on the cluster: a process of its own, started at the first wish for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.jobs import cards
from backend.jobs.presence import Node, Sight
from backend.settings import Settings
from workers import attempt
from workers.attempt import Child

log = logging.getLogger(__name__)
PATIENCE = 5.0
SETTLED = 20.0  # seconds, after which a worker is there to stay
START = 120.0  # seconds; where a part of Ray is lost while it starts, it waits for it for ever


@dataclass(slots=True)
class Keeper:
    """Starts `python -m workers.cluster`, hands out its address, and notices when it breaks down.

    Ray lives in that process and not in the worker, whose heartbeat it must not hold up.
    """

    settings: Settings
    _child: Child | None = None
    _ready: dict[str, Any] = field(default_factory=dict)
    _seen: dict[str, Any] = field(default_factory=dict)
    _waiting: list[Child] = field(default_factory=list)
    _dead: Child | None = None
    _broken: bool = False
    _began: float = 0.0

    def want(self, who: Child) -> None:
        """Tell the address to a job's process as soon as it is known."""
        self._waiting.append(who)
        if self._child is None:
            log.info("The Ray cluster starts.")
            self._child, self._began = attempt.spawn("workers.cluster"), time.monotonic()

    def tick(self) -> None:
        """Hear what the cluster's process says."""
        self._broken = False
        self._clear_away()
        if self._child is None:
            return
        for message in self._child.messages():
            if "error" in message:
                self._tell(message)
            elif "address" in message:
                self._ready = message
                log.info("The Ray cluster is ready.")
            else:
                self._seen = message
        if self._ready:
            self._tell(self._ready)
        if self._is_late():
            log.warning("The Ray cluster is given up: it has not started in %.0f s.", START)
        if self._is_late() or self._child.has_ended():
            self._tell({"error": "The Ray cluster could not be kept alive."})
            self._broken = bool(self._ready)
            self._dead = self._child
            self._child, self._ready, self._seen = None, {}, {}

    def broke_down(self) -> bool:
        """Whether the cluster was lost in this round."""
        return self._broken

    def sight(self, jobs: Mapping[int, int]) -> Sight:
        """Nodes, GPUs, memory, and where our jobs (by their process) run: some seconds ago."""
        state = "ready" if self._ready else "starting" if self._child else "off"
        sees: Sight = {"state": state, "address": self._ready.get("address", "")}
        sees["cards"] = cards.can_be_had(self.settings)
        sees["jobs"] = list(jobs.values())
        if self._seen:
            sees["nodes"] = [_with_jobs(node, jobs) for node in self._seen["nodes"]]
            sees["free"] = self._seen["free"]
            sees["temp_mb"] = self._seen["temp_mb"]
        return sees

    def close(self) -> None:
        """Leave the cluster; one of our own ends with it."""
        self._clear_away()
        if self._child is not None:
            self._child.send({"stop": True})
            end = time.monotonic() + PATIENCE
            while not self._child.has_ended() and time.monotonic() < end:
                time.sleep(0.05)
            self._child.kill()
        self._child, self._ready, self._seen = None, {}, {}

    def _clear_away(self) -> None:
        """End what is left of a lost cluster, a round after its jobs: they read its files."""
        if self._dead is not None:
            self._dead.kill()
            self._dead = None

    def _is_late(self) -> bool:
        return not self._ready and time.monotonic() > self._began + START

    def _tell(self, message: dict[str, Any]) -> None:
        for who in self._waiting:
            who.send(message)
        self._waiting.clear()


@dataclass(slots=True)
class Resident:
    """Keeps `python -m workers.resident` alive, which answers what a person waits for.

    It is started ahead of the first question, but not for a worker that a command has for seconds.
    """

    ahead: float = field(default_factory=lambda: time.monotonic() + SETTLED)
    _child: Child | None = None
    _not_before: float = 0.0

    def tick(self, is_asked: Callable[[], bool]) -> None:
        """Start it, or start it again some time after it died."""
        if self._child is not None and self._child.has_ended():
            log.warning("The resident process ended with code %d.", self._child.kill())
            self._child, self._not_before = None, time.monotonic() + PATIENCE
        now = time.monotonic()
        if self._child is None and now >= self._not_before and (now >= self.ahead or is_asked()):
            self._child = attempt.spawn("workers.resident")

    def close(self) -> None:
        """End it; a job in its hands goes back to the queue when its death is seen."""
        if self._child is not None:
            self._child.kill()
            self._child = None


def _with_jobs(node: Mapping[str, Any], jobs: Mapping[int, int]) -> Node:
    """A node with the actors of each of our jobs in the place of those of each process."""
    ours: dict[str, int] = {}
    others = 0
    for process, actors in node["actors"].items():
        if process in jobs:
            ours[str(jobs[process])] = actors
        else:
            others += actors
    return {
        "name": node["name"],
        "kind": node.get("kind", ""),
        "cores": node["cores"],
        "gpus": node["gpus"],
        "memory_gb": node["memory_gb"],
        "free": node["free"],
        "jobs": ours,
        "others": others,
    }
