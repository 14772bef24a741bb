"""A run against its labels, and what the project's rule says of a board."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest
from sqlalchemy.orm import Session

from backend import matching
from backend.domain import Box, Detection, Run, RunImage, State
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import agenda, tally, views
from backend.review.tally import Figures
from backend.storage import findings
from backend.storage.engine import Database

RUN = 4
RULE = {"threshold": 0.5, "thresholds": {"short": 0.8}, "severity": 2}
SPUR = Detection(10.0, 10.0, 30.0, 40.0, "spur", 0.6, 0)
SHORT = Detection(50.0, 50.0, 80.0, 80.0, "short", 0.7, 1)
SEVERITY = {"spur": 1, "short": 3}


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.write.begin() as opened:
        project = catalogue.create(opened, "line")
        for label in ("spur", "short"):
            classes.ensure(opened, project.id, label)
        new = [NewImage(n, n * 64, 99, 99, group=f"lot {n}") for n in "abc"]
        images.add(opened, project.id, new, "")
        ids = images.ids(opened, project.id, list("abc"))
        findings.start(opened, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        rows = [RunImage(ids[n], n, detections=(SPUR, SHORT)) for n in "abc"]
        findings.record(opened, RUN, rows)
        there = Box(10.0, 10.0, 30.0, 40.0, "spur")
        missed = Box(1.0, 60.0, 9.0, 70.0, "spur")
        for name, boxes in (("a", [there, missed]), ("b", [])):
            labelling.save(opened, ids[name], 0, boxes, "ana", state=State.DONE)
        yield opened


def test_escapes_and_false_calls_are_counted_where_labels_exist(session: Session) -> None:
    assert tally.figures(session, RUN) == Figures(2, right=1, false_calls=3, escapes=1)


def test_the_thresholds_of_the_project_decide_what_counts(session: Session) -> None:
    views.set_rule(session, views.project_of(session, RUN), RULE, 0, "ana")
    assert tally.figures(session, RUN) == Figures(2, right=1, false_calls=1, escapes=1)


def test_the_verdicts_of_the_rule_are_counted_over_a_run(session: Session) -> None:
    assert agenda.ruled(session, RUN) == {"pass": 0, "fail": 3}
    views.set_rule(session, views.project_of(session, RUN), RULE, 0, "ana")
    assert agenda.ruled(session, RUN) == {"pass": 3, "fail": 0}


def test_the_figures_are_those_of_matching_image_by_image(session: Session) -> None:
    rng = np.random.default_rng(5)
    project = views.project_of(session, RUN)
    names = [f"r{n}" for n in range(12)]
    images.add(session, project, [NewImage(n, "f" * 64, 99, 99) for n in names], "")
    ids = images.ids(session, project, names)
    findings.start(session, Run(5, "v2", "yolo", datetime.now(UTC), project_id=project))
    wanted = [0, 0, 0]
    for name in names:
        found = [Detection(*_place(rng), _label(rng), float(rng.uniform(0.5, 1))) for _ in range(9)]
        labels = [Box(*_place(rng), _label(rng)) for _ in range(6)]
        findings.record(session, 5, [RunImage(ids[name], name, detections=tuple(found))])
        labelling.save(session, ids[name], 0, labels, "ana", state=State.DONE)
        matched = matching.match_boxes(found, labels)
        for at, more in enumerate((matched.found, matched.false_calls, matched.missed)):
            wanted[at] += more
    assert tally.figures(session, 5) == Figures(12, *wanted)
    assert wanted[0] > 5


def _place(rng: np.random.Generator) -> tuple[float, float, float, float]:
    x, y = rng.integers(0, 4, 2) * 20.0 + rng.uniform(0, 3, 2)
    return float(x), float(y), float(x + 22), float(y + 22)


def _label(rng: np.random.Generator) -> str:
    return "spur" if rng.random() < 0.5 else "short"


def test_the_lots_of_a_run_are_told(session: Session) -> None:
    assert views.groups(session, RUN) == ["lot a", "lot b", "lot c"]


@pytest.mark.parametrize(
    ("labels", "score", "said", "wanted"),
    [
        ((), 0.7, (), "pass"),
        ((), 0.8, (), "fail"),
        ((), 0.8, (1,), "pass"),
        (("short",), 0.1, (), "fail"),
        (("spur",), 0.1, (), "pass"),
    ],
)
def test_a_board_fails_by_severity_and_thresholds(
    labels: tuple[str, ...], score: float, said: tuple[int, ...], wanted: str
) -> None:
    boxes = [Box(1.0, 1.0, 9.0, 9.0, label) for label in labels]
    short = Detection(50.0, 50.0, 80.0, 80.0, "short", score, 1)
    assert tally.verdict(boxes, [SPUR, short], said, RULE, SEVERITY) == wanted
