"""What a cluster benchmark measures: over how many processes and nodes, in what order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.errors import Invalid
from backend.jobs import needs
from backend.words import many

TRAIN, DETECT = "train", "detect"
STRONG, WEAK = "strong", "weak"
MOST_REPEATS, MOST_CONFIGURATIONS, MOST_CORES = 20, 40, 1024


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is done, in how many processes, on how many nodes."""

    work: str
    processes: int
    nodes: int

    @property
    def name(self) -> str:
        """What people call it."""
        on = many(self.nodes, "node")
        return f"{self.work}, {many(self.processes, 'process', 'processes')} on {on}"


@dataclass(frozen=True, slots=True)
class Turn:
    """A configuration, measured once."""

    number: int
    configuration: Configuration
    repeat: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is measured; `actors` are the processes that detect, `cores` those of each (0: a
    fair share of a node), `prices` what an hour of a node costs.

    Strong: all processes together do the work that one does; weak: each does as much as one.
    """

    workers: Sequence[int]
    nodes: Sequence[int] = (1,)
    actors: Sequence[int] = ()
    scaling: str = STRONG
    repeats: int = 3
    device: str = needs.AUTO
    cores: int = 0
    prices: Mapping[str, float] = field(default_factory=dict)

    @property
    def configurations(self) -> list[Configuration]:
        """Those that can be: a node has at least one process, and all nodes have as many."""
        asked = [(TRAIN, n) for n in self.workers] + [(DETECT, n) for n in self.actors]
        return [
            Configuration(work, count, nodes)
            for work, count in asked
            for nodes in self.nodes
            if count % nodes == 0
        ]

    @property
    def turns(self) -> Iterator[Turn]:
        """By turns, every second time from the end, so that no drift of the machine counts twice.

        The first of all comes first: the others are held against what it has trained.
        """
        found, number = self.configurations, 0
        for repeat in range(self.repeats):
            for one in found if repeat % 2 == 0 else reversed(found):
                yield Turn(number, one, repeat)
                number += 1


def read(kept: Mapping[str, Any]) -> Plan:
    """A plan as a job keeps it."""
    return Plan(**kept)


def kept(plan: Plan) -> dict[str, Any]:
    """The plan as a job keeps it."""
    return dataclasses.asdict(plan)


def numbers(text: str, what: str) -> list[int]:
    """Counts as a person writes them: 1,2,4."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= needs.MOST_WORKERS for part in parts):
        raise Invalid(
            f"The {what} must be whole numbers from 1 to {needs.MOST_WORKERS} with commas between, "
            f"such as 1,2,4, not {text[:40]!r}."
        )
    return sorted({int(part) for part in parts})


def check(plan: Plan) -> None:
    """Refuse what cannot be measured."""
    needs.check({"device": plan.device})
    if plan.scaling not in (STRONG, WEAK):
        raise Invalid(
            f"There is no scaling {plan.scaling[:40]!r}; there are {STRONG} (all processes share "
            f"the work of one) and {WEAK} (each does as much as one)."
        )
    if not 1 <= plan.repeats <= MOST_REPEATS:
        raise Invalid(f"The repeats must be from 1 to {MOST_REPEATS}, not {plan.repeats}.")
    if not 0 <= plan.cores <= MOST_CORES:
        raise Invalid(f"The cores of a process must be from 0 to {MOST_CORES}, not {plan.cores}.")
    _check_sharing(plan.workers, plan.nodes, "workers")
    if plan.actors:
        _check_sharing(plan.actors, plan.nodes, "actors")
    found = plan.configurations
    if len(found) > MOST_CONFIGURATIONS:
        raise Invalid(
            f"{len(found)} configurations are more than the {MOST_CONFIGURATIONS} that one "
            "benchmark measures: name fewer workers, actors or nodes."
        )


def _check_sharing(counts: Sequence[int], nodes: Sequence[int], what: str) -> None:
    """Each number must be measured somewhere, and somewhere on each number of nodes."""
    for each in nodes:
        if all(count % each for count in counts):
            asked = ", ".join(map(str, counts))
            raise Invalid(
                f"None of {asked} processes can be shared alike by {each} nodes: name a number "
                f"of {what} that {each} divides."
            )
    for count in counts:
        if all(count % each for each in nodes):
            asked = " or ".join(map(str, nodes))
            raise Invalid(
                f"{many(count, 'process', 'processes')} cannot be shared alike by {asked} nodes: "
                f"leave {count} out of the {what}, or measure on one node, too."
            )
