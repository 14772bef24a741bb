"""A classified picture is reviewed by keys: its class is what they say, and no box is drawn."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from playwright.sync_api import Page

from backend.domain import Detection, Run, RunImage, State, Task, Verdict
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Subject
from backend.storage import findings
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

RUN = 1_960
PROJECT = "review of classes"


@pytest.fixture
def image(site: Site) -> int:
    """A picture that a run takes for the first class."""
    with site.database.write.begin() as session:
        made = catalogue.create(session, PROJECT, Task.CLASSIFY, ["good", "bad"])
        sha256 = site.files.put(boards.png(np.full((64, 64), 77, np.uint8)))
        images.add(session, made.id, [NewImage("a", sha256, 64, 64)], "")
        (found,) = images.ids(session, made.id, ["a"]).values()
        run = Run(RUN, "v1", "classifier", datetime.now(UTC), project_id=made.id)
        findings.start(session, run)
        answer = Detection(0, 0, 64, 64, "good", 0.6)
        findings.record(session, RUN, [RunImage(found, "a", width=64, height=64,
                                                detections=(answer,))])  # fmt: skip
        findings.finish(session, RUN, 1.0, {})
    return found


def _verdict(site: Site, image: int) -> Verdict | None:
    with site.database.read.begin() as session:
        now = decisions.standing(session, [image], [RUN])[image]
    one = now.get(Subject(RUN, 0))
    return one.verdict if one else None


def test_keys_say_the_class_of_a_picture_and_z_takes_it_back(
    page: Page, site: Site, image: int
) -> None:
    hands = Hands(page, site, "review")
    hands.open(PROJECT, run=str(RUN))
    steps = (
        ("a", "good", Verdict.ACCEPT),
        ("z", "", None),
        ("2", "bad", Verdict.CORRECT),
        ("r", "", Verdict.FALSE_CALL),
        ("z", "bad", Verdict.CORRECT),
        ("z", "", None),
        ("r", "", Verdict.FALSE_CALL),
        ("z", "", None),
    )
    for key, label, verdict in steps:
        hands.press(key)
        hands.saved()
        stored = hands.stored(image)
        assert (key, stored.label, _verdict(site, image)) == (key, label, verdict)
        assert stored.boxes == ()
        assert stored.state is (State.DONE if verdict else State.NEW)
