"""What is kept of runs is added up anew where anything has changed, and nowhere else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from backend.domain import Box, Run, RunImage, Verdict
from backend.errors import NotFound
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import classes
from backend.review import judgements, views
from backend.review.boards import sheet
from backend.review.judgements import Judgement
from backend.review.overview import adding, keeping
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import (
    BoardMarkRow,
    BoardSumRow,
    ClassSumRow,
    ImageRow,
    PartSumRow,
)
from backend.upkeep import removal
from tests.backend.review.overview.lined import (
    BOARDS,
    RUN,
    SIDE,
    at,
    behind,
    found,
    kinds,
    overview,
    stale,
)


def marks(database: Database) -> dict[int, str]:
    with database.read.begin() as session:
        query = select(PartSumRow.part, PartSumRow.mark).where(PartSumRow.run_id == RUN)
        return {part: mark for part, mark in session.execute(query)}


def save(session: Session) -> None:
    labelling.save(session, at(session)["04"], 0, [Box(1, 1, 9, 9, "short")], "ana")


def judge(session: Session) -> None:
    judgements.judge(session, RUN, at(session)["06"], Judgement({0: Verdict.FALSE_CALL}), "ana")


def stricter(session: Session) -> None:
    rule = {"threshold": 0.1, "thresholds": {}, "severity": 0, "repeats": 0.0}
    views.set_rule(session, views.project_of(session, RUN), rule, 1, "ana")


def severer(session: Session) -> None:
    kind = next(one for one in kinds(session) if one.name == "scratch")
    classes.edit(session, kind.id, severity=2)


def renamed(session: Session) -> None:
    classes.edit(session, kinds(session)[0].id, name="lint")


def merged(session: Session) -> None:
    first, second, _ = kinds(session)
    classes.merge(session, first.id, second.id)


def regrouped(session: Session) -> None:
    images.set_group(session, [at(session)["08"]], "C")


def swapped(session: Session) -> None:
    """Three of one lot for three of another, whose numbers have the same sum."""
    ids = at(session)
    images.set_group(session, [ids["04"], ids["13"], ids["22"]], "B")
    images.set_group(session, [ids["08"], ids["14"], ids["17"]], "A")


def changed_places(session: Session) -> None:
    """Two boards that have each other's lot now, so that each lot has as many as before."""
    ids = at(session)
    images.set_group(session, [ids["04"]], "B")
    images.set_group(session, [ids["05"]], "A")


def put_away(session: Session) -> None:
    images.put_away(session, [at(session)["09"]])


def golden_put_away(session: Session) -> None:
    """A golden that was a board when the run saw it."""
    gone = {"is_golden": True, "deleted": datetime.now(UTC)}
    session.execute(update(ImageRow).where(ImageRow.id == at(session)["09"]).values(gone))


def brought_back(session: Session) -> None:
    images.bring_back(session, [at(session)["11"]])


@pytest.mark.parametrize(
    "change",
    [
        save, judge, stricter, severer, renamed, merged, regrouped, swapped, changed_places,
        put_away, golden_put_away, brought_back,
    ],
)  # fmt: skip
def test_whatever_changes_is_added_up_anew(line: Database, change: Any) -> None:
    before = overview(line)
    assert stale(line) == []
    with line.write.begin() as session:
        change(session)
    assert stale(line)
    told = overview(line)
    assert told != before
    with line.read.begin() as session:
        read = sheet.read(session, RUN)
        assert (told.boards.passed, told.boards.failed) == (
            read.counted.passed, read.counted.failed,
        )  # fmt: skip
        assert {one.name: one.defects for one in told.classes} == {
            one.name: one.defects for one in read.classes
        }
        for kind in told.classes:
            assert behind(session, defects=(kind.name,)) == kind.boards


def test_only_the_part_that_changed_is_added_up_anew(line: Database) -> None:
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        new = [NewImage(f"more {n}", f"{n:064}", SIDE, SIDE) for n in range(2 * adding.PART)]
        images.add(session, project, new, "")
        more = [RunImage(id_, name) for name, id_ in at(session).items() if "more" in name]
        findings.record(session, RUN, more)
        findings.finish(session, RUN, 1.0, {})
    assert len(stale(line)) == 3
    before = overview(line)
    assert before.boards.boards == BOARDS - 2 + 2 * adding.PART
    kept = marks(line)
    with line.write.begin() as session:
        labelling.save(session, at(session)["more 300"], 0, [Box(1, 1, 9, 9, "short")], "ana")
    assert overview(line).boards.failed == before.boards.failed + 1
    assert len({*marks(line).items()} - {*kept.items()}) == 1


