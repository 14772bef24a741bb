"""An overview says what the boards say, and each of its marks has the boards behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Run, RunImage, State, Task, Verdict
from backend.errors import Invalid, NotFound
from backend.labels import board_tables, images, labelling
from backend.labels.images import NewImage
from backend.models import registry
from backend.projects import catalogue, classes
from backend.review import agenda, judgements, promises, tally, views
from backend.review.behind import Behind
from backend.review.boards import sheet, verdicts
from backend.review.boards.verdicts import StandingBoard
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.review.judgements import Judgement
from backend.review.overview import adding, keeping, reading, sums
from backend.review.overview.figures import Overview
from backend.review.overview.reading import Narrowed
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

RUN, ANSWERS = 4, 5
LABELS = ("spur", "short", "scratch")
SIDE = 160
BOARDS = 60
EVERY = Narrowed()
LONG_AGO = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 2)


def found(number: int) -> tuple[Detection, ...]:
    """What the run found on a board: of all classes, at all scores, in all corners."""
    seen = []
    for at in range(number % 4):
        x, y = 10.0 * ((number * 3 + at * 7) % 15), 10.0 * ((number * 5 + at * 4) % 15)
        score = round(((number * 13 + at * 29) % 101) / 100, 2)
        label = (*LABELS, "lint")[(number + at) % 4]  # of lint the project knows nothing
        seen.append(Detection(x, y, x + 9, y + 9, label, score, at))
    return tuple(sorted(seen, key=lambda one: -one.score))


@pytest.fixture
def line(database: Database) -> Database:
    """Boards of three lots and two days, of which some are labelled, judged, put away, broken."""
    with database.write.begin() as session:
        project = catalogue.create(session, "line").id
        kinds = {label: classes.ensure(session, project, label).id for label in LABELS}
        classes.edit(session, kinds["scratch"], severity=0)
        names = [f"{number:02}" for number in range(BOARDS)]
        new = [
            NewImage(name, name * 8, SIDE, SIDE, group=("", "A", "B")[int(name) % 3])
            for name in names
        ]
        images.add(session, project, new, "")
        days(session)
        rule = {"threshold": 0.5, "thresholds": {"short": 0.3}, "severity": 1, "repeats": 0.0}
        views.set_rule(session, project, rule, 0, "ana")
        lay(session, project)
        people(session)
    return database


def days(session: Session) -> None:
    for image_id in at(session).values():
        came = LONG_AGO + timedelta(minutes=2 * (image_id % 2))
        session.execute(update(ImageRow).where(ImageRow.id == image_id).values(added=came))


def lay(session: Session, project: int) -> None:
    findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project))
    seen = [
        RunImage(image_id, name, detections=found(int(name)))
        for name, image_id in at(session).items()
    ]
    seen[7] = replace(seen[7], status="unreadable", error="It is cut off.", detections=())
    findings.record(session, RUN, seen)
    findings.finish(session, RUN, 1.0, {})


def people(session: Session) -> None:
    ids = at(session)
    for number in range(0, BOARDS, 5):
        boxes = [Box(one.x1, one.y1, one.x2, one.y2, "spur") for one in found(number)[:2]]
        labelling.save(session, ids[f"{number:02}"], 0, boxes, "ana", state=State.DONE)
    for number, verdict in ((1, Verdict.PASS), (2, Verdict.FAIL)):
        said = Sheet(0, (), run_id=RUN, review=True, verdict=verdict)
        decisions.save(session, ids[f"{number:02}"], said, "bo")
    judgements.judge(session, RUN, ids["03"], Judgement({0: Verdict.FALSE_CALL}), "ana")
    images.put_away(session, [ids["11"]])


def at(session: Session) -> dict[str, int]:
    query = select(ImageRow.name, ImageRow.id).order_by(ImageRow.id)
    return {name: image_id for name, image_id in session.execute(query)}


def overview(database: Database, chosen: Narrowed = EVERY, run: int = RUN) -> Overview:
    """The overview once everything is added up."""
    assert keeping.refresh(database.read.begin, database.write.begin, [run]) == 0
    with database.read.begin() as session:
        project = catalogue.get(session, views.project_of(session, run))
        return reading.read(session, project, [run], chosen, 0)


@contextmanager
def boards(database: Database, run: int = RUN) -> Iterator[tuple[Session, list[StandingBoard]]]:
    with database.read.begin() as session:
        yield session, [one for part in verdicts.every(session, run) for one in part]


def behind(session: Session, run: int = RUN, **chosen: Any) -> int:
    """How many boards a table shows of them."""
    plain = {name: chosen.pop(name) for name in ("groups", "labels", "least") if name in chosen}
    choice = agenda.Choice(behind=Behind(**chosen), **plain)
    ids = agenda.ids(session, run, choice, 500)
    assert agenda.counts(session, run, choice)[0] == len(ids)
    return len(ids)


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


def test_a_model_that_was_measured_by_good_boards_alone_has_no_figure(line: Database) -> None:
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        for worth in (None, 0.75):
            made = registry.add(
                session, project, "yolo", classes=(), snapshot_id=None, parameters={}
            )
            registry.complete(session, made.id, "0" * 64, {"map50": worth, "images": 4})
    assert [(one.model, one.value) for one in overview(line).models] == [("v2", 0.75)]


def marks(database: Database) -> dict[int, str]:
    with database.read.begin() as session:
        query = select(PartSumRow.part, PartSumRow.mark).where(PartSumRow.run_id == RUN)
        return {part: mark for part, mark in session.execute(query)}


def stale(database: Database) -> list[int]:
    with database.read.begin() as session:
        return [part for part, _ in keeping.stale(session, [RUN])[RUN]]


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


def kinds(session: Session) -> Any:
    return classes.of(session, views.project_of(session, RUN))


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


def test_an_overview_of_classified_pictures_says_what_their_table_says(database: Database) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, ["good", "bad"])
        good = next(one for one in project.classes if one.name == "good")
        classes.edit(session, good.id, severity=0)
        answers = {"sure": ("bad", 0.9), "fine": ("good", 0.9), "unsure": ("bad", 0.3)}
        answers |= {"named": ("good", 0.9), "bare": ("good", 0.9)}
        images.add(session, project.id, [NewImage(n, n * 8, 9, 9) for n in answers], "")
        ids = at(session)
        when = datetime.now(UTC)
        findings.start(session, Run(ANSWERS, "v1", "classifier", when, project_id=project.id))
        whole = (0.0, 0.0, 9.0, 9.0)
        said = [
            RunImage(ids[name], name, detections=(Detection(*whole, *answer),))
            for name, answer in answers.items()
        ]
        findings.record(session, ANSWERS, said)
        findings.finish(session, ANSWERS, 1.0, {})
        labelling.save(session, ids["named"], 0, [], "ana", state=State.DONE, label="bad")
        labelling.save(session, ids["bare"], 0, [], "ana", state=State.DONE)
        judgements.judge(session, ANSWERS, ids["sure"], Judgement({0: Verdict.ACCEPT}), "bo")
        judgements.judge(session, ANSWERS, ids["fine"], Judgement({}, board=Verdict.PASS), "bo")
    told = overview(database, run=ANSWERS)
    with database.read.begin() as session:
        read = sheet.read(session, ANSWERS)
        seen = tally.figures(session, ANSWERS)
        assert (told.boards.passed, told.boards.failed, told.boards.asked) == (
            read.counted.passed, read.counted.failed, read.counted.asked,
        )  # fmt: skip
        assert {one.name: one.boards for one in told.classes if one.boards} == {
            one.name: one.boards for one in read.classes
        }
        for kind in told.classes:
            assert behind(session, ANSWERS, defects=(kind.name,)) == kind.boards
        of = told.boards
        numbers = {"pass": of.passed, "fail": of.failed, "ask": of.asked, "said": of.said}
        for name, number in numbers.items():
            assert behind(session, ANSWERS, verdict=name) == number
    mistaken = told.mistaken
    assert (mistaken.right, mistaken.escapes, mistaken.false_calls) == (
        seen.right, seen.escapes, seen.false_calls,
    )  # fmt: skip
    assert told.places == []


def test_pictures_removed_for_good_are_counted_no_more(line: Database) -> None:
    overview(line)
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        images.put_away(session, list(at(session).values()))
    assert removal.purge(line, project) == BOARDS
    told = overview(line)
    assert (told.boards.boards, told.by_group, told.classes, told.places) == (0, [], [], [])
    assert stale(line) == []


def test_a_run_over_a_folder_is_none_of_the_overview(line: Database) -> None:
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        other = Run(ANSWERS, "v1", "yolo", datetime.now(UTC), project_id=project)
        findings.start(session, replace(other, source={"path": "/lots/7"}))
        findings.finish(session, ANSWERS, 1.0, {})
    with line.read.begin() as session:
        assert reading.runs(session, project) == reading.runs(session, project, RUN) == [RUN]
        with pytest.raises(NotFound, match="no run 5 over its images"):
            reading.runs(session, project, ANSWERS)


def test_a_run_over_a_lot_that_is_called_path_is_one_over_images(line: Database) -> None:
    with line.write.begin() as session:
        project = views.project_of(session, RUN)
        other = Run(ANSWERS, "v1", "yolo", datetime.now(UTC), project_id=project)
        findings.start(session, replace(other, source={"groups": ["path"]}))
        findings.finish(session, ANSWERS, 1.0, {})
    with line.read.begin() as session:
        assert reading.runs(session, project) == [ANSWERS, RUN]


def test_nothing_is_kept_of_a_project_that_is_being_removed(line: Database) -> None:
    with line.read.begin() as session:
        project = views.project_of(session, RUN)
        ((part, mark),) = keeping.stale(session, [RUN])[RUN]
        added = adding.add_up(session, RUN, part)
    with line.write.begin() as session:
        removal.begin(session, project, "line", "ana")
        keeping.keep(session, RUN, added, mark)
    assert marks(line) == {}


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


def test_runs_can_be_chosen_also_where_a_filter_leaves_nothing_of_them(line: Database) -> None:
    told = overview(line, Narrowed(groups=("no such lot",)))
    assert ([one.run for one in told.runs], told.trend) == ([RUN], [])


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
