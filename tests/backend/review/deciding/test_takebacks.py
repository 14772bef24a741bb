"""What an inspector can take back after a reload is told from the events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage, Verdict
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review.deciding import decisions, takebacks
from backend.review.deciding.decisions import Sheet
from backend.storage import findings
from backend.storage.engine import Database

RUN = 7
FOUND = tuple(Detection(10.0 * n, 10.0, 10.0 * n + 9, 30.0, "spur", 0.9, n) for n in range(3))


@dataclass
class Bench:
    session: Session
    ids: list[int]

    def refuse(self, at: int, *idx: int, action: str = "false call", by: str = "ana") -> None:
        version = labelling.version_of(self.session, self.ids[at])
        sheet = Sheet(version, (), run_id=RUN, rejected=idx, review=True, action=action)
        decisions.save(self.session, self.ids[at], sheet, by)

    def past(self, at: int, by: str = "ana") -> list[tuple[int, ...] | None]:
        return [s.rejected for s in takebacks.past(self.session, RUN, self.ids[at], by)]


@pytest.fixture
def bench(database: Database) -> Iterator[Bench]:
    with database.write.begin() as session:
        project = catalogue.create(session, "line")
        classes.ensure(session, project.id, "spur")
        images.add(session, project.id, [NewImage(n, "0" * 64, 99, 99) for n in "ab"], "ana")
        ids = images.ids(session, project.id, ["a", "b"])
        findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        seen = [RunImage(ids[name], name, detections=FOUND) for name in "ab"]
        findings.record(session, RUN, seen)
        yield Bench(session, [ids["a"], ids["b"]])


def test_each_edit_of_a_review_can_be_taken_back_in_turn(bench: Bench) -> None:
    bench.refuse(0, 0)
    bench.refuse(0, 0, 1)
    assert bench.past(0) == [(), (0,)]


def test_what_was_undone_is_not_undone_again_and_what_was_redone_is(bench: Bench) -> None:
    bench.refuse(0, 0)
    bench.refuse(0, 0, 1)
    bench.refuse(0, 0, action="undo")
    assert bench.past(0) == [()]
    bench.refuse(0, 0, 1, action="redo")
    assert bench.past(0) == [(), (0,)]


def test_nobody_takes_back_what_another_said(bench: Bench) -> None:
    bench.refuse(0, 0)
    bench.refuse(0, 0, 1, by="ben")
    bench.refuse(0, 0, 1, 2)
    assert bench.past(0) == [(0, 1)]
    assert bench.past(0, by="cleo") == []


def test_the_last_image_is_the_one_with_something_to_take_back(bench: Bench) -> None:
    assert takebacks.last(bench.session, RUN, "ana") == 0
    bench.refuse(0, 0)
    bench.refuse(1, 0)
    assert takebacks.last(bench.session, RUN, "ana") == bench.ids[1]
    bench.refuse(1, action="undo")
    assert takebacks.last(bench.session, RUN, "ana") == bench.ids[0]


def test_a_sheet_has_what_stood_then(bench: Bench) -> None:
    version = labelling.version_of(bench.session, bench.ids[0])
    sheet = Sheet(version, (), run_id=RUN, accepted=(2,), review=True, verdict=Verdict.FAIL)
    decisions.save(bench.session, bench.ids[0], sheet, "ana")
    bench.refuse(0, 2)
    then = takebacks.past(bench.session, RUN, bench.ids[0], "ana")[-1]
    assert (then.accepted, then.rejected, then.verdict) == ((2,), (), Verdict.FAIL)
