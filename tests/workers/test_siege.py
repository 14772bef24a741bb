"""A served site, some of whose processes are killed; twenty: `tests/benchmarks/site/site_kills`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers import siege


@pytest.mark.siege
@pytest.mark.timeout(900)
def test_after_random_kills_each_job_has_ended_once_and_nothing_is_left(tmp_path: Path) -> None:
    with siege.laid(tmp_path, 1, siege.Size(epochs=2, workers=1, images=150)) as site:
        for _ in range(5):
            site.until_at_work()
            site.kill_one()
        siege.check_ended(site, 300.0)
        siege.check_left(site)


@pytest.mark.siege
@pytest.mark.timeout(900)
def test_each_job_without_ray_has_ended_once_after_its_site_worker_and_process_were_killed(
    tmp_path: Path,
) -> None:
    with siege.laid(tmp_path, 1, siege.Size(images=24), siege.QUICK) as site:
        for part in ("job", "worker", "app"):
            site.until_at_work()
            site.kill_one(part)
        siege.check_ended(site, 300.0)
        siege.check_left(site)
    assert dict(site.killed) == {"job": 1, "worker": 1, "app": 1}
