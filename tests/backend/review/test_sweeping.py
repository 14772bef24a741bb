"""A sweep gives each classified picture to one person, the least sure first, and counts it once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage, State, Task, Verdict
from backend.errors import Invalid
from backend.labels import images, labelling, state_marks
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.review import judgements, provenance, sweeping, tally
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Subject
from backend.review.judgements import Judgement
from backend.review.sweeping import After
from backend.review.tally import Figures
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import DecisionRow

RUN = 7
COUNT = 12


@pytest.fixture
def ids(database: Database) -> list[int]:
    """Pictures that a run calls good, the first ones the least surely, and one that is bad."""
    with database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, ["good", "bad"]).id
        names = [f"{at:02}" for at in range(COUNT + 1)]
        images.add(session, project, [NewImage(one, one, 9, 9) for one in names], "")
        known = images.ids(session, project, names)
        findings.start(session, Run(RUN, "v1", "classifier", datetime.now(UTC), project))
        seen = [_seen(known[name], at) for at, name in enumerate(names)]
        findings.record(session, RUN, seen)
    return [known[name] for name in names]


def _seen(image_id: int, at: int) -> RunImage:
    label, score = ("good", 0.4 + at / 50) if at < COUNT else ("bad", 0.7)
    return RunImage(image_id, str(at), detections=(Detection(0, 0, 9, 9, label, score),))


@pytest.fixture
def session(database: Database, ids: list[int]) -> Iterator[Session]:
    assert ids
    with database.write.begin() as opened:
        yield opened


def _take(
    session: Session, holder: str = "one", count: int = 5, after: After | None = None
) -> list[int]:
    screen = sweeping.take(session, RUN, "good", holder, holder, count=count, after=after)
    return [one.image_id for one in screen.tiles]


def test_the_least_sure_come_first_and_the_next_screen_goes_on(
    session: Session, ids: list[int]
) -> None:
    screen = sweeping.take(session, RUN, "good", "one", "ana", count=5)
    last = screen.tiles[-1]
    assert [one.image_id for one in screen.tiles] == ids[:5]
    assert (sweeping.left(session, RUN, "good"), screen.others) == (COUNT, 0)
    after = After(last.detection.score, last.image_id)
    assert _take(session, after=after) == ids[5:10]
    assert _take(session) == ids[:5]


def test_two_people_never_have_one_picture(session: Session, ids: list[int]) -> None:
    first, second = _take(session, "one"), _take(session, "two")
    assert (first, second) == (ids[:5], ids[5:10])
    assert _take(session, "three") == ids[10:COUNT]
    assert sweeping.take(session, RUN, "good", "four", "di").others == 3


def test_what_is_answered_comes_no_more_until_it_is_taken_back(
    session: Session, ids: list[int]
) -> None:
    for image_id, answer in zip(
        ids, (Judgement({0: Verdict.ACCEPT}), Judgement({0: Verdict.ACCEPT}, classes={0: "bad"}),
              Judgement({0: Verdict.FALSE_CALL})), strict=False
    ):  # fmt: skip
        judgements.judge(session, RUN, image_id, answer, "ana")
    said = [images.get(session, one) for one in ids[:3]]
    assert [(one.label, one.state) for one in said] == [
        ("good", State.DONE), ("bad", State.DONE), ("", State.DONE)
    ]  # fmt: skip
    standing = decisions.standing(session, ids, [RUN])
    assert [standing[one][Subject(RUN, 0)].verdict for one in ids[:3]] == [
        Verdict.ACCEPT, Verdict.CORRECT, Verdict.FALSE_CALL
    ]  # fmt: skip
    assert tally.figures(session, RUN) == Figures(3, right=1, false_calls=2, escapes=1)
    assert _take(session, count=2) == ids[3:5]
    judgements.judge(session, RUN, ids[1], Judgement({0: None}), "ana")
    assert (images.get(session, ids[1]).label, images.get(session, ids[1]).state) == ("", State.NEW)
    assert _take(session, count=2) == [ids[1], ids[3]]


@pytest.mark.parametrize("first", [Verdict.ACCEPT, Verdict.FALSE_CALL])
def test_the_last_class_that_was_given_counts(
    session: Session, ids: list[int], first: Verdict
) -> None:
    other, own = Judgement({0: Verdict.ACCEPT}, classes={0: "bad"}), Judgement({0: Verdict.ACCEPT})
    judgements.judge(session, RUN, ids[0], Judgement({0: first}), "ana")
    for answer, label, said in ((other, "bad", Verdict.CORRECT), (own, "good", Verdict.ACCEPT)):
        judgements.judge(session, RUN, ids[0], answer, "ana")
        standing = decisions.standing(session, ids[:1], [RUN])[ids[0]]
        assert images.get(session, ids[0]).label == label
        assert standing[Subject(RUN, 0)].verdict is said


def test_an_answer_over_one_that_was_not_seen_is_refused(session: Session, ids: list[int]) -> None:
    judgements.judge(session, RUN, ids[0], Judgement({0: Verdict.ACCEPT}, key="k"), "bo")
    with pytest.raises(Invalid, match="bo has answered it"):
        sweeping.refuse_answered(session, RUN, ids[0], "", "other")
    sweeping.refuse_answered(session, RUN, ids[0], "", "k")
    sweeping.refuse_answered(session, RUN, ids[0], "accept", "other")
    judgements.judge(session, RUN, ids[0], Judgement({0: None}), "bo")
    with pytest.raises(Invalid, match="taken the answer back"):
        sweeping.refuse_answered(session, RUN, ids[0], "accept", "other")


def test_a_class_leads_to_its_run_and_to_who_gave_it(session: Session, ids: list[int]) -> None:
    corrected = Judgement({0: Verdict.ACCEPT}, classes={0: "bad"})
    judgements.judge(session, RUN, ids[0], corrected, "ana")
    chain = provenance.why(session, f"{ids[0]}:class")
    assert chain == provenance.why(session, f"{RUN}:{ids[0]}:0")
    assert [one.what for one in chain] == [
        "Detection", "Run", "Model", "Image", "Decision", "Class"
    ]  # fmt: skip
    assert chain[-2].text.startswith("correct by ana")
    assert chain[-1].text.startswith("bad, judge 1 by ana")
    state_marks.name(session, [ids[1]], None, "bo")
    assert [one.what for one in provenance.why(session, f"{ids[1]}:class")] == ["Image"]


def test_a_class_of_this_project_alone_can_be_given(session: Session, ids: list[int]) -> None:
    strange = Judgement({0: Verdict.ACCEPT}, classes={0: "odd"})
    with pytest.raises(Invalid, match="no such class"):
        judgements.judge(session, RUN, ids[0], strange, "ana")


def test_a_screen_has_its_bounds(session: Session) -> None:
    with pytest.raises(Invalid, match="1 to 200"):
        sweeping.take(session, RUN, "good", "one", "ana", count=201)


def test_four_who_sweep_at_once_answer_each_picture_once(
    database: Database, ids: list[int]
) -> None:
    def sweep(holder: str) -> list[int]:
        had: list[int] = []
        while True:
            with database.write.begin() as session:
                taken = _take(session, holder, count=2)
            if not taken:
                return had
            for image_id in taken:
                with database.write.begin() as session:
                    sweeping.refuse_answered(session, RUN, image_id, "", "")
                    judgements.judge(session, RUN, image_id, Judgement({0: Verdict.ACCEPT}), holder)
            had += taken

    with ThreadPoolExecutor(4) as pool:
        had = [one for some in pool.map(sweep, "abcd") for one in some]
    assert sorted(had) == ids[:COUNT]
    with database.read.begin() as session:
        assert session.scalar(select(func.count()).select_from(DecisionRow)) == COUNT
        assert {labelling.history(session, one)[0].label for one in ids[:COUNT]} == {"good"}
