"""An overview says what the boards say, and each of its marks has the boards behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import State
from backend.errors import Invalid
from backend.labels import board_tables, images
from backend.projects import classes
from backend.review import promises, tally, views
from backend.review.boards import sheet, verdicts
from backend.review.boards.verdicts import StandingBoard
from backend.review.overview import adding, keeping, sums
from backend.review.overview.reading import Narrowed
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
    FIRST,
    RUN,
    SECOND,
    at,
    behind,
    found,
    kinds,
    overview,
    stale,
)


@contextmanager
def boards(database: Database, run: int = RUN) -> Iterator[tuple[Session, list[StandingBoard]]]:
    with database.read.begin() as session:
        yield session, [one for part in verdicts.every(session, run) for one in part]


def test_an_overview_says_what_the_sheet_of_its_run_says(line: Database) -> None:
    told = overview(line)
    with line.read.begin() as session:
        read = sheet.read(session, RUN)
        seen = tally.figures(session, RUN)
    of = told.boards
    assert (of.passed, of.failed, of.asked) == (
        read.counted.passed, read.counted.failed, read.counted.asked,
    )  # fmt: skip
    assert (of.share, [of.low, of.high]) == (read.counted.share, read.counted.interval)
    assert of.said == sum(read.judges.values()) == 2
    assert {one.name: (one.of.passed, one.of.failed) for one in told.by_group} == {
        name: (lot.passed, lot.failed) for name, lot in read.lots.items()
    }
    assert {one.name: (one.defects, one.boards) for one in told.classes} == {
        one.name: (one.defects, one.boards) for one in read.classes
    }
    assert told.classes[-1].so_far == pytest.approx(1.0)
    assert told.mistaken.images == seen.images > 0
    assert (told.mistaken.right, told.mistaken.escapes, told.mistaken.false_calls) == (
        seen.right, seen.escapes, seen.false_calls,
    )  # fmt: skip
    assert told.mistaken.at_most == promises.at_most(seen.escapes, seen.right + seen.escapes)
    assert min(seen.right, seen.escapes, seen.false_calls) > 0
    assert [(one.run, one.of) for one in told.trend] == [(RUN, told.boards)]
    assert dict(told.states) == {"new": 44, "started": 3, "done": 12}


def test_every_mark_has_so_many_boards_behind_it(line: Database) -> None:
    told = overview(line)
    with line.read.begin() as session:
        for lot in told.by_group:
            assert behind(session, groups=(lot.name or "none",)) == lot.of.boards
        for name, number in (
            ("pass", told.boards.passed), ("fail", told.boards.failed),
            ("ask", told.boards.asked), ("said", told.boards.said),
        ):  # fmt: skip
            assert behind(session, verdict=name) == number
        for one in told.by_day:
            day = date.fromisoformat(one.name)
            assert behind(session, since=day, until=day) == one.of.boards > 20
        for kind in told.classes:
            assert behind(session, defects=(kind.name,)) == kind.boards > 0
            calls = behind(session, mark="false_call", defects=(kind.name,))
            assert min(1, kind.false_calls) <= calls <= kind.false_calls
        for cell in told.cells:
            groups = (cell.group or "none",)
            assert behind(session, groups=groups, defects=(cell.label,)) == cell.boards
        for spot in told.places:
            assert behind(session, mark=f"place-{spot.cell}") == spot.boards
        for low, high in pairwise([*told.scores, None]):
            assert low is not None
            below: dict[str, Any] = {} if high is None else {"below": low.high}
            assert behind(session, least=low.low, **below) == low.boards
        assert 0 < behind(session, mark="escape") <= told.mistaken.escapes
        assert 0 < behind(session, mark="false_call") <= told.mistaken.false_calls
    assert len(told.places) > 20
    assert sum(one.defects for one in told.places) == sum(one.defects for one in told.classes)
    assert sum(one.detections for one in told.scores) == sum(
        len(found(number)) for number in range(BOARDS) if number not in (7, 11)
    )


def test_in_doubt_is_what_nobody_has_judged_and_a_score_hardly_decides(line: Database) -> None:
    with line.read.begin() as session:
        rule = verdicts.ruled(session, RUN)
        seen = views.items(session, RUN, list(at(session).values()))
        wanted = [
            one
            for one in seen
            if not one.verdict_by
            and one.item.image.state is not State.DONE
            and any(
                abs(found.score - tally.least(rule.rule, found.label)) <= 0.1
                for found in one.detections
                if found.label in ("spur", "short") and found.idx not in one.decided
            )
        ]
        assert behind(session, verdict="doubt") == len(wanted) > 3


@pytest.mark.parametrize(
    "chosen",
    [
        Narrowed(groups=("A",)),
        Narrowed(groups=("none", "B")),
        Narrowed(since=SECOND),
        Narrowed(until=FIRST, groups=("B",)),
        Narrowed(since=FIRST, until=SECOND),
    ],
)
def test_a_filter_leaves_the_boards_that_it_names(line: Database, chosen: Narrowed) -> None:
    told = overview(line, chosen)
    with boards(line) as (session, every):
        came = {
            id_: added.date() for id_, added in session.execute(select(ImageRow.id, ImageRow.added))
        }
        left = [
            one
            for one in every
            if (not chosen.groups or (one.image.group or "none") in chosen.groups)
            and (chosen.since or FIRST) <= came[one.image.id] <= (chosen.until or SECOND)
        ]
        for kind in told.classes:
            said: dict[str, Any] = {
                "groups": chosen.groups,
                "since": chosen.since,
                "until": chosen.until,
            }
            assert behind(session, defects=(kind.name,), **said) == kind.boards
    counted = Counter(one.verdict for one in left)
    assert (told.boards.passed, told.boards.failed) == (counted["pass"], counted["fail"])
    defects = Counter(defect.label for one in left for defect in one.defects)
    assert {one.name: one.defects for one in told.classes} == defects


def test_what_a_table_says_of_boards_leaves_those_that_have_it(
    line: Database, tmp_path: Path
) -> None:
    table = tmp_path / "boards.csv"
    rows = "".join(f"{n:02},{n},{('top', 'bottom')[n % 2]}\n" for n in range(BOARDS))
    table.write_text(f"image,serial,side\n{rows}\n")
    overview(line)
    board_tables.join(line, "line", table)
    every, top = overview(line), overview(line, Narrowed(said=(("side", "top"),)))
    assert every.columns == {"side": ["bottom", "top"]}
    with boards(line) as (session, all_):
        kept = [one for one in all_ if int(one.image.name) % 2 == 0]
        assert top.boards.boards == len(kept) < every.boards.boards
        assert top.boards.failed == sum(one.verdict == "fail" for one in kept)
        assert sum(one.of.boards for one in top.by_group) == len(kept)
        assert sum(one.of.boards for one in top.by_day) == len(kept)
        for kind in top.classes:
            shown = behind(session, defects=(kind.name,), said=(("side", "top"),))
            assert shown == kind.boards
        assert behind(session, said=(("serial", "12"),)) == 1
    assert sum(top.states.values()) == len(kept)
    assert [one.of for one in top.trend] == [top.boards]
    assert overview(line, Narrowed(said=(("side", "left"),))).boards.boards == 0


def test_a_class_leaves_its_own_defects_and_all_verdicts(line: Database) -> None:
    whole, told = overview(line), overview(line, Narrowed(labels=("spur",)))
    assert told.boards == whole.boards
    assert [one.name for one in told.classes] == ["spur"]
    (spur,) = (one for one in whole.classes if one.name == "spur")
    assert (told.classes[0].defects, told.classes[0].boards) == (spur.defects, spur.boards)
    assert (told.mistaken.escapes, told.mistaken.right) == (spur.escapes, spur.right)
    with line.read.begin() as session:
        for spot in told.places:
            mark = f"place-{spot.cell}"
            assert behind(session, mark=mark, defects=("spur",)) == spot.boards
        for one in told.scores[:-1]:
            wanted: dict[str, Any] = {"labels": ("spur",), "least": one.low, "below": one.high}
            assert behind(session, **wanted) == one.boards


def test_a_class_is_found_by_the_name_that_it_had(line: Database) -> None:
    with line.write.begin() as session:
        kind = next(one for one in kinds(session) if one.name == "spur")
        classes.edit(session, kind.id, name="burr")
    told = overview(line, Narrowed(labels=("spur",)))
    assert [one.name for one in told.classes] == ["burr"]
    assert told.places == overview(line, Narrowed(labels=("burr",))).places


def test_a_place_is_that_of_the_golden_where_it_is_known_how_it_lies(line: Database) -> None:
    with boards(line) as (_, every):
        board = next(one for one in every if one.defects)
    defect = replace(board.defects[0], place=(0.0, 0.0, 20.0, 20.0))
    assert adding.cell(board, defect) == 1
    moved = replace(board, lie=(1.0, 0.0, 75.0, 0.0, 1.0, 0.0))
    assert adding.cell(moved, defect) == 8
    outside = replace(board, lie=(1.0, 0.0, 900.0, 0.0, 1.0, -900.0))
    assert adding.cell(outside, defect) == sums.WIDE - 1


@pytest.mark.parametrize("at_", range(sums.BINS))
def test_an_edge_of_scores_begins_the_next_twentieth(at_: int) -> None:
    assert adding.bin_of(at_ / sums.BINS) == at_
    assert adding.bin_of(1.0) == sums.BINS - 1


def test_pictures_removed_for_good_are_counted_no_more(line: Database) -> None:
    overview(line)
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        images.put_away(session, list(at(session).values()))
    assert removal.purge(line, project) == BOARDS
    told = overview(line)
    assert (told.boards.boards, told.by_group, told.classes, told.places) == (0, [], [], [])
    assert stale(line) == []


def test_a_removal_takes_away_what_is_written_beside_it(line: Database) -> None:
    keeping.refresh(line.read.begin, line.write.begin, [RUN], 0.0)
    with line.read.begin() as session:
        project = views.project_of(session, RUN)
        ((part, mark),) = keeping.stale(session, [RUN])[RUN]
        added = adding.add_up(session, RUN, part)
    with ThreadPoolExecutor(1) as beside:
        with line.write.begin() as session:
            keeping.keep(session, RUN, added, mark)
            removing = beside.submit(remove, line, project)
            assert not futures.wait([removing], 0.5).done
        removing.result()
    with line.read.begin() as session:
        for row in (PartSumRow, BoardMarkRow, ClassSumRow, BoardSumRow):
            assert session.scalar(select(func.count()).select_from(row)) == 0


def remove(database: Database, project: int) -> None:
    with database.write.begin() as session:
        removal.begin(session, project, "line", "ana")
    removal.finish(database, project)


def test_states_are_of_the_days_that_are_chosen(line: Database) -> None:
    first, second = (
        overview(line, Narrowed(since=one, until=one)).states for one in (FIRST, SECOND)
    )
    both = overview(line).states
    assert {name: first.get(name, 0) + second.get(name, 0) for name in both} == both
    assert min(sum(first.values()), sum(second.values())) > 20


def test_no_lot_is_called_as_filters_call_the_images_of_none(line: Database) -> None:
    with line.write.begin() as session, pytest.raises(Invalid, match="No lot is named 'none'"):
        images.set_group(session, [at(session)["08"]], " none ")
