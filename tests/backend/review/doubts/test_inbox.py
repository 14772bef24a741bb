"""Labels in doubt stand until the label is changed, mended or found right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import Box, Origin, State, Verdict
from backend.errors import NotFound, Refused
from backend.jobs import kinds, queue
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Subject
from backend.review.doubts import answering, inbox
from backend.review.doubts.inbox import Held, Raised
from backend.review.doubts.scoring import Kind
from backend.storage.engine import Database
from backend.storage.tables import DismissalRow, DoubtRow
from tests.homes import everything

HERE = (10.0, 10.0, 30.0, 40.0)
THERE = (50.0, 60.0, 80.0, 90.0)
BYTES = "a" * 64


@dataclass
class Line:
    """A board with one label, an open one, and a job that has looked at it."""

    project: int
    image: int
    job: int
    label: Box

    def raised(self, kind: Kind, *, certainty: float = 0.9) -> Raised:
        found = None if kind is Kind.SPURIOUS else Box(*THERE, "short", Origin.GOLDEN)
        label = None if kind is Kind.MISSING else self.label
        return Raised(self.image, BYTES, 1, kind, certainty, label, found, 0.8)


def lay(session: Session) -> Line:
    project = catalogue.create(session, "line").id
    for name in ("open", "short"):
        classes.add(session, project, name)
    new = NewImage("a.png", BYTES, 100, 100, (Box(*HERE, "open"),), labelled=True)
    images.add(session, project, [new], "ana")
    image = images.ids(session, project, ["a.png"])["a.png"]
    job = queue.enqueue(session, kinds.Doubts(project, 1)).id
    return Line(project, image, job, labelling.boxes_of(session, [image])[image][0])


def keep(session: Session, line: Line, *raised: Raised) -> list[Held]:
    named = [
        replace(one, found=labelling.called(session, line.image, [one.found])[0])
        if one.found
        else one
        for one in raised
    ]
    inbox.keep(session, line.project, line.job, named)
    return inbox.window(session, line.project, 10)


def boxes(session: Session, line: Line) -> list[tuple[str, tuple[float, ...]]]:
    there = labelling.boxes_of(session, [line.image])[line.image]
    return [(box.label, (box.x1, box.y1, box.x2, box.y2)) for box in there]


MENDED = {
    Kind.MISSING: [("open", HERE), ("short", THERE)],
    Kind.SPURIOUS: [],
    Kind.CLASS: [("short", HERE)],
    Kind.LOOSE: [("open", THERE)],
}


@pytest.mark.parametrize("kind", Kind)
def test_one_answer_mends_a_label_and_is_taken_back(database: Database, kind: Kind) -> None:
    with database.write.begin() as session:
        line = lay(session)
        (doubt,) = keep(session, line, line.raised(kind))
        assert answering.fix(session, doubt.id, "bo").answer == "fixed"
        assert boxes(session, line) == MENDED[kind]
        newest = labelling.history(session, line.image)[0]
        assert (newest.author, newest.state) == ("bo", State.DONE)
        assert inbox.window(session, line.project, 10) == []
        assert answering.take_back(session, doubt.id, "bo").answer == ""
        assert boxes(session, line) == [("open", HERE)]
        assert [one.id for one in inbox.window(session, line.project, 10)] == [doubt.id]


def test_the_surest_come_first_part_by_part(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        sure = [0.3, 0.9, 0.5, 0.9, 0.01]
        keep(session, line, *(line.raised(Kind.CLASS, certainty=one) for one in sure))
        first = inbox.window(session, line.project, 2)
        rest = inbox.window(session, line.project, 9, first[-1].id)
    assert [one.certainty for one in (*first, *rest)] == [0.9, 0.9, 0.5, 0.3]
    assert inbox.LEAST > 0.01


def test_a_label_that_somebody_changed_is_in_doubt_no_more(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        doubt, _ = keep(session, line, line.raised(Kind.CLASS), line.raised(Kind.MISSING))
        moved = replace(line.label, x2=35.0)
        labelling.save(session, line.image, 1, [moved], "cy")
        (left,) = inbox.window(session, line.project, 10)
        assert left.kind is Kind.MISSING
        assert inbox.count(session, line.project) == {"missing": 1}
        with pytest.raises(Refused, match="in doubt no more"):
            answering.fix(session, doubt.id, "bo")


def test_two_classes_that_became_one_are_no_doubt(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        first, _ = keep(session, line, line.raised(Kind.CLASS), line.raised(Kind.LOOSE))
        known = {one.name: one.id for one in classes.of(session, line.project)}
        classes.merge(session, known["open"], known["short"])
        assert [one.kind for one in inbox.window(session, line.project, 10)] == [Kind.LOOSE]
        assert inbox.count(session, line.project) == {"loose": 1}
        with pytest.raises(Refused, match="in doubt no more"):
            answering.fix(session, first.id, "bo")


@pytest.mark.parametrize("kind", [Kind.CLASS, Kind.MISSING])
def test_no_label_gets_a_class_that_was_taken_out(database: Database, kind: Kind) -> None:
    with database.write.begin() as session:
        line = lay(session)
        (doubt,) = keep(session, line, line.raised(kind))
        known = {one.name: one.id for one in classes.of(session, line.project)}
        classes.retire(session, known["short"])
        assert inbox.window(session, line.project, 10) == []
        assert inbox.count(session, line.project) == {}
        with pytest.raises(Refused, match="in doubt no more"):
            answering.fix(session, doubt.id, "bo")


def test_a_place_that_was_labelled_since_misses_none(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        keep(session, line, line.raised(Kind.MISSING))
        labelling.save(session, line.image, 1, [line.label, Box(*THERE, "open")], "cy")
        assert inbox.window(session, line.project, 10) == []
        assert inbox.count(session, line.project) == {}


@pytest.mark.parametrize("kind", Kind)
def test_what_was_dismissed_stays_away_over_an_import_anew(database: Database, kind: Kind) -> None:
    with database.write.begin() as session:
        line = lay(session)
        (doubt,) = keep(session, line, line.raised(kind))
        answering.dismiss(session, doubt.id, "bo")
        assert boxes(session, line) == [("open", HERE)]
        # The same picture under another name: other ids of image and box, the same content.
        new = NewImage("b.png", BYTES, 100, 100, (Box(*HERE, "open"),), labelled=True)
        images.add(session, line.project, [new], "ana")
        image = images.ids(session, line.project, ["b.png"])["b.png"]
        label = labelling.boxes_of(session, [image])[image][0]
        again = Line(line.project, image, line.job, label)
        assert keep(session, again, again.raised(kind)) == []


def test_a_dismissal_that_is_taken_back_is_forgotten(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        (doubt,) = keep(session, line, line.raised(Kind.MISSING))
        answering.dismiss(session, doubt.id, "bo")
        answering.take_back(session, doubt.id, "bo")
        assert session.scalar(select(func.count()).select_from(DismissalRow)) == 0
        assert len(keep(session, line, line.raised(Kind.MISSING))) == 1


def test_a_search_anew_keeps_what_people_said(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        first, second = keep(session, line, line.raised(Kind.SPURIOUS), line.raised(Kind.MISSING))
        answering.dismiss(session, first.id, "bo")
        keep(session, line)
        left = session.scalars(select(DoubtRow.id)).all()
        assert left == [first.id]
        with pytest.raises(NotFound, match="looked through anew"):
            answering.fix(session, second.id, "bo")


def test_an_answer_is_given_once(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        (doubt,) = keep(session, line, line.raised(Kind.CLASS))
        with pytest.raises(Refused, match="Nobody has answered"):
            answering.take_back(session, doubt.id, "bo")
        answering.fix(session, doubt.id, "bo")
        with pytest.raises(Refused, match="bo has fixed this one already"):
            answering.dismiss(session, doubt.id, "cy")
        with pytest.raises(Refused, match="bo has fixed this one already"):
            answering.fix(session, doubt.id, "cy")


@pytest.mark.parametrize("say", [answering.fix, answering.dismiss])
def test_an_answer_that_is_sent_again_is_the_same(
    database: Database, say: Callable[[Session, int, str], Held]
) -> None:
    with database.write.begin() as session:
        line = lay(session)
        (doubt,) = keep(session, line, line.raised(Kind.CLASS))
        first = say(session, doubt.id, "bo")
        version = labelling.version_of(session, line.image)
        assert say(session, doubt.id, "bo") == first
        assert labelling.version_of(session, line.image) == version
        dismissals = session.scalar(select(func.count()).select_from(DismissalRow))
        assert dismissals == int(first.answer == "dismissed")


def test_two_answers_about_one_image_are_taken_back_in_turn(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        raised = keep(session, line, line.raised(Kind.CLASS), line.raised(Kind.MISSING))
        for doubt in raised:
            answering.fix(session, doubt.id, "bo")
        assert boxes(session, line) == [("short", HERE), ("short", THERE)]
        for doubt in reversed(raised):
            answering.take_back(session, doubt.id, "bo")
        assert boxes(session, line) == [("open", HERE)]
        assert len(inbox.window(session, line.project, 10)) == 2


def test_a_detection_that_was_accepted_is_accepted_again_with_its_label(database: Database) -> None:
    with database.write.begin() as session:
        made = everything.furnish(session, lay(session).project, "line")

        def said() -> dict[Subject, Verdict]:
            standing = decisions.standing(session, made.images[:1], [made.run])[made.images[0]]
            return {subject: one.verdict for subject, one in standing.items()}

        before = said()
        answering.fix(session, made.doubt, "bo")
        assert before.keys() - said().keys() == {Subject(made.run, 0)}
        answering.take_back(session, made.doubt, "bo")
        assert said() == before


def test_what_was_changed_after_it_was_mended_is_not_taken_back(database: Database) -> None:
    with database.write.begin() as session:
        line = lay(session)
        (doubt,) = keep(session, line, line.raised(Kind.CLASS))
        answering.fix(session, doubt.id, "bo")
        labelling.save(session, line.image, 2, [], "cy")
        with pytest.raises(Refused, match="changed again since"):
            answering.take_back(session, doubt.id, "bo")
