"""The table of a cluster benchmark: what its turns measured, a line a configuration."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend import prices
from backend.models.scaling.scaling_plan import Configuration, Plan


@dataclass(frozen=True, slots=True)
class MeasuredTurn:
    """A turn that is over: its figures, or why there are none."""

    number: int
    configuration: Configuration
    repeat: int
    figures: Mapping[str, Any]
    error: str


@dataclass(frozen=True, slots=True)
class Line:
    """A configuration: medians over its turns, and how it stands beside the first of its work.

    `startup` is the seconds from the wish to the first step, `rate` images a second from then on
    without start and validation, from `slowest` to `quickest`. `equal` is whether the interval of
    the difference of its figure to the first one's holds nothing; `cost` is of 1,000 images.
    """

    work: str
    processes: int
    nodes: int
    name: str
    turns: int
    device: str = ""
    cores: int = 0
    batch: int = 0
    batch_each: int = 0
    startup: float | None = None
    rate: float | None = None
    slowest: float | None = None
    quickest: float | None = None
    speedup: float | None = None
    efficiency: float | None = None
    loss: float | None = None
    figure: str = ""
    value: float | None = None
    interval: Sequence[float] | None = None
    difference: float | None = None
    difference_interval: Sequence[float] | None = None
    equal: bool | None = None
    cost: float | None = None
    error: str = ""


def lines(plan: Plan, turns: Sequence[MeasuredTurn]) -> list[Line]:
    """A line a configuration, in the order of the plan; those not measured yet are bare."""
    found: list[Line] = []
    for one in plan.configurations:
        own = [turn for turn in turns if turn.configuration == one]
        base = next((line for line in found if line.work == one.work and line.rate), None)
        found.append(_line(plan, one, own, base))
    return found


def _line(plan: Plan, one: Configuration, turns: Sequence[MeasuredTurn], base: Line | None) -> Line:
    good = [turn.figures for turn in turns if not turn.error]
    error = next((turn.error for turn in turns if turn.error), "")
    bare: dict[str, Any] = {
        "work": one.work,
        "processes": one.processes,
        "nodes": one.nodes,
        "name": one.name,
    }
    if not good:
        return Line(**bare, turns=0, error=error)
    rates = [float(each["rate"]) for each in good]
    rate = statistics.median(rates)
    processes = base.processes if base else one.processes
    speedup = rate / ((base.rate if base else None) or rate or 1.0)
    return Line(
        **bare,
        turns=len(good),
        startup=statistics.median(float(each["startup"]) for each in good),
        rate=rate,
        slowest=min(rates),
        quickest=max(rates),
        speedup=speedup,
        efficiency=speedup * processes / one.processes,
        cost=_cost(plan, good[-1], rate),
        error=error,
        **_of_first(good),
    )


def _of_first(good: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is measured once, and what it was measured on."""
    plain = ("device", "cores", "batch", "batch_each")
    found = {name: good[0][name] for name in plain if name in good[0]}
    losses = [float(each["loss"]) for each in good if each.get("loss") is not None]
    if losses:
        found["loss"] = statistics.median(losses)
    judged: Mapping[str, Any] = next((each["worth"] for each in good if each.get("worth")), {})
    return found | dict(judged)


def _cost(plan: Plan, figures: Mapping[str, Any], rate: float) -> float | None:
    """Of 1,000 images: all nodes that it stood on, for as long as they took."""
    hour = prices.of(plan.prices, figures.get("placed", ()))
    return None if hour is None or not rate else hour / 3600 * 1000 / rate
