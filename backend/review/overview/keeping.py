"""Keeps what was added up of a run, and tells which parts of it no longer stand."""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import case, delete, func, select
from sqlalchemy.orm import Session

from backend.domain import State
from backend.review import tally, views
from backend.review.boards.verdicts import ASK, FAIL, PASS
from backend.review.overview import adding
from backend.review.overview.adding import PART, Added, OfClass
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.tables import (
    BoardMarkRow,
    BoardSumRow,
    ClassSumRow,
    DecisionRow,
    ImageRow,
    PartSumRow,
    ProjectRow,
    RunImageRow,
    RunRow,
)

GONE = ""
KEPT: tuple[Any, ...] = (BoardMarkRow, ClassSumRow, BoardSumRow, PartSumRow)
Begin = Callable[[], AbstractContextManager[Session]]


def refresh(
    read: Begin, write: Begin, run_ids: Sequence[int], seconds: float = float("inf")
) -> int:
    """Add up what no longer stands of these runs, for so long; returns how many parts are left."""
    with read() as session:
        left = [(run, *one) for run, parts in stale(session, run_ids).items() for one in parts]
    # From here on, or to ask would use up all the time of a busy machine, again and again.
    end = time.monotonic() + seconds
    while left and time.monotonic() < end:
        run_id, part, mark = left.pop(0)
        with read() as session:
            added = adding.add_up(session, run_id, part)
        with write() as session:
            keep(session, run_id, added, mark)
    return len(left)


def stale(session: Session, run_ids: Sequence[int]) -> dict[int, list[tuple[int, str]]]:
    """The parts of each run that are not as they were added up, with what marks them now.

    Nothing marks a part of which no picture is left, because they were removed for good.
    """
    found: dict[int, list[tuple[int, str]]] = {}
    rules, labels = dict[int, str](), dict[int, dict[int, list[Any]]]()
    for run_id in run_ids:
        project = views.project_of(session, run_id)
        if project not in rules:
            rules[project], labels[project] = _rule(session, project), _labels(session, project)
        query = select(PartSumRow.part, PartSumRow.mark).where(PartSumRow.run_id == run_id)
        kept = {part: mark for part, mark in session.execute(query)}
        now = _marks(session, run_id, rules[project], labels[project])
        gone = sorted(kept.keys() - {part for part, _ in now})
        found[run_id] = [one for one in now if kept.get(one[0]) != one[1]]
        found[run_id] += [(part, GONE) for part in gone]
    return found


def keep(session: Session, run_id: int, added: Added, mark: str) -> None:
    """Put what was added up in the place of what was kept of the part."""
    # Whoever else adds up the same part waits here, and then puts theirs over it.
    there = select(RunRow.id).join(ProjectRow, ProjectRow.id == RunRow.project_id)
    there = there.where(RunRow.id == run_id, ProjectRow.removed.is_(None))
    if session.scalar(there.with_for_update(of=RunRow)) is None:
        return  # what is written of a project while it is removed would be left over
    for row in KEPT:
        of_part = delete(row).where(row.run_id == run_id, row.part == added.part)
        session.execute(of_part.execution_options(synchronize_session=False))
    of_run = {"run_id": run_id, "part": added.part}
    engine.bulk_insert(session, PartSumRow, [{**of_run, "mark": mark}] if mark != GONE else [])
    engine.bulk_insert(session, BoardSumRow, [{**of_run, **one} for one in _boards(added)])
    engine.bulk_insert(session, ClassSumRow, [{**of_run, **one} for one in _classes(added)])
    marked = [
        {**of_run, "mark": name, "class_id": class_id, "image_id": image_id}
        for name, class_id, image_id in sorted(added.marked)
    ]
    engine.bulk_insert(session, BoardMarkRow, marked)


def _boards(added: Added) -> Iterator[dict[str, Any]]:
    for (group, day), lot in added.lots.items():
        yield {
            "group_name": group,
            "day": day,
            "passed": lot.verdicts[PASS],
            "failed": lot.verdicts[FAIL],
            "asked": lot.verdicts[ASK],
            "said": lot.said,
            "labelled": lot.labelled,
        }


def _classes(added: Added) -> Iterator[dict[str, Any]]:
    for (group, day), lot in added.lots.items():
        for (class_id, label), one in lot.classes.items():
            named = {"group_name": group, "day": day, "class_id": class_id, "label": label}
            yield {**named, **_counted(one)}


def _counted(one: OfClass) -> dict[str, Any]:
    return {
        "defects": one.defects,
        "boards": one.boards,
        "found": one.right,
        "escapes": one.escapes,
        "false_calls": one.false_calls,
        "scores": one.scores,
        "places": [[at, *numbers] for at, numbers in sorted(one.places.items())],
    }


def _marks(
    session: Session, run_id: int, rule: str, labels: dict[int, list[Any]]
) -> list[tuple[int, str]]:
    row, said = RunImageRow, DecisionRow
    part = (row.image_id // PART).label("part")
    seen = select(part, func.count()).where(row.run_id == run_id, row.status == "ok")
    judged = (said.image_id // PART).label("part")
    decided = select(judged, func.count(), func.max(said.id)).where(said.run_id == run_id)
    told: dict[int, list[Any]] = {
        at: [number] for at, number in session.execute(seen.group_by(part))
    }
    for at, *numbers in session.execute(decided.group_by(judged)):
        told.get(at, []).extend(numbers)
    return [
        (at, _digest([rule, numbers, sorted(labels.get(at, []))]))
        for at, numbers in sorted(told.items())
    ]


def _labels(session: Session, project_id: int) -> dict[int, list[Any]]:
    """What tells, part by part and lot by lot, that images or their labels are others."""
    row = ImageRow
    part, place = (row.id // PART).label("part"), row.id % PART
    done = func.sum(case((row.state == State.DONE, 1), else_=0))
    # Of squares, too: as many images for as many others may have the same sum.
    which = func.sum(row.id), func.sum(place * place)
    query = (
        select(part, row.group, func.count(), func.sum(row.version), *which, done)
        .where(row.project_id == project_id, row.is_golden.is_(False), row.deleted.is_(None))
        .group_by(part, row.group)
    )
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for at, *told in session.execute(query):
        found[at].append([told[0], *map(int, told[1:])])
    return found


def _rule(session: Session, project_id: int) -> str:
    """All by which boards are judged: the rule, the severities, and what names mean."""
    rule, names = views.rule(session, project_id), class_names.of(session, project_id)
    judged = [rule["threshold"], sorted(rule["thresholds"].items()), rule["severity"]]
    severities = sorted(tally.severities(session, project_id).items())
    meant = [sorted(one.items()) for one in (names.own, names.stands, names.ids)]
    return _digest([judged, severities, meant])


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
