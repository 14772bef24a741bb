"""A classifier's run: one answer a picture, with the chances of all classes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from sqlalchemy import func, select

from backend.domain import Task
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.review import reports
from backend.runs import detection, documents
from backend.storage import findings
from backend.storage.tables import DetectionRow, RunImageRow
from tests.backend.labels import drawn
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.handlers.test_watch import until_said, watching
from workers.families import classifier
from workers.weights import weight_files

NAMES = ("good", "scratched", "wrong part", "bent")
PICTURES = 7


@pytest.fixture
def place(tmp_path: Path, shared_cache: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home", shared_cache)
    yield made
    made.database.close()


@pytest.fixture
def weights(tmp_path: Path) -> str:
    """A network that has learned nothing and is sure of nothing."""
    torch.manual_seed(3)
    network = classifier.build("mobilenet", len(NAMES))
    header = weight_files.WeightsHeader(classifier.FAMILY, "mobilenet", NAMES, 64)
    path = weight_files.save(tmp_path / "model.safetensors", header, network.state_dict())
    return str(path)


@pytest.fixture
def project(place: Place) -> int:
    """Pictures of which none is like another."""
    with place.database.write.begin() as session:
        made = catalogue.create(session, "parts", Task.CLASSIFY, NAMES)
        new = []
        for number in range(1, PICTURES + 1):
            sha256 = place.files.put(drawn.numbered(number * 7919))
            new.append(NewImage(f"{number}.png", sha256, 64, 48))
        images.add(session, made.id, new, "")
    return made.id


def test_every_picture_has_one_answer_and_the_chances_of_all_classes(
    place: Place, weights: str, project: int
) -> None:
    result = place.detect(project, weights)
    assert (result["images"], result["detections"], result["failed"]) == (PICTURES, PICTURES, 0)
    with place.database.read() as session:
        per_image = select(func.count()).select_from(DetectionRow).group_by(DetectionRow.image_id)
        assert list(session.scalars(per_image)) == [1] * PICTURES
        ids = list(session.scalars(select(RunImageRow.image_id)))
        seen = findings.images(session, result["run"], ids)
    for image in seen.values():
        chances = image.facts[findings.CHANCES]
        (answer,) = image.detections
        assert {name for _, name, _ in chances} == {*NAMES}
        assert sum(chance for *_, chance in chances) == pytest.approx(1, abs=1e-4)
        assert (answer.label, answer.class_id) == (chances[0][1], chances[0][0])
        assert answer.score == pytest.approx(max(chance for *_, chance in chances), abs=1e-5)
        assert (answer.x1, answer.y1, answer.x2, answer.y2) == (0, 0, 64, 48)


def test_what_is_known_keeps_its_chances(place: Place, weights: str, project: int) -> None:
    first = place.detect(project, weights)
    again = place.detect(project, weights)
    assert (again["known"], again["detections"]) == (PICTURES, PICTURES)
    with place.database.read() as session:
        facts = [
            list(session.scalars(select(RunImageRow.facts).filter_by(run_id=one["run"])))
            for one in (first, again)
        ]
    assert facts[0] == facts[1]
    assert all(findings.CHANCES in one for one in facts[0])


def test_a_tried_picture_has_one_class_and_the_chances_of_all(
    place: Place, weights: str, project: int, tmp_path: Path
) -> None:
    copy = tmp_path / "tried.png"
    copy.write_bytes(drawn.numbered(5))
    with place.database.write.begin() as session:
        detection.try_one(session, project, weights, copy)
    told = place.carry_out(place.claim())
    (answer,) = told["detections"]
    chances = {name: chance for _, name, chance in told[findings.CHANCES]}
    assert chances.keys() == {*NAMES}
    assert answer["label"] == max(chances, key=lambda name: chances[name])


def test_a_picture_that_arrives_leaves_its_class(
    place: Place, weights: str, project: int, tmp_path: Path
) -> None:
    inbox, out = tmp_path / "inbox", tmp_path / "out"
    inbox.mkdir()
    (inbox / "one.png").write_bytes(drawn.numbered(5))
    with place.database.write.begin() as session:
        job = detection.watch(session, project, weights, inbox, out=out)
    with watching(place):
        until_said(place, job.id, f"Watching {inbox}: 1 picture since")
    (told,) = json.loads((out / "one.png.json").read_text())
    assert (set(told), told["class"] in NAMES) == ({"name", "class", "confidence"}, True)
    with place.database.read() as session:
        (seen,) = findings.images(session, job.id, findings.seen(session, job.id)).values()
    assert [one.label for one in seen.detections] == [told["class"]]
    assert len(seen.facts[findings.CHANCES]) == len(NAMES)


def test_files_for_other_programs_have_a_class_and_no_box(
    place: Place, weights: str, project: int, tmp_path: Path
) -> None:
    run = place.detect(project, weights)["run"]
    with place.database.read() as session:
        assert documents.write(session, run, tmp_path / "out") == PICTURES
        rows = list(reports.rows(session, run))
    (told,) = json.loads((tmp_path / "out" / "1.png.json").read_text())
    assert set(told) == {"name", "class", "confidence"}
    assert told["name"] == "1.png"
    assert told["class"] in NAMES
    assert 1 / len(NAMES) <= told["confidence"] <= 1
    assert [row["name"] for row in rows] == [f"{n}.png" for n in range(1, PICTURES + 1)]
