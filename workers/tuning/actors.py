"""Hands that are actors of a Ray cluster, each in a place that the job's process has reserved.

A place is a placement group of its own, so that trials begin on the first that stands, and all
go with the job however that ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backend import families
from backend.errors import Refused
from backend.jobs import needs
from backend.jobs.needs import Need
from workers.demand import names, reservation
from workers.demand.reservation import Reservation
from workers.tuning.errands import Errand
from workers.tuning.hands import Hand, Lost, Message
from workers.tuning.study import Study
from workers.tuning.trier import Cargo, TrialTold, Trier

log = logging.getLogger(__name__)
LOOK_UP = 0.4  # seconds, after which we see whether we should go on
LOOK_AROUND = 5.0  # seconds, after which we see whether there is room for more
MOST_FALSE_STARTS = 5  # an actor
AT_A_TIME = 4  # calls that an actor answers beside each other


@dataclass(eq=False, slots=True)
class Actor:
    """An actor in its place; it is named once it is ready."""

    ray: Any
    held: Reservation
    actor: Any
    due: Any
    name: str = ""
    node: str = ""
    at: int = 0

    def give(self, errand: Errand) -> None:
        """Only what its cargo lacks travels."""
        given = {name: getattr(errand.parameters, name) for name in errand.parameters.__slots__}
        # Which device, is decided by where it stands.
        given["device"] = needs.CPU if self.held.need.device == needs.CPU else needs.AUTO
        try:
            self.actor.begin.remote(given, str(errand.folder))
        except self.ray.exceptions.RayError as error:
            raise Lost from error

    def say(self, word: str) -> None:
        """Who has died is seen by what is due of it."""
        self.actor.say.remote(word)


@dataclass(slots=True)
class Actors:
    """As many as were asked for, or as there is room for; they are replaced where they die."""

    study: Study
    ray: Any
    first: Reservation
    most: int
    wished: bool
    hands: list[Actor] = field(default_factory=list)
    cargo: Any = None
    make: Any = None
    looked: float = 0.0
    stood: float = field(default_factory=time.monotonic)
    false_starts: int = 0
    useless: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        module = families.find(self.study.search.family).module
        cargo = Cargo(module, self.study.laid_out.set, self.study.start)
        self.cargo = self.ray.put(cargo)
        self.make = self.ray.remote(Trier)
        self.hands.append(self._started(self.first))

    def ready(self) -> Sequence[Hand]:
        """Those that have said hello."""
        return [one for one in self.hands if one.name]

    def heard(self) -> Iterator[tuple[Hand, Message | None]]:
        """What they have said, at most one message of each."""
        self._look_around()
        due = {one.due: one for one in self.hands}
        found, others = self.ray.wait(list(due), num_returns=1, timeout=LOOK_UP)
        if found and others:
            found += self.ray.wait(others, num_returns=len(others), timeout=0)[0]
        for ref in found:
            yield from self._received(due[ref], ref)

    def replace(self, hand: Hand) -> None:
        """Another actor in its place."""
        for at, one in enumerate(self.hands):
            if one is hand:
                self.ray.kill(one.actor)
                self.hands[at] = self._started(one.held)

    def close(self) -> None:
        """End all now, and give their places back."""
        for one in self.hands:
            self.ray.kill(one.actor)
            one.held.release()
        self.first.release()

    def _started(self, held: Reservation) -> Actor:
        name = names.named(self.ray, "carries out trials")
        options = {"max_restarts": 0, "max_concurrency": AT_A_TIME, "name": name, **held.place()}
        actor = self.make.options(**options).remote(self.cargo)
        folder = str(self.study.context.folder)
        return Actor(self.ray, held, actor, actor.hello.remote(folder))

    def _received(self, one: Actor, ref: Any) -> Iterator[tuple[Hand, Message | None]]:
        try:
            said = self.ray.get(ref)
        except self.ray.exceptions.RayError as error:
            self._bury(one, error)
            yield one, None
            return
        if isinstance(said, TrialTold):
            self._seat(one, said)
        else:
            yield one, said
        one.due = one.actor.hear.remote()

    def _bury(self, one: Actor, error: Exception) -> None:
        reason = (str(error).strip().splitlines() or [""])[0][:300]
        log.warning("An actor of a search ended (%s: %s).", type(error).__name__, reason)
        self.false_starts += not one.name
        if self.false_starts > MOST_FALSE_STARTS * len(self.hands):
            raise Refused(f"The processes of trials end before they begin: {reason}")
        self.replace(one)

    def _seat(self, one: Actor, told: TrialTold) -> None:
        if not told.sees:
            raise Refused(
                f"The machine {told.machine} does not see the folder {self.study.context.folder}: "
                "trials on a cluster need a home that all of its nodes see."
            )
        taken = {each.at for each in self.hands if each.name and each.node == told.node}
        one.node, one.at = told.node, min(set(range(len(taken) + 1)) - taken)
        self.false_starts = 0
        if told.cards and not told.usable:
            self._complain(told)
        what = f"GPU {','.join(told.cards)}" if told.cards else f"core {one.at}"
        one.name = f"{told.machine} {told.node[:6]}, {what}"[:100]
        one.actor.sit.remote(one.at, min(self.most, self._fit(told.node)))

    def _complain(self, told: TrialTold) -> None:
        """Say once of each machine that its cards are of no use."""
        if told.machine not in self.useless:
            self.useless.add(told.machine)
            self.study.context.log(
                f"Trials on {told.machine} have a GPU, but torch cannot use it: they take cores."
            )

    def _fit(self, node: str) -> int:
        """How many such places a node has."""
        for each in self.ray.nodes():
            if each["NodeID"] == node:
                return max(1, self.first.need.times(each["Resources"]))
        return 1

    def _look_around(self) -> None:
        now = time.monotonic()
        if now - self.looked < LOOK_AROUND:
            return
        self.looked = now
        for _ in range(self._missing()):
            self.hands.append(self._started(reservation.ask(self.ray, self.first.need)))
        if any(one.name for one in self.hands) or self.hands[0].held.stands():
            self.stood = now
            return
        sentence = self.hands[0].held.sentence()
        reservation.check_patience(now - self.stood, sentence)
        self.study.context.progress(None, sentence)
        self.study.check_stopped()

    def _missing(self) -> int:
        """What was asked for is asked of the cluster; without a wish, what is free now is taken."""
        lacking = self.most - len(self.hands)
        if self.wished or lacking <= 0:
            return max(0, lacking)
        room = reservation.room(self.ray, self.first.need) - len(self.hands)
        return max(0, min(lacking, room, reservation.free(self.first.need)))


def opened(study: Study, ray: Any, need: Need, wanted: int, most: int) -> Actors:
    """Wait for the first place, unless a person ends that; the others come while trials go on."""

    def tell(sentence: str) -> None:
        study.context.progress(None, sentence)
        study.check_stopped()

    first = reservation.hold(ray, replace(need, count=1), tell)
    try:
        study.has_waited()
        study.context.log(f"The cluster gives {first.need} to each trial.")
        return Actors(study, ray, first, min(wanted or most, most), wanted > 0)
    except BaseException:
        first.release()
        raise
