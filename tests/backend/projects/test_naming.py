"""A class is one thing, whatever it is called: what knows it by an earlier name means the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Origin, Run, RunImage, State, Verdict
from backend.errors import Conflict, Refused
from backend.labels import gallery, images, labelling
from backend.labels.gallery import Filter
from backend.labels.images import NewImage
from backend.models import registry, snapshots
from backend.projects import catalogue, classes
from backend.review import agenda, decision_tables, judgements, tally, views
from backend.review.agenda import Choice
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.storage import findings
from backend.storage.classes import class_names, figures
from backend.storage.engine import Database
from backend.storage.tables import DecisionRow

RUN = 7
AT = (10.0, 10.0, 30.0, 40.0)


@dataclass
class Line:
    """A project with a board, on which a run has found a short."""

    session: Session
    project: int
    image: int

    def kind(self, name: str) -> int:
        """The id of a class."""
        found = classes.find(self.session, self.project, name)
        assert found
        return found.id

    def rename(self, **names: str) -> None:
        """Rename classes, one after the other."""
        for old, new in names.items():
            classes.edit(self.session, self.kind(old), name=new)

    def found(self) -> Detection:
        """What the run has found."""
        [one] = findings.detections(self.session, RUN, [self.image])[self.image]
        return one

    def verdicts(self) -> list[str]:
        """What was said."""
        return list(self.session.scalars(select(DecisionRow.verdict).order_by(DecisionRow.id)))


@pytest.fixture
def line(database: Database) -> Iterator[Line]:
    with database.write.begin() as session:
        project = catalogue.create(session, "line", classes=["short", "open", "spur"]).id
        images.add(session, project, [NewImage("a", "a" * 64, 99, 99)], "")
        image = images.ids(session, project, ["a"])["a"]
        findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project))
        found = (Detection(*AT, "short", 0.8),)
        findings.record(session, RUN, [RunImage(image, "a", detections=found)])
        yield Line(session, project, image)


def test_a_detection_is_shown_under_the_name_of_today(line: Line) -> None:
    line.rename(short="short circuit")
    assert line.found().label == "short circuit"
    assert views.summary(line.session, RUN).classes == {"short circuit": 1}


def test_a_swap_of_two_names_confuses_nothing(line: Line) -> None:
    labelling.save(line.session, line.image, 0, [Box(*AT, "short")], "ana", state=State.DONE)
    line.rename(short="third", open="short", third="open")
    [box] = labelling.boxes_of(line.session, [line.image])[line.image]
    assert (box.label, line.found().label) == ("open", "open")
    assert tally.figures(line.session, RUN) == tally.Figures(1, right=1)
    assert agenda.ids(line.session, RUN, Choice(labels=("short",)), 9) == []


def test_a_name_that_a_class_has_is_not_given_to_another(line: Line) -> None:
    with pytest.raises(Refused, match="merge the two instead"):
        line.rename(open="short")


def test_the_name_of_a_class_that_was_taken_out_is_not_given_to_another(line: Line) -> None:
    classes.retire(line.session, line.kind("spur"))
    with pytest.raises(Refused, match="was taken out"):
        line.rename(open="spur")


def test_an_address_with_an_earlier_name_shows_the_same(line: Line) -> None:
    line.rename(short="short circuit")
    assert agenda.ids(line.session, RUN, Choice(labels=("short",)), 9) == [line.image]
    assert views.wall(line.session, RUN, "short")[0] == 1


@pytest.mark.parametrize("said", ["short", "short circuit"])
def test_accepting_a_renamed_detection_accepts_it(line: Line, said: str) -> None:
    line.rename(short="short circuit")
    box = Box(*AT, said, Origin.MODEL, "b", DetectionRef(RUN, line.image, 0))
    decisions.save(line.session, line.image, Sheet(0, (box,), run_id=RUN, review=True), "ana")
    assert line.verdicts() == [Verdict.ACCEPT]


def test_accepting_a_detection_over_its_renamed_label_draws_no_second_box(line: Line) -> None:
    labelling.save(line.session, line.image, 0, [Box(*AT, "short")], "ana")
    line.rename(short="short circuit")
    judgements.judge(
        line.session, RUN, line.image, judgements.Judgement({0: Verdict.ACCEPT}), "ana"
    )
    assert len(labelling.boxes_of(line.session, [line.image])[line.image]) == 1
    assert line.verdicts() == [Verdict.ACCEPT]


def test_a_table_with_an_earlier_name_corrects_nothing(line: Line) -> None:
    line.rename(short="short circuit")
    corners = dict(zip(("x1", "y1", "x2", "y2"), map(str, AT), strict=True))
    row = {"image": str(line.image), "idx": "0", "label": "short", "decision": "accept", **corners}
    answer = decision_tables.answer(line.session, RUN, line.image, [(2, row)])
    judgements.judge(line.session, RUN, line.image, answer, "ana")
    assert (answer.corrected, line.verdicts()) == ({}, [Verdict.ACCEPT])


def test_a_merge_takes_detections_thresholds_models_and_snapshots_along(line: Line) -> None:
    session = line.session
    labelling.save(session, line.image, 0, [Box(*AT, "short")], "ana", state=State.DONE)
    frozen = snapshots.freeze(session, line.project, 1, "ana")
    model = registry.add(
        session, line.project, "yolo", classes=frozen.classes, snapshot_id=frozen.id, parameters={}
    )
    views.set_rule(session, line.project, {"thresholds": {"short": 0.9}}, 0, "ana")
    classes.merge(session, line.kind("short"), line.kind("open"))
    assert line.found().label == "open"
    assert views.rule(session, line.project)["thresholds"] == {"open": 0.9}
    assert registry.get(session, model.id).classes == ("open", "open", "spur")
    assert snapshots.get(session, frozen.id).classes == ("open", "spur")
    [image] = snapshots.images(session, frozen.id)
    assert [box.label for box in image.boxes] == ["open"]


def test_a_class_keeps_its_own_threshold_when_another_is_merged_into_it(line: Line) -> None:
    own = {"thresholds": {"short": 0.9, "open": 0.4}}
    views.set_rule(line.session, line.project, own, 0, "ana")
    classes.merge(line.session, line.kind("short"), line.kind("open"))
    assert views.rule(line.session, line.project)["thresholds"] == {"open": 0.4}


def test_a_rule_over_one_that_was_not_seen_is_refused(line: Line) -> None:
    seen = views.rule(line.session, line.project)["version"]
    views.set_rule(line.session, line.project, {"threshold": 0.7}, seen, "ana")
    with pytest.raises(Conflict, match="ana has changed the rule") as refused:
        views.set_rule(line.session, line.project, {"threshold": 0.2}, seen, "ben")
    assert refused.value.theirs["threshold"] == 0.7
    assert views.rule(line.session, line.project)["threshold"] == 0.7


def test_classes_named_as_numbers_are_not_taken_for_ids(line: Line) -> None:
    first, second = line.kind("short"), line.kind("open")
    line.rename(short=str(second), open=str(first))
    names = class_names.of(line.session, line.project)
    said = {"per_class": {str(second): {"ap": 0.1}, str(first): {"ap": 0.9}}}
    kept = figures.keyed(said, names.ids)
    assert figures.named(figures.keyed(kept, names.ids), names) == said


def test_what_was_measured_before_a_merge_stays_apart(line: Line) -> None:
    names = class_names.of(line.session, line.project)
    kept = figures.keyed({"per_class": {"short": 1, "open": 2, "spur": 3}}, names.ids)
    classes.merge(line.session, line.kind("short"), line.kind("open"))
    told = figures.named(kept, class_names.of(line.session, line.project))
    assert told == {"per_class": {"open": 2, "short (now open)": 1, "spur": 3}}


def test_the_classes_of_a_run_over_a_folder_keep_the_names_of_the_model(line: Line) -> None:
    findings.start(line.session, Run(8, "v1", "yolo", datetime.now(UTC)))
    found = (Detection(*AT, "short", 0.8),)
    findings.record(line.session, 8, [RunImage(1, "b", detections=found)])
    line.rename(short="short circuit")
    assert findings.detections(line.session, 8, [1])[1] == found


def test_boxes_of_a_merged_class_that_still_follow_are_read_as_the_other(line: Line) -> None:
    session = line.session
    labelling.save(session, line.image, 0, [Box(*AT, "short")], "ana", state=State.DONE)
    classes.join(session, line.kind("short"), line.kind("open"))
    [box] = labelling.boxes_of(session, [line.image])[line.image]
    assert box.label == "open"
    assert gallery.ids(session, line.project, Filter(classes=("open",))) == [line.image]
    assert gallery.counts(session, line.project, Filter())["class"]["open"] == 1
    assert catalogue.summaries(session)[0].boxes["open"] == 1


def test_a_process_that_remembers_the_classes_hears_of_each_change(
    database: Database, made: Callable[[Session], int]
) -> None:
    with database.write.begin() as session:
        project = made(session)

    def known() -> tuple[list[str], str]:
        with database.read.begin() as session:
            names = [one.name for one in catalogue.get(session, project).classes]
            return names, class_names.of(session, project).today("short")

    assert known() == (["short", "open"], "short")
    with database.write.begin() as session:
        classes.edit(session, classes.ensure(session, project, "short").id, name="bridge")
    assert known() == (["bridge", "open"], "bridge")
    with database.write.begin() as session:
        ids = [one.id for one in catalogue.get(session, project).classes]
        classes.reorder(session, project, ids[::-1])
    assert known() == (["open", "bridge"], "bridge")
    with database.write.begin() as session:
        classes.merge(session, *ids)
    assert known() == (["open"], "open")


def test_what_was_taken_back_is_not_remembered(
    database: Database, made: Callable[[Session], int]
) -> None:
    with database.write.begin() as session:
        project = made(session)
    for name in ("bridge", "solder"):
        with suppress(ZeroDivisionError), database.write.begin() as session:
            classes.edit(session, classes.ensure(session, project, "short").id, name=name)
            assert class_names.of(session, project).today("short") == name
            raise ZeroDivisionError
    with database.read.begin() as session:
        assert class_names.of(session, project).today("short") == "short"
        assert [one.name for one in classes.of(session, project)] == ["short", "open"]


@pytest.fixture
def made() -> Callable[[Session], int]:
    """A project of two classes."""
    return lambda session: catalogue.create(session, "remembered", classes=["short", "open"]).id
