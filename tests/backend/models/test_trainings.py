"""Retrain as a click asks for it: all or nothing, checked first, numbered for good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from backend.domain import Box, Job, Model, ModelState, Project, Split, State, Task
from backend.errors import Busy, Invalid, LoupeError, NotFound, Refused
from backend.jobs import claims, queue
from backend.jobs.lanes import Lane
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.models import preflight, registry, snapshots, trainings
from backend.projects import catalogue, classes
from backend.storage.engine import Database
from backend.storage.tables import ModelRow, SnapshotRow

CLASSES = ("open", "short")


@pytest.fixture
def project(database: Database) -> Project:
    """Twelve labelled boards, each with one box of each class and a golden."""
    return filled(database, 12)


def filled(database: Database, count: int, labels: tuple[str, ...] = CLASSES) -> Project:
    with database.write.begin() as session:
        project = catalogue.create(session, f"boards {count}", Task.DETECT, CLASSES)
        golden = NewImage("golden.png", "0" * 64, 640, 640, is_golden=True)
        boxes = tuple(Box(10, 10 * i + 1, 30, 10 * i + 9, label) for i, label in enumerate(labels))
        boards = [
            NewImage(
                f"{i}.png",
                f"{i + 1:064x}",
                640,
                640,
                boxes=boxes,
                golden="golden.png",
                labelled=True,
            )
            for i in range(count)
        ]
        images.add(session, project.id, [golden, *boards], "ann")
        return catalogue.get(session, project.id)


def retrain(database: Database, project: Project, **how: Any) -> trainings.Started:
    with database.write.begin() as session:
        return trainings.retrain(session, project.id, how.pop("family", "yolo"), **how)


def finish(database: Database, started: trainings.Started, **against: Any) -> Model:
    """What the worker does at the end of a training."""
    with database.write.begin() as session:
        job = claims.claim(session, "machine:1:1", Lane.LONG)
        assert job is not None
        figures = {"map50": 0.9, "curves": {"open": []}}
        registry.complete(session, started.model.id, "a" * 64, figures, against=against)
        claims.finish(session, job, {})
        return registry.get(session, started.model.id)


def count(database: Database, row: Any) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(row)) or 0


def test_a_click_freezes_numbers_and_queues(database: Database, project: Project) -> None:
    started = retrain(database, project, seed=3, parameters={"epochs": 2}, author="ann")
    assert (started.model.name, started.model.state) == ("v1", ModelState.TRAINING)
    assert started.job.request["snapshot_id"] == started.model.snapshot_id
    assert started.job.request["parameters"]["epochs"] == 2
    assert started.model.job_id == started.job.id


def test_a_double_click_leaves_nothing_behind(database: Database, project: Project) -> None:
    retrain(database, project)
    with pytest.raises(Busy, match="already waiting"):
        retrain(database, project)
    assert (count(database, ModelRow), count(database, SnapshotRow)) == (1, 1)


def test_the_same_click_sent_twice_gives_the_same_training(
    database: Database, project: Project
) -> None:
    first = retrain(database, project, key="click")
    again = retrain(database, project, key="click")
    assert (again.job.id, again.model.id) == (first.job.id, first.model.id)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"parameters": {"epochs": 0}}, "epochs must be from 1"),
        ({"parameters": {"epochs": 2.5}}, "epochs must be a whole number"),
        ({"parameters": {"image_size": 10**9}}, "image_size must be from 32 to 4096"),
        ({"parameters": {"batch": "many"}}, "batch must be"),
        ({"parameters": {"variant": "huge"}}, "no variant 'huge'"),
        ({"family": "oracle"}, "no model family 'oracle'"),
        ({"family": "classifier"}, "the project's task is detect"),
        ({"start": "v9"}, "no model 'v9'"),
        ({"start": "nowhere.pt"}, "no weights file nowhere.pt"),
        ({"start": "???"}, "is no model of a project"),
        ({"family": "faster_rcnn"}, "no start weights for faster_rcnn mobilenet on this machine"),
        ({"parameters": {"variant": "x"}}, "no start weights for yolo x on this machine"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(
    sqlite: Database, how: dict[str, Any], sentence: str
) -> None:
    project = filled(sqlite, 4)
    with pytest.raises(LoupeError, match=sentence):
        retrain(sqlite, project, **how)
    assert count(sqlite, SnapshotRow) == 0


def test_without_start_weights_a_person_may_ask_for_a_training_from_scratch(
    sqlite: Database,
) -> None:
    started = retrain(sqlite, filled(sqlite, 4), family="faster_rcnn", start="scratch")
    assert started.job.request["parameters"]["extra"] == {"from_scratch": True}


def test_weights_of_another_family_are_refused_before_the_queue(
    sqlite: Database, tmp_path: Path
) -> None:
    header = json.dumps({"__metadata__": {"family": json.dumps("yolo")}}).encode()
    wrong = tmp_path / "model.safetensors"
    wrong.write_bytes(len(header).to_bytes(8, "little") + header)
    project = filled(sqlite, 4)
    with pytest.raises(Refused, match=r"model\.safetensors are of the family yolo, not of faster"):
        retrain(sqlite, project, family="faster_rcnn", start=str(wrong))
    assert retrain(sqlite, project, start=str(wrong)).model.name == "v1"


@pytest.mark.parametrize(
    ("boards", "labels", "sentence"),
    [
        (0, CLASSES, "no labelled image yet"),
        (1, CLASSES, "one labelled image"),
        (4, (), "nothing to learn"),
    ],
)
def test_too_little_is_refused(
    sqlite: Database, boards: int, labels: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(Invalid, match=sentence):
        retrain(sqlite, filled(sqlite, boards, labels))


def test_a_golden_family_needs_goldens(sqlite: Database) -> None:
    project = filled(sqlite, 4)
    with sqlite.write.begin() as session:
        ids = images.ids(session, project.id, [f"{i}.png" for i in range(4)])
        images.set_golden(session, list(ids.values()), None)
    with pytest.raises(Invalid, match="No labelled image has a golden"):
        retrain(sqlite, project, family="golden")


def test_the_check_warns_of_what_will_disappoint(sqlite: Database) -> None:
    project = filled(sqlite, 12, ("open",))
    with sqlite.write.begin() as session:
        ids = list(images.ids(session, project.id, [f"{i}.png" for i in range(12)]).values())
        images.set_split(session, ids[:6], Split.TRAIN)
        images.set_split(session, ids[6:9], Split.VAL)
        images.set_split(session, ids[9:], Split.TEST)
        images.set_group(session, [ids[0], ids[-1]], "lot 7")
        labelling.save(session, ids[1], 1, (), "ann", state=State.DONE)
        report = preflight.check(session, project.id, "yolo")
    assert report.problems == ()
    assert report.images == {"train": 6, "val": 3, "test": 3}
    assert report.boxes["open"] == {"train": 5, "val": 3, "test": 3}
    told = " ".join(report.warnings)
    assert "Never seen in training, so not learned: short." in told
    assert "1 of 12 images have no box" in told
    assert "The same group stands in two splits 1 times" in told


def test_classes_that_lack_the_same_are_named_in_one_warning(sqlite: Database) -> None:
    project = filled(sqlite, 4)
    with sqlite.write.begin() as session:
        for name in ("spur", "pin-hole"):
            classes.add(session, project.id, name)
        report = preflight.check(session, project.id, "yolo")
    told = [one for one in report.warnings if one.startswith("Never")]
    assert told == ["Never seen in training, so not learned: spur, pin-hole."]


def test_the_first_model_is_champion_and_the_next_must_be_promoted(
    database: Database, project: Project
) -> None:
    first = finish(database, retrain(database, project))
    assert (first.champion, first.state) == (True, ModelState.READY)
    second = finish(database, retrain(database, project))
    assert (second.name, second.champion, second.parent_id) == ("v2", False, first.id)
    with database.write.begin() as session:
        registry.promote(session, second.id)
        assert registry.find(session, project.id, "champion").id == second.id
        told = [registry.details(session, one.id).reigned for one in (first, second)]
        assert told == [True, False]
        registry.promote(session, first.id)
        assert [model.champion for model in registry.models(session, project.id)] == [False, True]


def test_a_model_whose_job_was_cancelled_says_so_and_may_be_tried_again(
    database: Database, project: Project
) -> None:
    started = retrain(database, project)
    with database.write.begin() as session:
        queue.cancel(session, started.job.id)
        assert registry.get(session, started.model.id).state is ModelState.CANCELLED
        with pytest.raises(Refused, match="v1 is not ready"):
            registry.promote(session, started.model.id)
        queue.retry(session, started.job.id)
        assert registry.get(session, started.model.id).state is ModelState.TRAINING


def test_a_training_may_start_from_an_earlier_model(database: Database, project: Project) -> None:
    finish(database, retrain(database, project))
    started = retrain(database, project, start="champion")
    assert started.job.request["start"] == "a" * 64
    assert started.model.parameters["start"] == "v1"
    second = finish(database, started)
    with database.write.begin() as session:
        registry.promote(session, second.id)
    again = finish(database, retrain(database, project, start="v1"))
    assert again.parent_id == second.parent_id
    with pytest.raises(Refused, match="v1 is a yolo model"):
        retrain(database, project, family="faster_rcnn", start="v1")


def test_a_golden_model_holds_out_what_its_detector_never_saw(
    database: Database, project: Project
) -> None:
    detector = finish(database, retrain(database, project, seed=3))
    fused = retrain(database, project, family="golden")
    assert fused.job.request["parameters"]["seed"] == 3
    with database.read() as session:
        first, second = (
            {image.id: image.split for image in snapshots.images(session, model.snapshot_id or 0)}
            for model in (detector, fused.model)
        )
    assert first == second


def test_the_same_images_are_held_out_from_every_model(
    database: Database, project: Project
) -> None:
    first = finish(database, retrain(database, project))
    second = retrain(database, project)
    assert second.model.parameters["seed"] == first.parameters["seed"]
    with database.read() as session:
        splits = [
            {image.id: image.split for image in snapshots.images(session, model.snapshot_id or 0)}
            for model in (first, second.model)
        ]
        taught = [id for id, split in splits[0].items() if split is Split.TRAIN]
        learned = snapshots.learned(session, first.snapshot_id or 0, splits[0])
    assert splits[0] == splits[1]
    assert learned == len(taught)
    other = retrain(database, filled(database, 4), seed=7)
    assert other.model.parameters["seed"] == 7


def test_a_comparison_says_what_the_other_model_knows_by_heart() -> None:
    figure = {"difference": 0.0, "interval": None, "better": None}
    against = {"model": "v1", "map50": figure, "learned": 8, "compared": 20}
    assert registry.compared("v2", against).endswith(
        "v1 has learned from 8 of the 20 images, so it looks better here than it is."
    )


def test_the_verdict_names_what_is_better_and_what_is_worse(sqlite: Database) -> None:
    project = filled(sqlite, 4)
    clear = {"difference": 0.1, "interval": [0.05, 0.15], "better": True}
    worse = {"difference": -0.2, "interval": [-0.3, -0.1], "better": False}
    finish(sqlite, retrain(sqlite, project))
    per_class = {"open": clear, "short": worse}
    model = finish(sqlite, retrain(sqlite, project), model="v1", map50=clear, per_class=per_class)
    with sqlite.read() as session:
        told = registry.details(session, model.id)
    assert registry.verdict(told) == (
        "v2 is better than v1 (mAP@.5 +0.100, 95 % between +0.050 and +0.150). "
        "Better in: open. Worse in: short."
    )
    assert "curves" not in told.model.metrics
    assert told.evaluation["curves"] == {"open": []}


@pytest.mark.parametrize(("better", "offered"), [(True, True), (None, False), (False, False)])
def test_a_promotion_is_offered_to_what_is_clearly_better(
    better: bool | None, offered: bool, sqlite: Database
) -> None:
    project = filled(sqlite, 4)
    first = finish(sqlite, retrain(sqlite, project))
    found = {"difference": 0.1, "interval": [0.05, 0.15], "better": better}
    second = finish(sqlite, retrain(sqlite, project), model="v1", model_id=first.id, map50=found)
    with sqlite.write.begin() as session:
        told = registry.details(session, second.id)
        assert registry.offered(told, first) is offered
        # What was compared with an earlier champion says nothing of the one of now.
        assert not registry.offered(told, registry.promote(session, second.id))
    with sqlite.read() as session:
        assert not registry.offered(registry.details(session, first.id), None)


def test_a_model_that_is_not_there_cannot_be_measured(sqlite: Database) -> None:
    project = filled(sqlite, 4)
    with pytest.raises(NotFound), sqlite.write.begin() as session:
        trainings.evaluate(session, project.id, "v1")
    model = finish(sqlite, retrain(sqlite, project))
    with sqlite.write.begin() as session:
        job: Job = trainings.evaluate(session, project.id, model.name, iou=0.33)
        assert job.request["iou"] == 0.33
        with pytest.raises(Invalid, match="between 0 and 1"):
            trainings.evaluate(session, project.id, "v1", iou=2.0)
