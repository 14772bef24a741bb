"""A second stage end to end: decisions teach it, a run asks it, and Review says what it did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.domain import Box, Detection, RunImage, State
from backend.errors import Refused
from backend.labels import gallery, labelling
from backend.models import registry, trainings
from backend.projects import classes
from backend.review import filtering, provenance
from backend.review.deciding import decisions
from backend.storage import findings
from backend.weights import start_weights
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers.weights import start_model

BOARDS = 6
LOW = {"confidence": 0.01}


@pytest.fixture
def place(tmp_path: Path, shared_cache: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home", shared_cache)
    yield made
    made.database.close()


def detector(place: Place, project: int) -> None:
    """The weights that trainings begin with: they know drawn boards a little."""
    sha256 = place.files.put_file(start_weights.ASSETS / "start_yolo11n.safetensors")
    with place.database.write.begin() as session:
        made = registry.add(
            session, project, "yolo", classes=start_model.CLASSES, snapshot_id=None, parameters={}
        )
        registry.complete(session, made.id, sha256, {})


def images(place: Place, run: int, project: int) -> dict[int, RunImage]:
    with place.database.read() as session:
        return findings.images(session, run, gallery.ids(session, project, gallery.parse(())))


def refuse(place: Place, run: int, project: int) -> int:
    """Somebody calls every detection a false call that no label explains; gives how many."""
    refused = 0
    for image_id, seen in images(place, run, project).items():
        with place.database.write.begin() as session:
            boxes = labelling.boxes_of(session, [image_id])[image_id]
            wrong = tuple(d.idx for d in seen.detections if not any(_near(d, b) for b in boxes))
            version = labelling.version_of(session, image_id)
            sheet = decisions.Sheet(
                version, tuple(boxes), State.DONE, run_id=run, rejected=wrong, review=True
            )
            decisions.save(session, image_id, sheet, "ana")
        refused += len(wrong)
    return refused


def _near(one: Detection, other: Box) -> bool:
    return abs(one.x1 - other.x1) < 30 and abs(one.y1 - other.y1) < 30


def train(place: Place, project: int) -> dict[str, Any]:
    with place.database.write.begin() as session:
        trainings.retrain(session, project, "second_stage", seed=1)
    return place.carry_out(place.claim())


def test_decisions_teach_it_and_review_tells_what_it_did(place: Place) -> None:
    project = place.sample(BOARDS)
    detector(place, project)
    first = place.detect(project, "v1", options=LOW)["run"]
    refused = refuse(place, first, project)
    assert refused
    assert train(place, project)["model"] == "v2"
    with place.database.write.begin() as session:
        model = registry.find(session, project, "v2")
        assert model.parameters["extra"]["partner"]["name"] == "v1"
        spur = classes.find(session, project, "spur")
        assert spur is not None
        classes.edit(session, spur.id, name="burr")
    run = place.detect(project, "v2", options=LOW)["run"]
    _tells_both(place, run, project)
    again = place.detect(project, "v2", options=LOW)
    assert again["known"] == again["images"]
    _tells_both(place, again["run"], project)


def _tells_both(place: Place, run: int, project: int) -> None:
    """Each detection has the scores of both, *Why* says them, and the run's figures count them."""
    seen = images(place, run, project)
    called = {one.label for image in seen.values() for one in image.detections}
    assert "burr" in called
    assert "spur" not in called
    for image in seen.values():
        told = image.facts.get(findings.STAGES, [])
        assert len(told) == len(image.detections)
        assert all(max(one.score, told[one.idx][2]) >= 0.0099 for one in image.detections)
    image_id, image = next((id_, one) for id_, one in seen.items() if one.detections)
    with place.database.read() as session:
        chain = provenance.why(session, f"{run}:{image_id}:0")
        figures = filtering.figures(session, run)
    said = {link.what: link for link in chain}
    moved = image.detections[0].score - said["First stage"].facts["first"]
    assert f"moved the score by {moved:+.3f}" in said["Second stage"].text
    assert figures is not None
    assert figures.images == len(seen)
    assert figures.first is not None
    assert figures.both is not None
    assert figures.both <= figures.first


def test_without_a_detector_it_is_refused_at_once(place: Place) -> None:
    project = place.sample(4)
    with (
        place.database.write.begin() as session,
        pytest.raises(Refused, match="stands behind a detector, and the project has none"),
    ):
        trainings.retrain(session, project, "second_stage", seed=1)


def test_other_runs_have_no_such_figures(place: Place) -> None:
    project = place.sample(4)
    run = place.detect(project, "golden")["run"]
    with place.database.read() as session:
        assert filtering.figures(session, run) is None


def test_the_count_is_of_places_at_the_highest_score_that_lets_few_escape() -> None:
    count = filtering.Count()
    truths = np.array([[0, 0, 10, 10], [50, 50, 60, 60]], np.float64)
    places_ = np.array([*truths, [0, 0, 10, 9], [80, 80, 90, 90], [30, 30, 40, 40]], np.float64)
    count.add(places_, np.array([0.9, 0.4, 0.8, 0.5, 0.3]), truths)
    assert count.false_calls(2, 0.01) == 1  # the one on a defect that was found is no other place
    assert count.false_calls(2, 0.5) == 0
    assert count.false_calls(3, 0.01) is None
