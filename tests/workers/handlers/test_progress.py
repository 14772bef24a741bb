"""What a job says of itself while it runs: seldom enough for the database, and never too late."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from backend.jobs import claims, kinds, queue
from backend.models import trainings
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers import data
from workers.context import Context
from workers.handlers.models import train
from workers.training import tensorboard


def test_a_sentence_that_comes_too_soon_is_told_by_a_later_check(tmp_path: Path) -> None:
    place = places.make(tmp_path / "home")
    with place.database.write.begin() as session:
        queue.enqueue(session, kinds.Check(project_id=None))
    context = place.context(place.claim())
    context.progress(0.0, "The cluster is getting ready")
    context.progress(0.5, "Step 1 of 2")
    told, end = "", time.monotonic() + 120
    while told != "Step 1 of 2" and time.monotonic() < end:
        context.check()
        with place.database.read() as session:
            told = queue.get(session, context.job.id).message
    assert told == "Step 1 of 2"
    place.database.close()


def paused_at(place: Place, part: float) -> None:
    """A training that was paused, and waits again."""
    project = place.sample(12)
    with place.database.write.begin() as session:
        trainings.retrain(session, project, "golden")
    job = place.claim()
    with place.database.write.begin() as session:
        claims.progress(session, job, part, "Epoch 6 of 10")
        queue.pause(session, job.id)
        claims.release(session, job, "Paused.")
        queue.resume(session, job.id)


def test_what_prepares_takes_back_nothing_of_how_far_a_training_came(tmp_path: Path) -> None:
    place = places.make(tmp_path / "home")
    paused_at(place, 0.6)
    job = place.claim()
    prepares: list[Callable[[Context], object]] = [
        lambda context: data.lay_out(context, job.request["snapshot_id"]),
        lambda context: train.TrainingReporter(context, tensorboard.Board(None)).progress(
            0.0, "Starting 2 training processes."
        ),
    ]
    for prepare in prepares:
        prepare(place.context(job))
        with place.database.read() as session:
            assert queue.get(session, job.id).progress == 0.6
    place.database.close()


def test_a_training_that_is_tried_again_begins_at_nothing(tmp_path: Path) -> None:
    place = places.make(tmp_path / "home")
    paused_at(place, 0.6)
    with place.database.write.begin() as session:
        job = queue.cancel(session, 1)
        assert queue.retry(session, job.id).progress == 0.0
    place.database.close()
