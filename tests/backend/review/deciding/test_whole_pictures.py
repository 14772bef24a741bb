"""Decisions on classified pictures are their classes, and never boxes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Origin, Run, RunImage, State, Task, Verdict
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import agenda, decision_tables, judgements, reports, tally, views
from backend.review.agenda import Choice
from backend.review.boards import verdicts
from backend.review.deciding import decisions, saves
from backend.review.deciding.decisions import Sheet, Subject
from backend.review.judgements import Judgement
from backend.review.tally import Figures
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import BoxRow, DecisionRow, ImageRow

RUN = 4
GOOD = Detection(0, 0, 9, 9, "good", 0.8)


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.write.begin() as opened:
        project = catalogue.create(opened, "parts", Task.CLASSIFY, ["good", "bad"]).id
        images.add(opened, project, [NewImage("a", "a" * 64, 9, 9)], "")
        (image,) = images.ids(opened, project, ["a"]).values()
        run = Run(RUN, "v1", "classifier", datetime.now(UTC), project_id=project)
        findings.start(opened, run)
        findings.record(opened, RUN, [RunImage(image, "a", detections=(GOOD,))])
        yield opened


def _image(session: Session) -> int:
    return session.scalars(select(ImageRow.id)).one()


def _stands(session: Session) -> Verdict | None:
    now = decisions.standing(session, [_image(session)], [RUN])[_image(session)]
    one = now.get(Subject(RUN, 0))
    return one.verdict if one else None


def _now(session: Session) -> tuple[str, State]:
    assert session.scalar(select(func.count()).select_from(BoxRow)) == 0
    image = images.get(session, _image(session))
    return image.label, image.state


def _judge(session: Session, verdict: Verdict | None) -> None:
    judgements.judge(session, RUN, _image(session), Judgement({0: verdict}), "ana")


def _save(session: Session, **said: object) -> None:
    image = _image(session)
    version = labelling.version_of(session, image)
    saves.save(session, image, Sheet(version, run_id=RUN, **{"boxes": (), **said}), "ana")  # type: ignore[arg-type]


def test_accepting_gives_the_class_of_the_answer(session: Session) -> None:
    _judge(session, Verdict.ACCEPT)
    assert _now(session) == ("good", State.DONE)
    assert _stands(session) is Verdict.ACCEPT
    assert tally.figures(session, RUN) == Figures(1, right=1)


def test_pictures_are_found_by_their_label_and_by_what_they_were_taken_for(
    session: Session,
) -> None:
    _save(session, label="bad", accepted=(), rejected=())

    def found(**chosen: str) -> list[int]:
        return agenda.ids(session, RUN, agenda.parse(chosen.items()), 9)

    assert found(label="bad") == found(**{"label": "bad", "class": "good"}) == [_image(session)]
    assert found(label="good") == found(**{"label": "bad", "class": "bad"}) == []
    assert found(label="nobody's") == []


def test_refusing_leaves_a_picture_of_none_of_the_classes(session: Session) -> None:
    _judge(session, Verdict.FALSE_CALL)
    assert _now(session) == ("", State.DONE)
    assert _stands(session) is Verdict.FALSE_CALL
    assert tally.figures(session, RUN) == Figures(1, false_calls=1)


@pytest.mark.parametrize("verdict", [Verdict.ACCEPT, Verdict.FALSE_CALL])
def test_taking_it_back_brings_class_state_and_event(session: Session, verdict: Verdict) -> None:
    labelling.save(session, _image(session), 0, [], "bo", state=State.STARTED, label="bad")
    _judge(session, verdict)
    _judge(session, None)
    assert _now(session) == ("bad", State.STARTED)
    assert _stands(session) is None
    first, second = session.scalars(select(DecisionRow).order_by(DecisionRow.id))
    assert (first.undoes, second.undoes) == (None, first.id)


def test_another_class_corrects_the_answer_and_stays_through_later_saves(session: Session) -> None:
    _save(session, label="bad", accepted=(), rejected=())
    assert _now(session) == ("bad", State.DONE)
    assert _stands(session) is Verdict.CORRECT
    _save(session, label="bad", accepted=(), rejected=(), comment="bent")
    assert _stands(session) is Verdict.CORRECT
    assert tally.figures(session, RUN) == Figures(1, false_calls=1, escapes=1)
    _save(session, label="good", accepted=(), rejected=())
    assert _stands(session) is Verdict.ACCEPT
    assert tally.figures(session, RUN) == Figures(1, right=1)


def test_a_report_that_is_read_back_as_it_was_written_changes_no_class(session: Session) -> None:
    _save(session, label="bad", accepted=(), rejected=())
    text = b"".join(reports.write(session, RUN, "csv")).decode()
    ((image, lines),) = decision_tables.images(RUN, csv.DictReader(io.StringIO(text)))
    said = decision_tables.answer(session, RUN, image, lines)
    judgements.judge(session, RUN, image, said, "ana")
    assert _now(session) == ("bad", State.DONE)
    assert _stands(session) is Verdict.CORRECT


def test_a_verdict_on_the_board_alone_leaves_a_corrected_class(session: Session) -> None:
    corrected = Judgement({0: Verdict.ACCEPT}, classes={0: "bad"})
    judgements.judge(session, RUN, _image(session), corrected, "ana")
    judgements.judge(session, RUN, _image(session), Judgement({}, board=Verdict.FAIL), "bo")
    assert _now(session) == ("bad", State.DONE)
    assert _stands(session) is Verdict.CORRECT


def test_a_report_and_the_table_of_all_pictures_tell_the_class(session: Session) -> None:
    rule = {"threshold": 0.5, "thresholds": {}, "severity": 2, "repeats": 0.0}
    views.set_rule(session, views.project_of(session, RUN), rule, 0, "ana")
    (waiting,) = verdicts.of(session, RUN, [_image(session)])
    assert (waiting.verdict, waiting.called, waiting.worst) == ("pass", "good", 0.8)
    assert [row["given"] for row in reports.rows(session, RUN)] == [""]
    corrected = Judgement({0: Verdict.ACCEPT}, classes={0: "bad"})
    judgements.judge(session, RUN, _image(session), corrected, "ana")
    (said,) = verdicts.of(session, RUN, [_image(session)])
    assert (said.called, said.worst) == ("bad", None)
    assert [(row["label"], row["given"]) for row in reports.rows(session, RUN)] == [("good", "bad")]


def test_a_class_that_stands_already_is_an_answer_too(session: Session) -> None:
    labelling.save(session, _image(session), 0, [], "bo", state=State.DONE, label="bad")
    _save(session, label="bad", accepted=(0,), rejected=())
    assert (_now(session)[0], _stands(session)) == ("bad", Verdict.CORRECT)
    _save(session, label="bad", accepted=(0,), rejected=(), comment="bent")
    assert (_now(session)[0], _stands(session)) == ("bad", Verdict.CORRECT)
    _save(session, label="good", accepted=(0,), rejected=())
    _save(session, label="good", accepted=(0,), rejected=())
    assert (_now(session)[0], _stands(session)) == ("good", Verdict.ACCEPT)


def test_an_answered_picture_is_given_to_nobody_until_it_is_taken_back(session: Session) -> None:
    (image,) = agenda.take(session, RUN, Choice(), "tab", "ana").image_ids
    agenda.give_back(session, RUN, "tab")
    _judge(session, Verdict.ACCEPT)
    assert agenda.take(session, RUN, Choice(), "tab", "ana").image_ids == ()
    assert agenda.counts(session, RUN, Choice()) == (1, 0)
    assert agenda.ids(session, RUN, Choice(stands=("accept",)), 9) == [image]
    assert views.summary(session, RUN).reviewed == 1
    _judge(session, None)
    assert agenda.take(session, RUN, Choice(), "tab", "ana").image_ids == (image,)
    assert views.summary(session, RUN).reviewed == 0


def test_the_rule_fails_classes_and_asks_a_person_below_its_score(session: Session) -> None:
    project = views.project_of(session, RUN)
    (_, bad) = catalogue.get(session, project).classes
    rule = {"threshold": 0.9, "thresholds": {}, "severity": 2, "repeats": 0.0}
    views.set_rule(session, project, rule, 0, "ana")
    assert agenda.ruled(session, RUN) == {"pass": 0, "fail": 0, "ask": 1}
    views.set_rule(session, project, {**rule, "threshold": 0.5}, 1, "ana")
    assert agenda.ruled(session, RUN) == {"pass": 1, "fail": 0, "ask": 0}
    classes.edit(session, bad.id, severity=2)
    _save(session, label="bad", accepted=(0,), rejected=())
    assert agenda.ruled(session, RUN) == {"pass": 0, "fail": 1, "ask": 0}
    assert agenda.ids(session, RUN, Choice(stands=("rule-fail",)), 9) == [_image(session)]


def test_an_undo_of_a_page_takes_back_what_was_said(session: Session) -> None:
    _save(session, label="bad", accepted=(), rejected=())
    _save(session, label="", state=State.NEW, accepted=(), rejected=(), action="undo")
    assert _now(session) == ("", State.NEW)
    assert _stands(session) is None


def test_a_box_over_the_whole_picture_is_its_class(session: Session) -> None:
    ref = DetectionRef(RUN, _image(session), 0)
    box = Box(0, 0, 9, 9, "good", Origin.MODEL, "", ref)
    _save(session, boxes=(box,), label="", state=State.STARTED, rejected=(), accepted=())
    assert _now(session) == ("good", State.DONE)
    assert _stands(session) is Verdict.ACCEPT


def test_a_comment_alone_decides_nothing(session: Session) -> None:
    _save(session, label="", accepted=(), rejected=(), comment="odd light")
    assert _now(session)[0] == ""
    assert _stands(session) is None
