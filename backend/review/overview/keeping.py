"""Keeps what was added up of runs, and tells which parts of it no longer stand."""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import case, delete, func, select, update
from sqlalchemy.orm import Session

from backend.domain import State
from backend.labels.facts import BETWEEN
from backend.review import tally, views
from backend.review.overview import adding, sums, totals
from backend.review.overview.adding import PART, Added
from backend.storage import engine, fingerprints
from backend.storage.classes import class_names
from backend.storage.tables import (
    BoardMarkRow,
    DecisionRow,
    ImageRow,
    PartSumRow,
    ProjectRow,
    RunImageRow,
    RunRow,
)

PENDING = ""  # the mark of a part that was never added up
MOST_MARKED = 3
Begin = Callable[[], AbstractContextManager[Session]]


def refresh(
    read: Begin, write: Begin, run_ids: Sequence[int], seconds: float = float("inf")
) -> int:
    """Add up what no longer stands of these runs, for so long; returns how many parts are left.

    The boards behind marks are kept of the first of them, and where they were kept before.
    """
    with read() as session:
        new = {run: parts for run, parts in _parts(session, run_ids).items() if parts}
    if new:
        with write() as session:
            _expect(session, new)
    with read() as session:
        left = [(run, *one) for run, parts in stale(session, run_ids).items() for one in parts]
    # From here on, or to ask would use up all the time of a busy machine, again and again.
    end = time.monotonic() + seconds
    while left and time.monotonic() < end:
        run_id, part, mark = left.pop(0)
        with read() as session:
            added = adding.add_up(session, run_id, part)
        with write() as session:
            keep(session, run_id, added, mark, marked=run_id == run_ids[0])
    return len(left)


def stale(session: Session, run_ids: Sequence[int]) -> dict[int, list[tuple[int, str]]]:
    """The parts of each run that are not as they were added up, with what marks them now."""
    kept: defaultdict[int, dict[int, tuple[str, bool]]] = defaultdict(dict)
    row = PartSumRow
    query = select(row.run_id, row.part, row.mark, row.marked).where(row.run_id.in_(run_ids))
    for run, part, mark, marked in session.execute(query.order_by(row.run_id, row.part)):
        kept[run][part] = mark, marked
    for run, parts in _parts(session, run_ids).items():
        kept[run] = dict.fromkeys(parts, (PENDING, False))
    said, now = _decisions(session, run_ids), _Now(session)
    found = {}
    for run in run_ids:
        told = [(part, now.mark(run, part, said[run, part])) for part in kept[run]]
        first = run == run_ids[0]
        found[run] = [
            (part, mark)
            for part, mark in told
            if kept[run][part][0] != mark or (first and not kept[run][part][1])
        ]
    return found


def keep(session: Session, run_id: int, added: Added, mark: str, marked: bool = True) -> None:
    """Put what was added up in the place of what was kept of the part."""
    # Whoever else adds up the same part waits here, and then puts theirs over it.
    if not _hold(session, run_id):
        return  # what is written of a project while it is removed would be left over
    part, mark_row = PartSumRow, BoardMarkRow
    of_part = part.run_id == run_id, part.part == added.part
    kept = session.execute(select(part.told, part.marked).where(*of_part)).one_or_none()
    before = kept.told if kept else b""
    marked = marked or bool(kept and kept.marked)  # who looks at another run takes none away
    totals.add(session, run_id, sums.change(sums.read(before), added.sums))
    _take(session, delete(part).where(*of_part))
    _take(session, delete(mark_row).where(mark_row.run_id == run_id, mark_row.part == added.part))
    of_run = {"run_id": run_id, "part": added.part}
    told = {"mark": mark, "marked": marked, "told": sums.written(added.sums)}
    engine.bulk_insert(session, part, [{**of_run, **told}])
    rows = [
        {**of_run, "mark": name, "class_id": class_id, "image_id": image_id}
        for name, class_id, image_id in sorted(added.marked)
    ]
    engine.bulk_insert(session, mark_row, rows if marked else [])


def expect(read: Begin, write: Begin, run_id: int) -> None:
    """Say which parts a run has now that it has ended: more than before where it went on."""
    with read() as session:
        parts = _seen(session, run_id)
    with write() as session:
        _expect(session, {run_id: parts})


def forget_marks(read: Begin, write: Begin, project_id: int) -> None:
    """Keep the boards behind marks of the newest runs alone, which are most of what is kept.

    The overview of an older run adds them up again.
    """
    row, runs = PartSumRow, RunRow
    with read() as session:
        of_project = select(runs.id).where(runs.project_id == project_id)
        marked = select(row.run_id, row.part).where(row.marked, row.run_id.in_(of_project))
        parts = session.execute(marked.order_by(row.run_id, row.part)).all()
    newest = sorted({run for run, _ in parts})[-MOST_MARKED:]
    for run, part in parts:
        if run not in newest:
            with write() as session:
                _forget(session, run, part)


