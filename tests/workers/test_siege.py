"""A few kills of a served site; `tests/benchmarks/site/site_kills.py` makes twenty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers import siege

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

KILLS = 5


def test_after_random_kills_each_job_has_ended_once_and_nothing_is_left(tmp_path: Path) -> None:
    with siege.laid(tmp_path, 1, siege.Size(epochs=2, workers=1, images=150)) as site:
        for _ in range(KILLS):
            site.until_at_work()
            site.kill_one()
        siege.check_ended(site, 300.0)
        siege.check_left(site)