def test_a_run_that_goes_on_after_its_end_is_added_up_anew(line: Database) -> None:
    overview(line)
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        new = [NewImage(f"more {n}", f"{n:064}", SIDE, SIDE) for n in range(adding.PART)]
        images.add(session, project, new, "")
    assert overview(line).boards.boards == BOARDS - 2
    with line.write.begin() as session:
        more = [RunImage(id_, name) for name, id_ in at(session).items() if "more" in name]
        findings.record(session, RUN, more)
        findings.finish(session, RUN, 2.0, {})
    keeping.expect(line.read.begin, line.write.begin, RUN)
    assert len(stale(line)) == 2
    assert overview(line).boards.boards == BOARDS - 2 + adding.PART


def test_who_has_no_more_time_leaves_the_rest_to_the_next(line: Database) -> None:
    begin = line.read.begin, line.write.begin
    assert keeping.refresh(*begin, [RUN], 0.0) == 1
    assert marks(line) == {0: keeping.PENDING}
    assert keeping.refresh(*begin, [RUN]) == 0


def test_two_who_add_up_the_same_part_leave_it_once(line: Database) -> None:
    with line.read.begin() as session:
        ((part, mark),) = keeping.stale(session, [RUN])[RUN]
        added = adding.add_up(session, RUN, part)
    for _ in range(2):
        with line.write.begin() as session:
            keeping.keep(session, RUN, added, mark)
    first = overview(line)
    assert overview(line) == first


def test_nothing_is_kept_of_a_project_that_is_being_removed(line: Database) -> None:
    with line.read.begin() as session:
        project = views.project_of(session, RUN)
        ((part, mark),) = keeping.stale(session, [RUN])[RUN]
        added = adding.add_up(session, RUN, part)
    with line.write.begin() as session:
        removal.begin(session, project, "line", "ana")
        keeping.keep(session, RUN, added, mark)
    assert marks(line) == {}


def test_nothing_kept_outlives_its_part(line: Database) -> None:
    overview(line)
    with line.write.begin() as session:
        images.put_away(session, list(at(session).values()))
    told = overview(line)
    assert (told.boards.boards, told.classes, told.places) == (0, [], [])
    with line.read.begin() as session:
        for row in (BoardMarkRow, ClassSumRow, BoardSumRow):
            assert session.scalar(select(func.count()).select_from(row)) == 0


def test_sums_of_a_run_are_those_of_its_parts_added_anew(line: Database) -> None:
    overview(line)
    for change in (save, judge, regrouped, put_away, brought_back):
        with line.write.begin() as session:
            change(session)
        kept = overview(line)
        with line.write.begin() as session:
            for row in (PartSumRow, BoardSumRow, ClassSumRow, BoardMarkRow):
                session.execute(delete(row))
        assert overview(line) == kept


def test_boards_behind_marks_are_kept_of_the_newest_runs_alone(line: Database) -> None:
    begin = line.read.begin, line.write.begin
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
    runs = [RUN, *(more_of(line, RUN + at) for at in range(1, 4))]
    assert keeping.refresh(*begin, runs) == 0
    assert marked(line) == [RUN]
    for run in runs:
        overview(line, run=run)
    told = overview(line)
    keeping.forget_marks(*begin, project)
    assert marked(line) == runs[-keeping.MOST_MARKED :]
    with line.read.begin() as session:
        assert keeping.stale(session, [runs[-1], RUN])[RUN] == []
        with pytest.raises(NotFound, match=f"open the overview of run {RUN}"):
            behind(session, mark="escape")
    assert overview(line) == told
    with line.read.begin() as session:
        assert behind(session, mark="escape") > 0


def test_boards_behind_marks_stay_while_a_newer_run_is_looked_at(line: Database) -> None:
    overview(line)
    newer = more_of(line, RUN + 1)
    with line.write.begin() as session:
        save(session)
    assert keeping.refresh(line.read.begin, line.write.begin, [newer, RUN]) == 0
    assert marked(line) == [RUN, newer]
    with line.read.begin() as session:
        assert behind(session, mark="escape") > 0


def test_some_of_the_boards_behind_a_mark_are_not_taken_for_all(line: Database) -> None:
    overview(line)
    with line.write.begin() as session:
        session.execute(update(PartSumRow).values(part=1))
        session.add(PartSumRow(run_id=RUN, part=0, mark=keeping.PENDING))
    with line.read.begin() as session, pytest.raises(NotFound, match="finds them again"):
        behind(session, mark="escape")


def marked(database: Database) -> list[int]:
    with database.read.begin() as session:
        row = BoardMarkRow
        return list(session.scalars(select(row.run_id).distinct().order_by(row.run_id)))


def more_of(database: Database, run: int) -> int:
    """Another run over the same boards."""
    with database.write.begin() as session:
        project, ids = views.project_of(session, RUN), at(session)
        findings.start(session, Run(run, "v1", "yolo", datetime.now(UTC), project_id=project))
        seen = [RunImage(ids[n], n, detections=found(int(n))) for n in ids]
        findings.record(session, run, seen)
        findings.finish(session, run, 1.0, {})
    return run
