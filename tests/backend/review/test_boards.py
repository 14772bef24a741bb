"""The boards of a run: their verdicts are the rule's and people's, and the sheet adds them up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Run, RunImage, State, Task, Verdict
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import agenda, judgements, reports, views
from backend.review.boards import sheet, verdicts
from backend.review.boards.verdicts import StandingBoard
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.review.judgements import Judgement
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import ImageRow

RUN, ANSWERS = 4, 5
SPUR = Detection(10.0, 10.0, 30.0, 40.0, "spur", 0.9)
SHORT = Detection(50.0, 50.0, 80.0, 80.0, "short", 0.7)
FAINT = Detection(60.0, 10.0, 80.0, 30.0, "short", 0.3)
SCRATCH = Detection(5.0, 60.0, 25.0, 80.0, "scratch", 0.8)
FOUND: dict[str, tuple[Detection, ...]] = {
    "clean": (),
    "faint": (FAINT,),
    "spur": (SPUR,),
    "both": (SPUR, SHORT),
    "harmless": (SCRATCH,),
    "labelled": (SPUR,),
    "passed": (SPUR,),
    "refused": (SHORT,),
}
LOTS = {"clean": "A", "faint": "A", "spur": "A", "both": "B"}


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.write.begin() as opened:
        project = catalogue.create(opened, "line").id
        for label in ("spur", "short", "scratch"):
            classes.ensure(opened, project, label)
        scratch = next(
            one for one in catalogue.get(opened, project).classes if one.name == "scratch"
        )
        classes.edit(opened, scratch.id, severity=0)
        new = [NewImage(n, n * 8, 99, 99, group=LOTS.get(n, "")) for n in (*FOUND, "broken")]
        images.add(opened, project, new, "")
        findings.start(opened, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project))
        at = _ids(opened)
        seen = [RunImage(at[name], name, detections=found) for name, found in FOUND.items()]
        broken = RunImage(at["broken"], "broken", status="unreadable", error="It is cut off.")
        findings.record(opened, RUN, [*seen, broken])
        findings.finish(opened, RUN, 1.0, {})
        labelling.save(opened, at["labelled"], 0, [Box(*_corners(SPUR), "spur")], "ana")
        passed = Sheet(0, (), run_id=RUN, review=True, verdict=Verdict.PASS)
        decisions.save(opened, at["passed"], passed, "bo")
        judgements.judge(opened, RUN, at["refused"], Judgement({0: Verdict.FALSE_CALL}), "ana")
        yield opened


def _ids(session: Session) -> dict[str, int]:
    return {name: id_ for name, id_ in session.execute(select(ImageRow.name, ImageRow.id))}


def _corners(one: Detection) -> tuple[float, float, float, float]:
    return one.x1, one.y1, one.x2, one.y2


def _boards(session: Session, run: int = RUN) -> dict[str, StandingBoard]:
    return {one.image.name: one for part in verdicts.every(session, run) for one in part}


def test_each_board_has_its_verdict_and_who_says_it(session: Session) -> None:
    said = {name: (one.verdict, one.said_by) for name, one in _boards(session).items()}
    assert said == {
        "clean": ("pass", ""),
        "faint": ("pass", ""),
        "spur": ("fail", ""),
        "both": ("fail", ""),
        "harmless": ("pass", ""),
        "labelled": ("fail", ""),
        "passed": ("pass", "bo"),
        "refused": ("pass", ""),
    }


def test_the_rule_says_the_same_of_a_board_as_of_the_queue(session: Session) -> None:
    for stand in ("rule-fail", "rule-pass"):
        ids = agenda.ids(session, RUN, agenda.Choice(stands=(stand,)), 99)
        ruled = {one.image.id for one in _boards(session).values() if not one.said_by}
        mine = {
            one.image.id for one in _boards(session).values() if one.verdict == stand[-4:]
        } & ruled
        assert {*ids} & ruled == mine


def test_a_defect_that_a_label_shows_counts_once(session: Session) -> None:
    boards = _boards(session)
    assert boards["labelled"].by_class == {"spur": 1}
    assert boards["labelled"].worst is None
    assert boards["both"].by_class == {"spur": 1, "short": 1}
    assert boards["both"].worst == 0.9
    assert boards["refused"].by_class == {}


def test_a_part_of_the_boards_goes_on_where_the_last_one_ended(session: Session) -> None:
    choice, seen, after = agenda.Choice(sort="name"), list[str](), 0
    while part := verdicts.window(session, RUN, choice, after, 3):
        seen += [one.image.name for one in part]
        after = part[-1].image.id
    assert seen == sorted(FOUND)


def test_the_sheet_adds_up_what_the_boards_say(session: Session) -> None:
    read = sheet.read(session, RUN)
    assert (read.counted.passed, read.counted.failed, read.counted.asked) == (5, 3, 0)
    assert read.counted.share == pytest.approx(5 / 8)
    assert {name: (lot.passed, lot.failed) for name, lot in read.lots.items()} == {
        "": (3, 1),
        "A": (2, 1),
        "B": (0, 1),
    }
    told = [(one.name, one.defects, one.boards, round(one.so_far, 2)) for one in read.classes]
    assert told[0] == ("spur", 4, 4, 0.67)
    assert {one[0] for one in told} == {"spur", "short", "scratch"}
    assert told[-1][3] == 1.0
    assert [(one.name, one.error) for one in read.unreadable] == [("broken", "It is cut off.")]
    assert read.unread == 1
    assert read.judges == {"bo": 1}
    assert read.worst[0].image.name == "both"


def test_what_was_taken_back_is_no_decision_that_stands(session: Session) -> None:
    assert sheet.read(session, RUN).said == {"ana": 1, "bo": 1}
    judgements.judge(session, RUN, _ids(session)["refused"], Judgement({0: Verdict.ACCEPT}), "cy")
    assert sheet.read(session, RUN).said == {"bo": 1, "cy": 1}
    judgements.judge(session, RUN, _ids(session)["refused"], Judgement({0: None}), "ana")
    assert sheet.read(session, RUN).said == {"bo": 1}
    assert _boards(session)["refused"].verdict == "fail"


def test_a_classified_picture_fails_by_its_class_and_asks_below_the_score(
    database: Database,
) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, ["good", "bad"])
        good = next(one for one in project.classes if one.name == "good")
        classes.edit(session, good.id, severity=0)
        whole = (0.0, 0.0, 9.0, 9.0)
        answers = {"sure": ("bad", 0.9), "fine": ("good", 0.9), "unsure": ("bad", 0.3)}
        answers |= {"named": ("good", 0.9)}
        images.add(session, project.id, [NewImage(n, n * 8, 9, 9) for n in answers], "")
        at = _ids(session)
        run = Run(ANSWERS, "v1", "classifier", datetime.now(UTC), project_id=project.id)
        findings.start(session, run)
        findings.record(
            session,
            ANSWERS,
            [
                RunImage(at[name], name, detections=(Detection(*whole, label, score),))
                for name, (label, score) in answers.items()
            ],
        )
        labelling.save(session, at["named"], 0, [], "ana", state=State.DONE, label="bad")
        judgements.judge(session, ANSWERS, at["sure"], Judgement({0: Verdict.ACCEPT}), "bo")
        boards = _boards(session, ANSWERS)
        assert {name for name, one in boards.items() if one.said_by == "bo"} == {"sure"}
        assert {name: one.verdict for name, one in boards.items()} == {
            "sure": "fail",
            "fine": "pass",
            "unsure": "ask",
            "named": "fail",
        }
        ruled = {row["name"]: row["rule"] for row in reports.rows(session, ANSWERS)}
        assert ruled == {name: one.verdict for name, one in boards.items()}
        for stand in ("pass", "fail", "ask"):
            choice = agenda.Choice(stands=(f"rule-{stand}",))
            wanted = {*agenda.ids(session, ANSWERS, choice, 9)}
            assert {b.image.id for b in boards.values() if b.verdict == stand} == wanted
        assert views.project_of(session, ANSWERS) == project.id
        read = sheet.read(session, ANSWERS)
        assert read.counted.share == pytest.approx(1 / 3)
        assert read.judges == {"bo": 1}
