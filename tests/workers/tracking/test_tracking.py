"""A training in mlflow, read back by mlflow's own client, whatever happens to either."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

import workers
from backend.domain import JobState
from backend.jobs import claims, presence, queue
from backend.jobs.lanes import Lane
from backend.models import registry, snapshots
from backend.models import tracked as tracking_rows
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import TrackedRunRow
from tests.workers.tracking import stores
from tests.workers.tracking.stores import CLASSES, Tracking, losses
from workers.tracking import telling

LOAD = """
import json, sys, mlflow, pandas
mlflow.set_tracking_uri(sys.argv[1])
model = mlflow.pyfunc.load_model("models:/boards@champion")
image, golden = (open(path, "rb").read() for path in sys.argv[2:4])
found = model.predict(pandas.DataFrame([{"image": image, "golden": golden}]))
code = sys.modules["workers"].__file__
print(json.dumps([code, found[["label", "x1", "y1", "x2", "y2"]].values.tolist()]))
"""


def loaded(uri: str, *pictures: Path) -> tuple[str, list[list[Any]]]:
    """What the champion in the store finds, by itself, and where its code was."""
    command = [sys.executable, "-I", "-c", LOAD, uri, *map(str, pictures)]
    said = subprocess.run(command, check=True, capture_output=True, cwd="/").stdout
    code, found = json.loads(said.splitlines()[-1])
    return code, [[CLASSES.index(label), *box] for label, *box in found]


def champion(tracking: Tracking) -> str:
    """The version to which the alias leads."""
    return str(tracking.client().get_model_version_by_alias("boards", "champion").version)


def test_the_run_opens_when_the_training_begins(tracking: Tracking) -> None:
    started = tracking.retrain(tracking.sample(), epochs=9, extra={"tolerance": 1.5})
    tracking.tell()
    assert tracking.client().search_experiments(filter_string="name = 'boards'") == []
    job = tracking.claim()
    tracking.epochs(job, 1, 2)
    tracking.tell()
    run = tracking.run()
    assert run.info.status == "RUNNING"
    assert tracking.curve("loss") == losses(1, 2)
    params = {"epochs": "9", "seed": "1", "tolerance": "1.5", "family": "golden"}
    assert params.items() <= run.data.params.items()
    tags = {"loupe.job": str(job.id), "mlflow.user": "ana", "distributed": "False"}
    assert tags.items() <= run.data.tags.items()
    assert run.inputs is not None
    (read,) = run.inputs.dataset_inputs
    with tracking.database.read() as session:
        digest = snapshots.digest(session, started.model.snapshot_id or 0)
    assert read.dataset.digest == digest[:36]


def test_killed_cancelled_and_resumed_it_is_one_run(tracking: Tracking) -> None:
    tracking.retrain(tracking.sample())
    first = tracking.claim()
    tracking.epochs(first, 1)
    tracking.tell()
    with tracking.database.write.begin() as session:
        claims.take_away(session, first, 0, "Its worker died.")
    tracking.tell()
    assert tracking.run().info.status == "SCHEDULED"
    second = tracking.claim()
    tracking.epochs(second, 2)
    with tracking.database.write.begin() as session:
        queue.cancel(session, second.id)
        claims.release(session, second, "")
    tracking.tell()
    assert (tracking.run().info.status, tracking.curve("loss")) == ("KILLED", losses(1, 2))
    with tracking.database.write.begin() as session:
        queue.retry(session, second.id)
    third = tracking.claim()
    tracking.epochs(third, 3, 4)
    tracking.tell()
    assert tracking.run().info.status == "RUNNING"
    with tracking.database.write.begin() as session:
        claims.fail(session, third, "No room.")
    tracking.tell()
    assert (tracking.run().info.status, tracking.curve("loss")) == ("FAILED", losses(1, 2, 3, 4))


def test_what_the_teller_had_not_kept_when_it_was_killed_is_told_once(tracked: Tracking) -> None:
    tracked.retrain(tracked.sample())
    job = tracked.claim()
    tracked.epochs(job, 1, 2)
    tracked.tell()
    with tracked.database.write.begin() as session:
        tracking_rows.told(session, 1, run="", told=0, told_state="")
    tracked.tell()
    assert tracked.curve("loss") == losses(1, 2)


def test_the_alias_champion_follows_ours(tracked: Tracking) -> None:
    project = tracked.sample()
    for _ in range(2):
        started = tracked.retrain(project)
        tracked.finish(started, tracked.claim())
    with tracked.database.write.begin() as session:
        asked = {**started.model.parameters, "learning_rate": 0.02}
        weights = registry.get(session, started.model.id).weights
        figures = {"map50": 0.5, "images": 4, "confusion": stores.CONFUSION}
        registry.complete(
            session, started.model.id, weights, figures, provenance={"trial": 3}, parameters=asked
        )
    tracked.tell()
    client = tracked.client()
    assert champion(tracked) == "1"
    best = {n: v for n, v in tracked.run("v2").data.tags.items() if n.startswith("best.")}
    assert best == {"best.trial": "3", "best.learning_rate": "0.02"}
    tracked.promote(started)
    tracked.tell()
    assert champion(tracked) == "2"
    run = tracked.run("v2")
    assert run.info.status == "FINISHED"
    assert run.data.metrics["held_out_map50"] == 0.5
    kept = {one.path for one in client.list_artifacts(run.info.run_id)}
    assert kept == {"model", "curves.csv", "confusion.csv", "evaluation.json"}


def test_runs_of_a_search_stand_under_it(tracked: Tracking) -> None:
    project = tracked.sample()
    job = tracked.retrain(project).job
    with tracked.database.write.begin() as session:
        above = tracking_rows.follow(session, project.id, job.id, "search 1", tags={"trials": 2})
        trial = tracking_rows.begin(
            session, project.id, "trial 0", parent=above, parameters={"batch": 4}
        )
        tracking_rows.tell(session, trial, {"loss": 0.5}, 1)
    tracked.claim()
    tracked.tell()
    nested = tracked.run("trial 0")
    assert nested.data.tags["mlflow.parentRunId"] == tracked.run("search 1").info.run_id
    assert (nested.info.status, nested.data.params["batch"]) == ("RUNNING", "4")
    with tracked.database.write.begin() as session:
        tracking_rows.tell(session, trial, {"loss": 0.4}, 2)
        tracking_rows.end(session, trial, JobState.FAILED)
    tracked.tell()
    nested = tracked.run("trial 0")
    assert (nested.info.status, nested.data.metrics["loss"]) == ("FAILED", 0.4)


def test_what_was_under_way_in_a_search_ends_and_goes_on_with_it(tracking: Tracking) -> None:
    project = tracking.sample()
    tracking.retrain(project)
    job = tracking.claim()
    with tracking.database.write.begin() as session:
        above = tracking_rows.of_job(session, job.id)
        for name in ("under way", "done"):
            trial = tracking_rows.begin(session, project.id, name, parent=above)
        tracking_rows.end(session, trial)
    tracking.tell()
    with tracking.database.write.begin() as session:
        claims.fail(session, job, "No room.")
    tracking.tell()
    names = ("under way", "done")
    assert [tracking.run(name).info.status for name in names] == ["FAILED", "FINISHED"]
    with tracking.database.write.begin() as session:
        queue.retry(session, job.id)
    tracking.claim()
    tracking.tell()
    assert [tracking.run(name).info.status for name in names] == ["RUNNING", "FINISHED"]


def test_a_run_that_somebody_has_deleted_is_let_go_with_a_sentence(tracked: Tracking) -> None:
    tracked.retrain(tracked.sample())
    job = tracked.claim()
    tracked.tell()
    tracked.client().delete_run(tracked.run().info.run_id)
    tracked.epochs(job, 1)
    tracked.tell()
    with tracked.database.read() as session:
        assert tracking_rows.waiting(session) == []
        assert "deleted" in tracking_rows.get(session, 1).error


def test_a_run_that_cannot_be_told_holds_up_no_later_one(tracked: Tracking) -> None:
    project, blocked = tracked.sample(), tracked.settings.home / "mlruns"
    blocked.touch()  # where the files of a finished training are to lie
    tracked.finish(tracked.retrain(project), tracked.claim())
    tracked.retrain(project)
    tracked.epochs(tracked.claim(), 1)
    thread = threading.Thread(target=tracked.tell)
    thread.start()
    tracked.until_told("v2")
    blocked.unlink()
    thread.join()
    assert tracked.run("v1").info.status == "FINISHED"
    assert tracked.run("v2").data.metrics["loss"] == 1


def test_a_run_whose_machine_is_gone_for_good_is_told_by_another(tracking: Tracking) -> None:
    started = tracking.retrain(tracking.sample())
    elsewhere = "elsewhere/4f2a/1:77:5"
    with tracking.database.write.begin() as session:
        presence.show(session, elsewhere, {})
        job = claims.claim(session, elsewhere, Lane.LONG)
        assert job is not None
        claims.fail(session, job, "The machine burned down.")
    tracking.tell()
    assert tracking.client().search_experiments(filter_string="name = 'boards'") == []
    with tracking.database.write.begin() as session:
        presence.leave(session, elsewhere)
    tracking.tell()
    assert tracking.run(started.model.name).info.status == "FAILED"


@pytest.mark.usefixtures("off")
def test_where_mlflow_is_off_nothing_is_written_down_for_it(tracked: Tracking) -> None:
    tracked.retrain(tracked.sample())
    tracked.claim()
    with tracked.database.read() as session:
        assert tracking_rows.waiting(session) == []
        assert session.scalar(select(func.count()).select_from(TrackedRunRow)) == 0


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError("API request to http://ana:pa@ss@host:5000/api failed\nat once"),
         "API request to http://…@host:5000/api failed"),
        (ConnectionResetError(), "ConnectionResetError"),
    ],
)  # fmt: skip
def test_what_a_store_says_is_told_without_its_password(error: Exception, told: str) -> None:
    assert telling.said(error) == told


@pytest.mark.again
def test_a_server_that_is_slow_then_killed_is_caught_up(
    sqlite: Database, files: Files, tmp_path: Path, empty_store: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """And the model that it serves gives our boxes in a process that has never heard of Loupe."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "2")
    with stores.serving(tmp_path, empty_store) as server:
        settings = Settings(home=tmp_path, mlflow_uri=server.uri)
        tracking = Tracking(sqlite, files, settings)
        project = tracking.sample()
        started = tracking.retrain(project)
        job = tracking.claim()
        thread = threading.Thread(target=tracking.tell)
        thread.start()  # nobody listens there yet
        tracking.epochs(job, 1)
        server.start()
        thread.join()
        server.signal(signal.SIGSTOP)
        tracking.epochs(job, 2)
        thread = threading.Thread(target=tracking.tell)
        thread.start()
        tracking.epochs(job, 3)
        server.kill()
        tracking.finish(started, job)
        server.start()
        thread.join()
        assert tracking.run().info.status == "FINISHED"
        assert tracking.curve("loss") == losses(1, 2, 3)
        code, found = loaded(server.uri, *tracking.pictures())
    assert not Path(code).is_relative_to(Path(workers.__file__).parent)
    assert np.allclose(found, tracking.boxes(), atol=1e-3)
    assert len(found) > 1
