"""The golden board learns by itself after every tenth labelled image, if the project wants it."""

from __future__ import annotations

import pytest

from backend.domain import (
    Box,
    Detection,
    Job,
    ModelState,
    Project,
    Run,
    RunImage,
    State,
    Task,
)
from backend.errors import Refused
from backend.jobs import claims, listing, queue
from backend.jobs.lanes import Lane
from backend.labels import images
from backend.labels.images import NewImage
from backend.models import growth, registry, trainings
from backend.projects import catalogue
from backend.review.deciding import saves
from backend.review.deciding.decisions import Sheet
from backend.runs import proposals
from backend.storage import findings
from backend.storage.engine import Database

BOX = Box(10, 10, 40, 40, "open")


@pytest.fixture
def project(database: Database) -> Project:
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", Task.DETECT, ("open",))
        golden = NewImage("golden.png", "0" * 64, 640, 640, is_golden=True)
        boards = [
            NewImage(f"{i:02}.png", f"{i + 1:064x}", 640, 640, golden="golden.png")
            for i in range(25)
        ]
        images.add(session, project.id, [golden, *boards], "ann")
    return project


def label(database: Database, project: Project, numbers: range) -> None:
    with database.write.begin() as session:
        ids = images.ids(session, project.id, [f"{i:02}.png" for i in numbers])
        for id_ in ids.values():
            saves.save(session, id_, Sheet(0, (BOX,), State.DONE), "ann")


def want(database: Database, project: Project, on: bool = True) -> None:
    with database.write.begin() as session:
        growth.choose(session, project.id, on)


def jobs(database: Database, project: Project) -> list[Job]:
    with database.read() as session:
        return list(listing.find(session, project_id=project.id))


def detector(database: Database, project: Project, family: str = "yolo", map50: float = 0.5) -> str:
    """A trained model in the registry."""
    with database.write.begin() as session:
        made = registry.add(
            session, project.id, family, classes=("open",), snapshot_id=None, parameters={}
        )
        return registry.complete(session, made.id, f"{made.id:064x}", {"map50": map50}).name


def test_nothing_happens_unless_the_project_wants_it(database: Database, project: Project) -> None:
    label(database, project, range(12))
    assert jobs(database, project) == []


def test_the_tenth_image_trains_and_then_proposes(database: Database, project: Project) -> None:
    want(database, project)
    label(database, project, range(9))
    assert jobs(database, project) == []
    label(database, project, range(9, 10))
    train, propose = sorted(jobs(database, project), key=lambda job: job.id)
    assert (train.kind, train.request["family"]) == ("train", "golden")
    assert (propose.kind, propose.after_id) == ("propose", train.id)
    assert propose.request["model_id"] == train.request["model_id"]
    assert propose.request["source"] == {"states": ["new"]}


def test_what_the_best_golden_model_was_told_the_next_is_told_too(
    database: Database, project: Project
) -> None:
    for map50, tolerance in ((0.9, 2.5), (0.4, 1.0)):
        told = {"extra": {"tolerance": tolerance, "grows": True, "partner": {"name": "v9"}}}
        with database.write.begin() as session:
            made = registry.add(
                session, project.id, "golden", classes=("open",), snapshot_id=None, parameters=told
            )
            registry.complete(session, made.id, f"{made.id:064x}", {"map50": map50})
    want(database, project)
    label(database, project, range(10))
    (train,) = [job for job in jobs(database, project) if job.kind == "train"]
    assert train.request["parameters"]["extra"] == {"tolerance": 2.5, "grows": True}


def test_the_next_training_comes_ten_images_later(database: Database, project: Project) -> None:
    want(database, project)
    label(database, project, range(10))
    for lane in (Lane.LONG, Lane.SHORT):
        with database.write.begin() as session:
            job = claims.claim(session, "machine:1:1", lane)
            assert job is not None
            claims.finish(session, job, {})
    label(database, project, range(10, 19))
    assert len(jobs(database, project)) == 2
    label(database, project, range(19, 20))
    assert len([job for job in jobs(database, project) if job.kind == "train"]) == 2


def test_while_a_training_waits_none_is_added(database: Database, project: Project) -> None:
    want(database, project)
    label(database, project, range(22))
    assert len([job for job in jobs(database, project) if job.kind == "train"]) == 1


def test_what_was_labelled_before_the_switch_has_been_counted(
    database: Database, project: Project
) -> None:
    label(database, project, range(8))
    want(database, project)
    label(database, project, range(8, 17))
    assert jobs(database, project) == []


