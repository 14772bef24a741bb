"""Which runs, models and pictures an overview speaks of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.domain import Detection, Run, RunImage, State, Task, Verdict
from backend.errors import NotFound
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.models import registry
from backend.projects import catalogue, classes
from backend.review import judgements, tally, views
from backend.review.boards import sheet
from backend.review.judgements import Judgement
from backend.review.overview import reading
from backend.review.overview.reading import Narrowed
from backend.storage import findings
from backend.storage.engine import Database
from tests.backend.review.overview.lined import (
    ANSWERS,
    RUN,
    at,
    behind,
    overview,
)


def test_a_model_that_was_measured_by_good_boards_alone_has_no_figure(line: Database) -> None:
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        for worth in (None, 0.75):
            made = registry.add(
                session, project, "yolo", classes=(), snapshot_id=None, parameters={}
            )
            registry.complete(session, made.id, "0" * 64, {"map50": worth, "images": 4})
    assert [(one.model, one.value) for one in overview(line).models] == [("v2", 0.75)]


def test_an_overview_of_classified_pictures_says_what_their_table_says(database: Database) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, ["good", "bad"])
        good = next(one for one in project.classes if one.name == "good")
        classes.edit(session, good.id, severity=0)
        answers = {"sure": ("bad", 0.9), "fine": ("good", 0.9), "unsure": ("bad", 0.3)}
        answers |= {"named": ("good", 0.9), "bare": ("good", 0.9)}
        images.add(session, project.id, [NewImage(n, n * 8, 9, 9) for n in answers], "")
        ids = at(session)
        when = datetime.now(UTC)
        findings.start(session, Run(ANSWERS, "v1", "classifier", when, project_id=project.id))
        whole = (0.0, 0.0, 9.0, 9.0)
        said = [
            RunImage(ids[name], name, detections=(Detection(*whole, *answer),))
            for name, answer in answers.items()
        ]
        findings.record(session, ANSWERS, said)
        findings.finish(session, ANSWERS, 1.0, {})
        labelling.save(session, ids["named"], 0, [], "ana", state=State.DONE, label="bad")
        labelling.save(session, ids["bare"], 0, [], "ana", state=State.DONE)
        judgements.judge(session, ANSWERS, ids["sure"], Judgement({0: Verdict.ACCEPT}), "bo")
        judgements.judge(session, ANSWERS, ids["fine"], Judgement({}, board=Verdict.PASS), "bo")
    told = overview(database, run=ANSWERS)
    with database.read.begin() as session:
        read = sheet.read(session, ANSWERS)
        seen = tally.figures(session, ANSWERS)
        assert (told.boards.passed, told.boards.failed, told.boards.asked) == (
            read.counted.passed, read.counted.failed, read.counted.asked,
        )  # fmt: skip
        assert {one.name: one.boards for one in told.classes if one.boards} == {
            one.name: one.boards for one in read.classes
        }
        for kind in told.classes:
            assert behind(session, ANSWERS, defects=(kind.name,)) == kind.boards
        of = told.boards
        numbers = {"pass": of.passed, "fail": of.failed, "ask": of.asked, "said": of.said}
        for name, number in numbers.items():
            assert behind(session, ANSWERS, verdict=name) == number
    mistaken = told.mistaken
    assert (mistaken.right, mistaken.escapes, mistaken.false_calls) == (
        seen.right, seen.escapes, seen.false_calls,
    )  # fmt: skip
    assert told.places == []


def test_a_run_over_a_folder_is_none_of_the_overview(line: Database) -> None:
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        other = Run(ANSWERS, "v1", "yolo", datetime.now(UTC), project_id=project)
        findings.start(session, replace(other, source={"path": "/lots/7"}))
        findings.finish(session, ANSWERS, 1.0, {})
    with line.read.begin() as session:
        assert reading.runs(session, project) == reading.runs(session, project, RUN) == [RUN]
        with pytest.raises(NotFound, match="no run 5 over its images"):
            reading.runs(session, project, ANSWERS)


def test_a_run_over_a_lot_that_is_called_path_is_one_over_images(line: Database) -> None:
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        other = Run(ANSWERS, "v1", "yolo", datetime.now(UTC), project_id=project)
        findings.start(session, replace(other, source={"groups": ["path"]}))
        findings.finish(session, ANSWERS, 1.0, {})
    with line.read.begin() as session:
        assert reading.runs(session, project) == [ANSWERS, RUN]


def test_runs_can_be_chosen_also_where_a_filter_leaves_nothing_of_them(line: Database) -> None:
    told = overview(line, Narrowed(groups=("no such lot",)))
    assert ([one.run for one in told.runs], told.trend) == ([RUN], [])