def _forget(session: Session, run_id: int, part: int) -> None:
    if _hold(session, run_id):
        mark, kept = BoardMarkRow, PartSumRow
        _take(session, delete(mark).where(mark.run_id == run_id, mark.part == part))
        of_part = update(kept).where(kept.run_id == run_id, kept.part == part)
        _take(session, of_part.values(marked=False))


def _hold(session: Session, run_id: int) -> bool:
    """Let nobody else write of a run; tells whether its project is still there."""
    of_run = select(RunRow.project_id).where(RunRow.id == run_id).scalar_subquery()
    there = select(ProjectRow.id).where(ProjectRow.id == of_run, ProjectRow.removed.is_(None))
    # Who removes the project waits, and then takes away what is written here as well.
    if session.scalar(there.with_for_update(read=True)) is None:
        return False
    held = select(RunRow.id).where(RunRow.id == run_id).with_for_update()
    return session.scalar(held) is not None


def _take(session: Session, statement: Any) -> None:
    session.execute(statement.execution_options(synchronize_session=False))


def _parts(session: Session, run_ids: Sequence[int]) -> dict[int, list[int]]:
    """The parts of those runs of which nothing is kept; who lets a run go on says which come."""
    kept = PartSumRow
    known = set(session.scalars(select(kept.run_id).where(kept.run_id.in_(run_ids)).distinct()))
    return {run: _seen(session, run) for run in run_ids if run not in known}


def _seen(session: Session, run_id: int) -> list[int]:
    """The parts of a run."""
    row = RunImageRow
    part = (row.image_id // PART).label("part")
    seen = select(part).where(row.run_id == run_id, row.status == "ok").distinct()
    return sorted(session.scalars(seen))


def _expect(session: Session, new: dict[int, list[int]]) -> None:
    """Say which parts there will be."""
    # All in one order, or two who begin with another run each would wait for each other.
    for run, parts in sorted(new.items()):
        if _hold(session, run):
            pending = {"run_id": run, "mark": PENDING, "marked": False, "told": b""}
            engine.insert_new(session, PartSumRow, [{**pending, "part": part} for part in parts])


def _decisions(session: Session, run_ids: Sequence[int]) -> defaultdict[tuple[int, int], list[int]]:
    row = DecisionRow
    part = (row.image_id // PART).label("part")
    query = select(row.run_id, part, func.count(), func.max(row.id)).where(row.run_id.in_(run_ids))
    found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for run, at, *numbers in session.execute(query.group_by(row.run_id, part)):
        found[run, at] = numbers
    return found


class _Now:
    """What marks parts now; what is of a project is read once."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.projects: dict[int, int] = {}
        self.ends: dict[int, str] = {}
        self.rules: dict[int, str] = {}
        self.labels: dict[int, dict[int, list[int]]] = {}

    def mark(self, run_id: int, part: int, said: Iterable[int]) -> str:
        """What a part stands on."""
        if run_id not in self.projects:
            self.projects[run_id] = views.project_of(self.session, run_id)
            # One that went on after its end has seen more, and has another end.
            ended = select(RunRow.finished).where(RunRow.id == run_id)
            self.ends[run_id] = str(self.session.scalar(ended))
        project = self.projects[run_id]
        if project not in self.rules:
            self.rules[project] = _rule(self.session, project)
            self.labels[project] = _labels(self.session, project)
        there = self.labels[project].get(part, [])
        return _digest([self.rules[project], list(said), there, self.ends[run_id]])


def _labels(session: Session, project_id: int) -> dict[int, list[int]]:
    """What tells, part by part, that images, their lots or their labels are others."""
    row = ImageRow
    part, place = (row.id // PART).label("part"), row.id % PART + 1
    done = func.sum(case((row.state == State.DONE, 1), else_=0))
    goldens = func.sum(case((row.is_golden, 1), else_=0))
    # Of squares, too: as many images for as many others may have the same sum. The place beside
    # the lot tells two images that have changed theirs for each other's.
    which = func.sum(row.id), func.sum(place * place)
    stands = fingerprints.of(session, row.group + BETWEEN + row.facet)
    lots = func.sum(stands * place * place * place)
    query = (
        select(part, func.count(), func.sum(row.version), *which, lots, done, goldens)
        .where(row.project_id == project_id, row.deleted.is_(None))
        .group_by(part)
    )
    return {at: [int(one) for one in told] for at, *told in session.execute(query)}


def _rule(session: Session, project_id: int) -> str:
    """All by which boards are judged: the rule, the severities, and what names mean."""
    rule, names = views.rule(session, project_id), class_names.of(session, project_id)
    judged = [rule["threshold"], sorted(rule["thresholds"].items()), rule["severity"]]
    severities = sorted(tally.severities(session, project_id).items())
    meant = [sorted(one.items()) for one in (names.own, names.stands, names.ids)]
    return _digest([judged, severities, meant])


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
