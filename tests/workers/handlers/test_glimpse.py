"""A glimpse of a training: asked for, made by the code that trains, read back, and refused."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from backend.domain import Box, Job, Split
from backend.errors import Invalid, Refused
from backend.jobs import queue
from backend.labels import images
from backend.labels.images import NewImage
from backend.models import glimpses, registry, snapshots
from backend.projects import catalogue
from tests.workers.handlers import places
from tests.workers.handlers.places import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home")
    yield made
    made.database.close()


def ask(place: Place, project: int, family: str = "faster_rcnn", **parameters: Any) -> Job:
    with place.database.write.begin() as session:
        return glimpses.ask(session, glimpses.wanted(session, project, family, parameters), "ann")


def test_some_pictures_come_back_small_with_their_boxes(place: Place) -> None:
    project = place.sample(20)
    job = ask(place, project)
    place.carry_out(place.claim())
    with place.database.read() as session:
        shown = glimpses.read(queue.get(session, job.id), place.settings.tries)
        classes = {one.name for one in catalogue.get(session, project).classes}
    assert len(shown) == glimpses.SHOWN
    assert sum(len(one.boxes) for one in shown) > 0
    for one in shown:
        content = base64.b64decode(one.picture.partition(",")[2])
        pixels = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
        assert pixels is not None
        assert pixels.shape == (one.height, one.width, 3) == (480, 480, 3)
        for box in one.boxes:
            assert box.label in classes
            assert 0 <= box.x1 < box.x2 <= 480


def test_what_a_training_would_hold_out_is_not_among_it(place: Place) -> None:
    box = Box(1, 1, 5, 5, "open")
    boards = [
        NewImage(f"{at:02}.png", f"{at:064x}", 64, 64, (box,), labelled=True) for at in range(40)
    ]
    with place.database.write.begin() as session:
        project = catalogue.create(session, "boards").id
        images.add(session, project, boards, "ann")
        frozen = snapshots.freeze(session, project, 5, "ann")
        first = registry.add(
            session, project, "yolo", classes=("open",), snapshot_id=frozen.id, parameters={}
        )
        registry.complete(session, first.id, "0" * 64, {"map50": 0.5})
        members = snapshots.images(session, frozen.id)
        learned = {one.id for one in members if one.split is Split.TRAIN}
    shown = ask(place, project).request["images"]
    assert shown
    assert {*shown} <= learned


def test_pictures_that_are_gone_are_told(place: Place) -> None:
    job = ask(place, place.sample(12))
    place.carry_out(place.claim())
    glimpses.place(place.settings.tries, job.id, 0).unlink()
    with place.database.read() as session, pytest.raises(Refused, match="kept for two days"):
        glimpses.read(queue.get(session, job.id), place.settings.tries)


@pytest.mark.parametrize(
    ("family", "given", "said"),
    [
        ("classifier", {}, "the project's task is detect"),
        ("golden", {}, "pictures as they are: none is changed"),
        ("yolo", {"extra": {"mirror": 3}}, "mirror must be from 0 to 1"),
        ("yolo", {"image_size": 7}, "image_size must be from 32"),
    ],
)
def test_what_cannot_be_seen_is_one_sentence(
    place: Place, family: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises((Invalid, Refused), match=said):
        ask(place, place.sample(6), family, **given)


def test_without_labels_there_is_nothing_to_be_seen(place: Place) -> None:
    with place.database.write.begin() as session:
        project = catalogue.create(session, "empty").id
    with pytest.raises(Refused, match="No image is labelled yet"):
        ask(place, project)
