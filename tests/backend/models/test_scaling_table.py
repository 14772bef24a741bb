"""What the turns of a cluster benchmark come to."""

from __future__ import annotations

from backend.models.scaling import scaling_table
from backend.models.scaling.scaling_plan import Plan
from backend.models.scaling.scaling_table import Line, MeasuredTurn

PLAN = Plan((1, 2))


def told(*rates: float) -> list[Line]:
    """The lines of one turn a configuration."""
    turns = [
        MeasuredTurn(number, one, 0, {"startup": 1.0, "rate": rate}, "")
        for number, (one, rate) in enumerate(zip(PLAN.configurations, rates, strict=False))
    ]
    return scaling_table.lines(PLAN, turns)


def test_each_line_stands_beside_the_first_one() -> None:
    one, two = told(10.0, 15.0)
    assert (one.speedup, one.efficiency) == (1.0, 1.0)
    assert (two.speedup, two.efficiency) == (1.5, 0.75)


def test_what_is_too_slow_to_be_counted_is_no_base_and_no_failure() -> None:
    none, some = told(0.0, 15.0)
    assert (none.rate, none.speedup, none.cost) == (0.0, 0.0, None)
    assert (some.speedup, some.efficiency) == (1.0, 1.0)


def test_what_was_not_measured_yet_is_bare() -> None:
    assert [line.turns for line in told(10.0)] == [1, 0]
