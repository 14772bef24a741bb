"""Intervals are those of scipy."""

from __future__ import annotations

import pytest
from scipy import stats

from backend import intervals


@pytest.mark.parametrize(("hits", "of"), [(0, 1), (1, 1), (0, 20), (20, 20), (43, 50), (861, 999)])
def test_the_interval_is_wilsons(hits: int, of: int) -> None:
    wanted = stats.binomtest(hits, of).proportion_ci(method="wilson")
    assert intervals.wilson(hits, of) == pytest.approx([wanted.low, wanted.high], abs=1e-9)


def test_nothing_counted_has_no_interval() -> None:
    assert intervals.wilson(0, 0) is None
