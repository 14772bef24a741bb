"""Blind repeats come back unmarked, change nothing, and say how well answers agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Run, RunImage, Verdict
from backend.errors import NotFound
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import blind_repeats, judgements, views
from backend.review.blind_repeats import Kappa
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.review.judgements import Judgement
from backend.storage import findings
from backend.storage.engine import Database

RUN = 7
BOARDS = blind_repeats.BETWEEN + 4
FOUND = tuple(Detection(10.0 * n, 10.0, 10.0 * n + 9, 30.0, "spur", 0.9, n) for n in range(2))


@dataclass
class Line:
    session: Session
    ids: list[int]

    def judge(self, at: int, by: str = "ana") -> None:
        """Accept the first detection, refuse the second, fail the board."""
        image = self.ids[at]
        said: dict[int, Verdict | None] = {0: Verdict.ACCEPT, 1: Verdict.FALSE_CALL}
        judgements.judge(self.session, RUN, image, Judgement(said), by)
        boxes = labelling.boxes_of(self.session, [image])[image]
        version = labelling.version_of(self.session, image)
        sheet = Sheet(version, boxes, run_id=RUN, review=True, verdict=Verdict.FAIL)
        decisions.save(self.session, image, sheet, by)

    def again(self, image: int, by: str, *refused: int, verdict: Verdict = Verdict.FAIL) -> None:
        accepted = tuple(n for n in range(2) if n not in refused)
        sheet = Sheet(0, (), run_id=RUN, accepted=accepted, rejected=refused, verdict=verdict)
        blind_repeats.record(self.session, RUN, image, sheet, by)

    def due(self, by: str, share: float = 1.0) -> int:
        return blind_repeats.due(self.session, RUN, by, share)


@pytest.fixture
def line(database: Database) -> Iterator[Line]:
    with database.write.begin() as session:
        project = catalogue.create(session, "line")
        classes.ensure(session, project.id, "spur")
        names = [f"board {n:02}" for n in range(BOARDS)]
        images.add(session, project.id, [NewImage(n, "0" * 64, 99, 99) for n in names], "ana")
        ids = images.ids(session, project.id, names)
        findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        findings.record(session, RUN, [RunImage(ids[n], n, detections=FOUND) for n in names])
        yield Line(session, [ids[n] for n in names])


def test_ones_own_boards_come_again_after_enough_others(line: Line) -> None:
    for at in range(blind_repeats.BETWEEN):
        line.judge(at)
        assert line.due("ana") == 0
    line.judge(blind_repeats.BETWEEN)
    assert line.due("ana") == line.ids[0]
    assert line.due("ana", share=0.0) == 0


def test_anothers_boards_come_at_once_and_each_once(line: Line) -> None:
    for at in range(3):
        line.judge(at)
    for at in range(3, 6):
        line.judge(at, "ben")
    seen = set()
    while image := line.due("ben"):
        seen.add(image)
        line.again(image, "ben", 1)
    assert seen == set(line.ids[:3])


def test_repeats_are_a_share_of_what_a_person_judges(line: Line) -> None:
    for at in range(BOARDS):
        line.judge(at, "ben" if at % 2 else "ana")
    done = 0
    while image := line.due("ana", share=0.3):
        line.again(image, "ana", 1)
        done += 1
    assert done == int(0.3 * BOARDS / 2)


def test_a_repeat_looks_as_if_nobody_had_reviewed_it(line: Line) -> None:
    line.judge(0)
    (seen,) = views.items(line.session, RUN, [line.ids[0]])
    assert (len(seen.item.boxes), seen.rejected, seen.verdict) == (1, (1,), "fail")
    bare = blind_repeats.blind(line.session, seen)
    assert (bare.item.boxes, bare.rejected, bare.accepted, bare.verdict) == ((), (), (), "")
    assert bare.detections == seen.detections


def test_a_missed_defect_is_blind_too_and_older_labels_stay(line: Line) -> None:
    image = line.ids[0]
    old, missed = (
        Box(1.0, 1.0, 9.0, 9.0, "spur", id="old"),
        Box(60.0, 1.0, 70.0, 9.0, "spur", id="m"),
    )
    labelling.save(line.session, image, 0, [old], "ana")
    decisions.save(line.session, image, Sheet(1, (old, missed), run_id=RUN, review=True), "ana")
    (seen,) = views.items(line.session, RUN, [image])
    assert [box.id for box in blind_repeats.blind(line.session, seen).item.boxes] == ["old"]


def test_a_repeat_changes_neither_labels_nor_decisions(line: Line) -> None:
    line.judge(0)
    before = decisions.standing(line.session, line.ids, [RUN])
    line.again(line.ids[0], "ben", 0, 1, verdict=Verdict.PASS)
    assert decisions.standing(line.session, line.ids, [RUN]) == before
    assert labelling.version_of(line.session, line.ids[0]) == 2


def test_answers_are_compared_between_and_within_inspectors(line: Line) -> None:
    for at in range(4):
        line.judge(at)
    line.again(line.ids[0], "ana", 1)
    line.again(line.ids[1], "ana", 1)
    line.again(line.ids[2], "ben", 1)
    line.again(line.ids[3], "ben", 0, 1, verdict=Verdict.PASS)
    found = blind_repeats.agreement(line.session, RUN)
    assert found.within_detections == Kappa(4, 4, 1.0)
    assert found.between_detections == Kappa(4, 3, 0.5)
    assert (found.within_boards.agreed, found.between_boards.agreed) == (2, 1)


def test_only_an_image_of_the_run_is_judged_again(line: Line) -> None:
    with pytest.raises(NotFound):
        line.again(999_999, "ana")


def test_an_unfinished_repeat_does_not_count(line: Line) -> None:
    line.judge(0)
    sheet = Sheet(0, (), run_id=RUN, accepted=(), rejected=(0,))
    blind_repeats.record(line.session, RUN, line.ids[0], sheet, "ben")
    assert blind_repeats.agreement(line.session, RUN).between_detections.pairs == 0


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        # Both yes, first alone, second alone, neither: the example of Cohen's paper is .4.
        ((20, 5, 10, 15), 0.4),
        ((45, 15, 25, 15), 0.1304),
        ((25, 35, 5, 35), 0.2593),
    ],
)
def test_kappa_is_cohens(table: tuple[int, int, int, int], wanted: float) -> None:
    both, first, second, neither = table
    pairs = [("y", "y")] * both + [("y", "n")] * first + [("n", "y")] * second
    assert blind_repeats.kappa([*pairs, *[("n", "n")] * neither]).kappa == pytest.approx(
        wanted, abs=1e-4
    )


def test_kappa_is_none_where_chance_always_agrees() -> None:
    assert blind_repeats.kappa([("y", "y")] * 3) == Kappa(3, 3, None)
    assert blind_repeats.kappa([]) == Kappa(0, 0, None)
