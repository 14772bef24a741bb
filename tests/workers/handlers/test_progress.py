"""What a job says of itself while it runs: seldom enough for the database, and never too late."""

from __future__ import annotations

import time
from pathlib import Path

from backend.jobs import kinds, queue
from tests.workers.handlers import places


def test_a_sentence_that_comes_too_soon_is_told_by_a_later_check(tmp_path: Path) -> None:
    place = places.make(tmp_path / "home")
    with place.database.write.begin() as session:
        queue.enqueue(session, kinds.Check(project_id=None))
    context = place.context(place.claim())
    context.progress(0.0, "The cluster is getting ready")
    context.progress(0.5, "Step 1 of 2")
    told, end = "", time.monotonic() + 10
    while told != "Step 1 of 2" and time.monotonic() < end:
        context.check()
        with place.database.read() as session:
            told = queue.get(session, context.job.id).message
    assert told == "Step 1 of 2"
    place.database.close()
