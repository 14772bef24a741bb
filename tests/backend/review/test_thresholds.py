"""Thresholds from a run's rows: chosen on validation, told of test, counted as in a review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from backend.domain import Run, RunImage, Split
from backend.errors import Refused
from backend.labels import images
from backend.projects import catalogue, classes
from backend.review import tally, thresholds, views
from backend.review.thresholds import Costs
from backend.storage import findings
from backend.storage.engine import Database
from tests.backend.review import measured
from tests.backend.review.measured import RUN, Line

COSTS = Costs(escape=40, false_call=1, by_class={"short": 100}, seconds=6)


@pytest.fixture
def line(database: Database) -> Iterator[Line]:
    with database.write.begin() as session:
        yield measured.lay(session)


def test_the_cheapest_threshold_lies_between_what_it_parts(line: Line) -> None:
    assert thresholds.by_cost(line.seen(), COSTS) == {"spur": pytest.approx(0.5)}


def test_what_it_would_have_done_is_told_of_boards_that_chose_nothing(line: Line) -> None:
    told = thresholds.outcome(line.seen(Split.TEST), {"spur": 0.5}, COSTS)
    assert (told.run, told.boards, told.defects) == (RUN, 2, 2)
    assert (told.escapes, told.false_calls, told.looks) == (1, 1, 1)
    assert told.cost == pytest.approx((40 + 1) / 2 * 1000)
    assert told.interval[0] <= told.cost <= told.interval[1]
    assert told.minutes == pytest.approx(0.5 * 1000 * 6 / 60)
    assert told.at_most > 0.5


def test_a_review_with_these_thresholds_counts_the_same(line: Line) -> None:
    best = thresholds.by_cost(line.seen(), COSTS)
    told = [thresholds.outcome(line.seen(one), best, COSTS) for one in (Split.VAL, Split.TEST)]
    views.set_rule(line.session, line.project, {"thresholds": best}, 0, "ana")
    counted = tally.figures(line.session, RUN)
    assert counted.escapes == sum(one.escapes for one in told)
    assert counted.false_calls == sum(one.false_calls for one in told)


def test_too_few_defects_promise_nothing_and_are_told_how_many_it_takes(line: Line) -> None:
    needed = "at least 299 defects must be seen in validation; there are 4 labelled defects"
    with pytest.raises(Refused, match=re.escape(needed)):
        thresholds.by_share(line.seen(), 0.01)


def test_defects_that_the_model_never_finds_keep_a_promise_from_being_given(line: Line) -> None:
    with pytest.raises(
        Refused, match=r"^No threshold keeps escapes below 60.00%: .* finds 1 of them"
    ):
        thresholds.by_share(line.seen(), 0.6)


def test_a_model_that_was_measured_nowhere_is_told_how_to_be(line: Line) -> None:
    with pytest.raises(Refused, match="loupe evaluate PROJECT --model v1 --split train"):
        line.seen(Split.TRAIN)


def test_a_measurement_goes_before_a_later_detection_of_the_same_boards(line: Line) -> None:
    measurement = Run(
        RUN - 1, "v1", "golden", datetime.now(UTC), line.project,
        model_id=line.model.id, purpose="evaluate",
    )  # fmt: skip
    findings.start(line.session, measurement)
    there = images.ids(line.session, line.project, [f"val{number}" for number in range(4)])
    seen = [RunImage(image, name) for name, image in there.items()]
    findings.record(line.session, measurement.id, seen)
    findings.finish(line.session, measurement.id, 1.0, {})
    assert line.seen().run == measurement.id


def test_another_name_of_a_class_changes_no_threshold(line: Line) -> None:
    before = thresholds.by_cost(line.seen(), COSTS)
    spur = catalogue.get(line.session, line.project).classes[0]
    classes.edit(line.session, spur.id, name="burr")
    assert thresholds.by_cost(line.seen(), COSTS) == {"burr": before["spur"]}
