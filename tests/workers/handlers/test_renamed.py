"""Classes are renamed and merged while work on them waits, goes on or is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.domain import Job, Split
from backend.jobs import claims, journal, queue
from backend.models import registry, snapshots, trainings
from backend.projects import classes
from backend.review import views
from backend.weights import start_weights
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers import merged
from workers.evaluation import appraisal
from workers.evaluation.appraisal import Appraisal
from workers.families.base import Example
from workers.weights import start_model


@pytest.fixture
def place(tmp_path: Path, shared_cache: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home", shared_cache)
    yield made
    made.database.close()


def kind(place: Place, project: int, name: str) -> int:
    with place.database.read() as session:
        found = classes.find(session, project, name)
        assert found
        return found.id


def change(place: Place, project: int) -> None:
    """`short` is called otherwise, and every `spur` becomes an `open`."""
    ids = [kind(place, project, name) for name in ("short", "spur", "open")]
    with place.database.write.begin() as session:
        classes.edit(session, ids[0], name="short circuit")
        classes.merge(session, ids[1], ids[2])


def queue_training(place: Place, project: int) -> Job:
    with place.database.write.begin() as session:
        return trainings.retrain(session, project, "golden", seed=1).job


def known(place: Place, project: int, model: str) -> tuple[str, ...]:
    with place.database.read() as session:
        return registry.find(session, project, model).classes


NOW = ("open", "short circuit", "mousebite", "copper", "pin-hole")


def test_a_training_that_waited_while_classes_changed_trains(place: Place) -> None:
    project = place.sample(9)
    queue_training(place, project)
    change(place, project)
    result = place.carry_out(place.claim())
    assert (set(known(place, project, "v1")), result["model"]) == (set(NOW), "v1")


def test_a_training_that_failed_before_is_tried_again_after_classes_changed(place: Place) -> None:
    project = place.sample(9)
    queue_training(place, project)
    job = place.claim()
    left = place.context(job).folder / "training"
    left.mkdir()
    (left / "classes.json").write_text("[1]")
    (left / "last.pt").write_text("of another network")
    with place.database.write.begin() as session:
        claims.fail(session, job, "the light went out")
        queue.retry(session, job.id, "ana")
    change(place, project)
    assert place.carry_out(place.claim())["model"] == "v1"
    assert not (left / "last.pt").exists()


def test_a_model_is_measured_after_a_class_of_its_snapshot_was_taken_out(place: Place) -> None:
    project = place.sample(9)
    queue_training(place, project)
    with place.database.write.begin() as session:
        classes.retire(session, kind(place, project, "spur"))
    assert place.carry_out(place.claim())["model"] == "v1"
    with place.database.write.begin() as session:
        trainings.evaluate(session, project, "v1")
    assert place.carry_out(place.claim())["model"] == "v1"
    assert "spur" in known(place, project, "v1")


def test_the_champion_is_worth_what_it_was_after_a_class_was_renamed(place: Place) -> None:
    project = place.sample(9)
    queue_training(place, project)
    place.carry_out(place.claim())
    with place.database.write.begin() as session:
        classes.edit(session, kind(place, project, "short"), name="short circuit")
    queue_training(place, project)
    place.carry_out(place.claim())
    with place.database.read() as session:
        told = registry.details(session, registry.find(session, project, "v2").id)
    assert told.against["map50"]["difference"] == 0.0
    assert told.against["images"] == []


def test_start_weights_know_a_class_that_was_renamed_since(place: Place) -> None:
    project = place.sample(12)
    small = {"epochs": 1, "image_size": 64, "batch": 4, "variant": "n"}
    sha256 = place.files.put_file(start_weights.ASSETS / "start_yolo11n.safetensors")
    with place.database.write.begin() as session:
        made = registry.add(
            session, project, "yolo", classes=start_model.CLASSES, snapshot_id=None, parameters={}
        )
        registry.complete(session, made.id, sha256, {})
        classes.edit(session, kind(place, project, "short"), name="short circuit")
        trainings.retrain(session, project, "yolo", start="v1", parameters=small, seed=1)
    job = place.claim()
    place.carry_out(job)
    with place.database.read() as session:
        told = [event.text for event in journal.read(session, job.id)]
    assert any(one.startswith("The start weights reach") for one in told)


def test_a_model_from_before_a_merge_finds_the_class_of_now(place: Place) -> None:
    project = place.sample(9)
    queue_training(place, project)
    place.carry_out(place.claim())
    before = found(place, place.detect(project, "v1"))
    change(place, project)
    after = place.detect(project, "v1", options={"again": True})
    assert found(place, after) == joined(before)
    assert found(place, place.detect(project, "v1")) == joined(before)


def found(place: Place, result: dict[str, Any]) -> dict[str, int]:
    with place.database.read() as session:
        return dict(views.summary(session, result["run"]).classes)


def joined(counts: dict[str, int]) -> dict[str, int]:
    """As `change` makes them; the golden board finds no two on one place."""
    left = {name: n for name, n in counts.items() if name not in ("short", "spur")}
    left["short circuit"] = counts["short"]
    left["open"] = counts["open"] + counts["spur"]
    return left


def test_a_snapshot_from_before_a_merge_names_each_class_once(place: Place) -> None:
    project = place.sample(9)
    request = queue_training(place, project).request
    change(place, project)
    with place.database.read() as session:
        frozen = snapshots.get(session, request["snapshot_id"])
        labels = {box.label for one in snapshots.images(session, frozen.id) for box in one.boxes}
    assert frozen.classes == NOW
    assert labels <= set(NOW)


def test_two_boxes_on_one_spot_become_one_when_their_classes_are_merged() -> None:
    spot = [10, 10, 30, 30]
    found = np.array([[*spot, 0.9, 0], [*spot, 0.6, 1], [*spot, 0.5, 2]], np.float32)
    assert merged.once(found, [0, 0, 1])[:, 4:].tolist() == [[np.float32(0.9), 0], [0.5, 1]]
    assert len(merged.once(found, [1, 0, 2])) == 3


def test_the_chances_of_two_classes_that_were_merged_are_those_of_the_one_together() -> None:
    picture = Example(Path("a.png"), 8, 8, Split.TEST, label="worn")
    rows = np.array(
        [[0, 0, 8, 8, 0.4, 2], [0, 0, 8, 8, 0.35, 0], [0, 0, 8, 8, 0.25, 1]], np.float32
    )
    seen = Appraisal((picture,), (merged.renumbered(rows, [0, 0, 1]),), {})
    figures = appraisal.report("classifier", seen, ("worn", "none"))
    assert figures["accuracy"] == 1.0