def test_a_golden_training_takes_in_the_best_detector(database: Database, project: Project) -> None:
    label(database, project, range(10))
    for map50 in (0.4, 0.9, 0.6):
        detector(database, project, map50=map50)
    with database.write.begin() as session:
        registry.promote(session, registry.find(session, project.id, "v3").id)
        best = trainings.retrain(session, project.id, "golden")
    assert best.job.request["parameters"]["extra"]["partner"] == {"name": "v3", "family": "yolo"}
    with database.read() as session:
        assert best.job.request["start"] == registry.find(session, project.id, "v3").weights


def test_a_golden_training_may_do_without_and_asks_no_golden(
    database: Database, project: Project
) -> None:
    label(database, project, range(10))
    detector(database, project)
    detector(database, project, "golden", 0.9)
    with database.write.begin() as session:
        with pytest.raises(Refused, match="v2 is no detector"):
            trainings.retrain(session, project.id, "golden", start="v2")
        alone = trainings.retrain(session, project.id, "golden", start="scratch")
    assert alone.job.request["start"] == ""
    assert "partner" not in alone.job.request["parameters"].get("extra", {})


def run(database: Database, project: Project, model: str, score: float) -> None:
    """A run of a model over one image; its box has that score."""
    with database.write.begin() as session:
        job = queue.enqueue(
            session, proposals.request(session, project.id, {"score": score}), author="ann"
        )
        image_id = images.ids(session, project.id, ["24.png"])["24.png"]
        found = None if model == "golden" else registry.find(session, project.id, model)
        row = Run(
            id=job.id,
            model=model,
            family=found.family if found else "golden",
            at=job.at,
            project_id=project.id,
            model_id=found.id if found else None,
            purpose="propose",
        )
        findings.start(session, row)
        seen = RunImage(image_id, "24.png", detections=(Detection(1, 1, 9, 9, "open", score, 0),))
        findings.record(session, job.id, [seen])


def proposed(database: Database, project: Project) -> tuple[str, float]:
    with database.read() as session:
        image_id = images.ids(session, project.id, ["24.png"])["24.png"]
        found = proposals.best(session, project.id, [image_id])[image_id]
    return found.proposer, found.detections[0].score


def test_the_best_model_proposes_not_the_newest_run(database: Database, project: Project) -> None:
    detector(database, project, map50=0.7)
    detector(database, project, map50=0.9)
    detector(database, project, map50=0.8)
    run(database, project, "golden", 0.1)
    assert proposed(database, project) == ("rules", 0.1)
    run(database, project, "v3", 0.3)
    run(database, project, "v2", 0.2)
    run(database, project, "v3", 0.4)
    run(database, project, "golden", 0.5)
    assert proposed(database, project) == ("v2 (yolo)", 0.2)
    run(database, project, "v1", 0.6)
    assert proposed(database, project) == ("v1 (yolo)", 0.6)  # the champion


@pytest.mark.parametrize(
    ("extra", "figures", "words"),
    [
        ({}, {"weight": 0.5, "pictures": 30}, "v1: forest, 30 labels"),
        ({}, {"weight": 0.0, "pictures": 1}, "v1: rules, 1 label"),
        ({"partner": {"name": "v7"}}, {"weight": 1.0, "pictures": 30}, "v1: fusion with v7"),
    ],
)
def test_the_badge_says_who_proposes(
    database: Database,
    project: Project,
    extra: dict[str, object],
    figures: dict[str, float],
    words: str,
) -> None:
    with database.write.begin() as session:
        made = registry.add(
            session,
            project.id,
            "golden",
            classes=("open",),
            snapshot_id=None,
            parameters={"extra": extra},
        )
        told = {"figures": figures}
        registry.complete(session, made.id, "a" * 64, {"map50": 0.5}, provenance=told)
    run(database, project, "v1", 0.5)
    assert proposed(database, project) == (words, 0.5)


def test_proposals_are_asked_of_the_best_golden_model(database: Database, project: Project) -> None:
    detector(database, project, "yolo", 0.99)
    with database.write.begin() as session:
        assert proposals.ask(session, project.id).request["model_id"] is None
    for map50 in (0.6, 0.9, 0.7):
        detector(database, project, "golden", map50)
    with database.write.begin() as session:
        job = proposals.ask(session, project.id, {"states": ["new"]})
        assert registry.get(session, job.request["model_id"]).name == "v3"
        assert registry.get(session, job.request["model_id"]).state is ModelState.READY
