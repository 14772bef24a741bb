"""An actor that carries out one trial after another, and stays warm between them.

Its trials run in one thread of it, so that it can be heard and answered meanwhile.
"""

from __future__ import annotations

import logging
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from backend import settings
from workers import cards, offline
from workers.families.base import Parameters, TrainingSet
from workers.tuning import errands, seats
from workers.tuning.errands import Errand

log = logging.getLogger(__name__)
EVERY = 5.0  # seconds between two sentences of progress


@dataclass(frozen=True, slots=True)
class Cargo:
    """What all trials of a search have in common; it travels to each actor once."""

    module: str
    data: TrainingSet
    start: Path | None


@dataclass(frozen=True, slots=True)
class TrialTold:
    """Where an actor is, which cards are its own, and whether torch can use them.

    `sees` is whether it sees the folder of the trials.
    """

    node: str
    machine: str
    cards: tuple[str, ...]
    usable: bool
    sees: bool


class Trier:
    """One process on one place of the cluster."""

    def __init__(self, cargo: Cargo) -> None:
        os.environ["LOUPE_RAY_ADDRESS"] = ""  # a training in here is of this process alone
        settings.current.cache_clear()
        os.environ.update(offline.environment())
        self.cargo = cargo
        self.errands: SimpleQueue[Errand] = SimpleQueue()
        self.messages: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self.words: SimpleQueue[str] = SimpleQueue()
        self.said = 0.0

    def hello(self, folder: str) -> TrialTold:
        """Ready."""
        import ray

        given = tuple(str(one) for one in ray.get_gpu_ids())
        node = ray.get_runtime_context().get_node_id()
        usable = bool(given) and bool(cards.names())
        return TrialTold(node, platform.node(), given, usable, Path(folder).is_dir())

    def sit(self, at: int, count: int) -> None:
        """Work from now on, with the share of the cores that one of so many on this machine has."""
        Thread(target=self._serve, args=(at, count), daemon=True).start()

    def begin(self, parameters: Mapping[str, Any], folder: str) -> None:
        """Carry out a trial as soon as the one before it has ended."""
        cargo = self.cargo
        given = Parameters(**parameters)
        self.errands.put(Errand(cargo.module, cargo.data, cargo.start, given, Path(folder)))

    def hear(self) -> tuple[Any, ...]:
        """Wait for what it has to say."""
        return self.messages.get()

    def say(self, word: str) -> None:
        """The answer to an epoch."""
        self.words.put(word)

    def send(self, obj: Any, /) -> None:
        """The training tells something; how far it is, only now and then."""
        if obj[0] == "progress":
            if time.monotonic() - self.said < EVERY:
                return
            self.said = time.monotonic()
        self.messages.put(obj)

    def recv(self) -> str:
        """The training waits for a word."""
        return self.words.get()

    def _serve(self, at: int, count: int) -> None:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, seats.share(cores, at, count))
        while True:
            errand = self.errands.get()
            try:
                errands.carry_out(self, errand)
            except BaseException:
                log.exception("A trial ended its process.")
                os._exit(1)
