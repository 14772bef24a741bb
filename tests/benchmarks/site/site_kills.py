"""Twenty random kills over app, worker and Ray of a served site while ten jobs run.

Takes minutes, so it is run by hand: `pytest tests/benchmarks/site/site_kills.py -s`.
The same with a few kills is in `tests/workers/test_siege.py`.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.workers import siege

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

KILLS = 20
SEED = int(os.environ.get("LOUPE_TEST_SEED", "1"))


def test_twenty_kills_end_each_job_once_and_leave_nothing(tmp_path: Path) -> None:
    with siege.laid(tmp_path, SEED, siege.Size(epochs=8, workers=2, images=1500)) as site:
        began = time.monotonic()
        for _ in range(KILLS):
            site.until_at_work()
            time.sleep(site.dice.uniform(0.0, 2.0))
            site.kill_one()
            print(f"{time.monotonic() - began:6.1f} s  {dict(site.killed)}", flush=True)
        siege.check_ended(site, 400.0)
        print(f"{time.monotonic() - began:6.1f} s  all have ended, each once", flush=True)
        siege.check_left(site)
