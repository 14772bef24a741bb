"""A save of an image says what a person thinks of each detection; nothing said is ever deleted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Origin, Run, RunImage, State, Verdict
from backend.errors import Invalid
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import judgements, tally
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet, Subject
from backend.review.judgements import Judgement
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import DecisionRow

RUN = 7
FOUND = (
    Detection(10.0, 10.0, 30.0, 30.0, "spur", 0.9, 0),
    Detection(50.0, 50.0, 80.0, 80.0, "short", 0.6, 1),
)


@dataclass
class Board:
    session: Session
    id: int

    def save(self, *boxes: Box, **said: object) -> None:
        version = labelling.version_of(self.session, self.id)
        decisions.save(self.session, self.id, Sheet(version, boxes, run_id=RUN, **said), "ana")  # type: ignore[arg-type]

    def taken(self, idx: int, **changed: object) -> Box:
        """The box that accepting a detection makes."""
        one = FOUND[idx]
        ref = DetectionRef(RUN, self.id, idx)
        values = {"x1": one.x1, "y1": one.y1, "x2": one.x2, "y2": one.y2, "label": one.label}
        return Box(**{**values, **changed}, origin=Origin.MODEL, id=f"box{idx}", detection=ref)  # type: ignore[arg-type]

    def stands(self) -> dict[int | str | None, Verdict]:
        found = decisions.standing(self.session, [self.id], [RUN])[self.id]
        return {s.idx if s.idx is not None else s.box_id: d.verdict for s, d in found.items()}

    def events(self) -> list[tuple[str, bool]]:
        rows = self.session.scalars(select(DecisionRow).order_by(DecisionRow.id))
        return [(row.verdict, row.undoes is not None) for row in rows]


@pytest.fixture
def board(database: Database) -> Iterator[Board]:
    with database.write.begin() as session:
        project = catalogue.create(session, "line")
        for label in ("spur", "short"):
            classes.ensure(session, project.id, label)
        images.add(session, project.id, [NewImage("a", "0" * 64, 100, 100)], "ana")
        image = images.find(session, project.id, "a")
        run = Run(RUN, "golden", "golden", datetime.now(UTC), project_id=project.id)
        findings.start(session, run)
        findings.record(session, RUN, [RunImage(image.id, "a", detections=FOUND)])
        yield Board(session, image.id)


def test_a_taken_detection_is_accepted_with_its_revision(board: Board) -> None:
    board.save(board.taken(0), rejected=())
    assert board.stands() == {0: Verdict.ACCEPT}
    row = board.session.scalars(select(DecisionRow)).one()
    assert (row.revision, row.author, row.idx) == (1, "ana", 0)


@pytest.mark.parametrize("changed", [{"x1": 12.0}, {"label": "short"}])
def test_a_changed_one_is_corrected(board: Board, changed: dict[str, object]) -> None:
    board.save(board.taken(0, **changed))
    assert board.stands() == {0: Verdict.CORRECT}


def test_an_accepted_one_that_is_moved_later_becomes_a_correction(board: Board) -> None:
    board.save(board.taken(0))
    board.save(board.taken(0, x2=40.0))
    assert board.events() == [("accept", False), ("correct", False)]


def test_a_refused_one_is_a_false_call_and_can_be_taken_back(board: Board) -> None:
    board.save(rejected=(1,))
    assert board.stands() == {1: Verdict.FALSE_CALL}
    board.save(rejected=())
    assert board.stands() == {}
    assert board.events() == [("false_call", False), ("false_call", True)]


def test_deleting_the_box_takes_the_decision_back(board: Board) -> None:
    board.save(board.taken(0))
    board.save()
    assert board.stands() == {}


def test_only_a_review_knows_missed_defects_and_verdicts(board: Board) -> None:
    drawn = Box(1.0, 1.0, 9.0, 9.0, "spur", id="drawn")
    board.save(drawn)
    assert board.stands() == {}
    missed = Box(60.0, 1.0, 70.0, 9.0, "spur", id="missed")
    board.save(drawn, missed, review=True, verdict=Verdict.FAIL, rejected=(), accepted=())
    assert board.stands() == {"missed": Verdict.MISSED, decisions.BOARD: Verdict.FAIL}


def test_a_save_outside_the_review_leaves_its_decisions(board: Board) -> None:
    board.save(review=True, verdict=Verdict.PASS, rejected=(0,), accepted=(1,))
    version = labelling.version_of(board.session, board.id)
    decisions.save(board.session, board.id, Sheet(version, (), rejected=()), "ben")
    wanted = {0: Verdict.FALSE_CALL, 1: Verdict.ACCEPT, decisions.BOARD: Verdict.PASS}
    assert board.stands() == wanted


def test_saying_the_same_again_appends_nothing(board: Board) -> None:
    for _ in range(3):
        board.save(board.taken(0), rejected=(1,))
    assert len(board.events()) == 2


def test_a_detection_that_is_not_there_is_refused(board: Board) -> None:
    with pytest.raises(Invalid, match="no detection 9"):
        board.save(rejected=(9,))


def test_a_sweep_judges_over_what_stands(board: Board) -> None:
    own = Box(1.0, 1.0, 9.0, 9.0, "spur", id="own")
    board.save(own)
    both = {0: Verdict.ACCEPT, 1: Verdict.FALSE_CALL}
    judgements.judge(board.session, RUN, board.id, Judgement(both), "ben")
    assert board.stands() == both
    boxes = labelling.boxes_of(board.session, [board.id])[board.id]
    assert {box.id == "own" or box.detection is not None for box in boxes} == {True}
    judgements.judge(board.session, RUN, board.id, Judgement({0: Verdict.FALSE_CALL}), "ben")
    assert board.stands() == {0: Verdict.FALSE_CALL, 1: Verdict.FALSE_CALL}


def test_what_is_sent_twice_is_said_once(board: Board) -> None:
    version = labelling.version_of(board.session, board.id)
    sheet = Sheet(version, (board.taken(0),), key="one")
    first = decisions.save(board.session, board.id, sheet, "ana")
    swept = Judgement({0: Verdict.FALSE_CALL}, key="two")
    second = judgements.judge(board.session, RUN, board.id, swept, "ana")
    judgements.judge(board.session, RUN, board.id, Judgement({0: None}), "ana")
    events = board.events()
    assert decisions.save(board.session, board.id, sheet, "ana") == first
    assert judgements.judge(board.session, RUN, board.id, swept, "ana") == second
    assert board.events() == events


def judged(board: Board, answer: Judgement) -> list[tuple[float, str]]:
    judgements.judge(board.session, RUN, board.id, answer, "ben")
    boxes = labelling.boxes_of(board.session, [board.id])[board.id]
    return [(box.x1, box.label) for box in boxes]


def test_accepting_a_detection_over_a_label_confirms_the_label(board: Board) -> None:
    board.save(Box(11.0, 11.0, 31.0, 31.0, "spur"), Box(50.0, 50.0, 80.0, 80.0, "spur"))
    both = Judgement({0: Verdict.ACCEPT, 1: Verdict.ACCEPT})
    wanted = [(11.0, "spur"), (50.0, "short"), (50.0, "spur")]
    for _ in range(2):
        assert sorted(judged(board, both)) == wanted
        assert board.stands() == {0: Verdict.ACCEPT, 1: Verdict.ACCEPT}
    assert len(judged(board, Judgement({0: Verdict.FALSE_CALL}))) == 3


def test_accepting_all_that_is_right_leaves_boxes_and_escapes_as_they_were(board: Board) -> None:
    labels = [Box(11.0, 11.0, 31.0, 31.0, "spur"), Box(50.0, 50.0, 80.0, 80.0, "short")]
    board.save(*labels, state=State.DONE)
    before = tally.figures(board.session, RUN)
    judged(board, Judgement({0: Verdict.ACCEPT, 1: Verdict.ACCEPT}))
    assert tally.figures(board.session, RUN) == before
    assert (before.right, before.escapes) == (2, 0)


def test_correcting_a_detection_over_a_label_moves_the_label(board: Board) -> None:
    board.save(Box(11.0, 11.0, 31.0, 31.0, "spur"))
    answer = Judgement({0: Verdict.ACCEPT}, {0: replace(FOUND[0], x1=12.0)})
    for _ in range(2):
        assert judged(board, answer) == [(12.0, "spur")]
        assert board.stands() == {0: Verdict.CORRECT}


def test_subjects_are_told_apart() -> None:
    assert Subject(1, None, "a") != Subject(1, None, "b")
