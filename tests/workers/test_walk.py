"""Ten people at once on a server that is killed.

`tests/benchmarks/site/random_walk.py` takes longer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import walking
from tests.homes import checked
from tests.workers import besieged


@pytest.mark.again
def test_nothing_is_amiss_after_ten_people_and_a_killed_server(tmp_path: Path) -> None:
    with besieged.serving_at(tmp_path) as site:
        runs = walking.fill(site.database, site.files)
        people = walking.walk(site.url, runs, 1, 8.0, site.kill, 1)
        checked.whole(site.database, site.files)
    assert [one for person in people for one in person.failures] == []
    assert sum(person.said["save 200"] for person in people)
