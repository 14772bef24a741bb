"""Reads an overview from what was added up: by run, lot, day and class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate
from typing import Any

from sqlalchemy import ColumnElement, String, and_, func, select, type_coerce
from sqlalchemy.orm import Session

from backend.domain import Project
from backend.errors import NotFound
from backend.labels import facts, gallery
from backend.models import registry
from backend.review import promises
from backend.review.overview import adding, figures, sums
from backend.review.overview.figures import (
    LotClass,
    Mistaken,
    NamedRun,
    NamedYield,
    Overview,
    RunWorth,
    RunYield,
    ScoreBin,
    Spot,
    StandingClass,
    Yield,
)
from backend.storage import findings
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import BoardSumRow, ClassSumRow, RunRow

MOST_RUNS = 12
MOST_LOTS = 200
PURPOSE = "detect"
GREY = "#9aa3ad"
WORTH = ("map50", "accuracy")
Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Which boards; empty means all. Of `labels` alone defects are told, not verdicts.

    `said` are columns of a table of boards with their values, `facets` what has them.
    """

    groups: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    labels: tuple[str, ...] = ()
    said: tuple[facts.Pair, ...] = ()
    facets: tuple[str, ...] = ()


def runs(session: Session, project_id: int, named: int = 0) -> list[int]:
    """The finished runs that an overview looks at: the one that is named, then the newest first.

    A run over a folder numbers pictures by itself: they are none of the project's.
    """
    row = RunRow
    query = select(row.id).where(
        row.project_id == project_id,
        row.purpose == PURPOSE,
        row.finished.is_not(None),
        type_coerce(row.source, String).not_like('%"path":%'),
    )
    found = list(session.scalars(query.order_by(row.id.desc()).limit(MOST_RUNS)))
    if not named:
        return found
    one = findings.get(session, named)
    if one.project_id != project_id or not findings.of_images(one):
        raise NotFound(f"This project has no run {named} over its images.")
    return [named, *(run for run in found if run != named)]


def read(
    session: Session, project: Project, run_ids: Sequence[int], chosen: Narrowed, left: int
) -> Overview:
    """The overview of a project by the first of these runs, beside the others."""
    run_id = run_ids[0] if run_ids else 0
    names = class_names.of(session, project.id)
    labels = tuple(names.today(label) for label in chosen.labels)
    chosen = replace(chosen, labels=labels, facets=_facets(session, run_ids, chosen))
    lots = _boards(session, run_id, chosen)
    classes = _classes(session, run_id, chosen, names)
    scores, places = _spread(session, run_id, chosen, names)
    groups, days = _known(session, run_id)
    named = _named(session, run_ids)
    by_group = _by(lots, lambda group, _: group)
    shown = {lot.name for lot in by_group}
    return Overview(
        project.name,
        project.task,
        run_id,
        left,
        groups,
        days,
        _sum(lots.values()),
        by_group,
        _by(lots, lambda _, day: day),
        _figures(project, classes),
        [
            LotClass(*key, *of[:2])
            for key, of in sorted(classes.items())
            if of[0] and key[0] in shown
        ],
        scores,
        places,
        figures.Grid(sums.WIDE, sums.HIGH),
        _mistaken(lots, classes),
        named,
        _trend(session, named[::-1], chosen),
        _models(session, project.id),
        gallery.counts(session, project.id, _filter(chosen), ("state",))["state"],
        facts.columns(session, project.id),
    )


def _where(row: Any, chosen: Narrowed) -> list[ColumnElement[bool]]:
    parts: list[ColumnElement[bool]] = []
    if chosen.groups:
        named = ["" if one == gallery.NONE else one for one in chosen.groups]
        parts.append(row.group.in_(named))
    if chosen.since:
        parts.append(row.day >= chosen.since.isoformat())
    if chosen.until:
        parts.append(row.day <= chosen.until.isoformat())
    if chosen.said:
        parts.append(row.facet.in_(chosen.facets))
    return parts


def _facets(session: Session, run_ids: Sequence[int], chosen: Narrowed) -> tuple[str, ...]:
    """What the boards of these runs have that is asked for."""
    if not chosen.said:
        return ()
    row = BoardSumRow
    known = session.scalars(select(row.facet).where(row.run_id.in_(run_ids)).distinct())
    return tuple(one for one in known if facts.says(one, chosen.said))


def _filter(chosen: Narrowed) -> gallery.Filter:
    return gallery.Filter(
        groups=chosen.groups, since=chosen.since, until=chosen.until, said=chosen.said
    )


def _boards(session: Session, run_id: int, chosen: Narrowed) -> dict[tuple[str, str], Numbers]:
    row = BoardSumRow
    added = (func.sum(one) for one in _counted(row))
    query = select(row.group, row.day, *added).where(row.run_id == run_id, *_where(row, chosen))
    found = session.execute(query.group_by(row.group, row.day))
    return {(group, day): tuple(map(int, numbers)) for group, day, *numbers in found}


def _counted(row: Any) -> list[Any]:
    return [row.passed, row.failed, row.asked, row.said, row.labelled]


def _sum(parts: Iterable[Numbers]) -> Yield:
    sums = [sum(numbers) for numbers in zip(*parts, strict=True)] or [0] * 5
    return figures.yielded(*sums[:4])


def _by(lots: dict[tuple[str, str], Numbers], name: Callable[[str, str], str]) -> list[NamedYield]:
    found: defaultdict[str, list[Numbers]] = defaultdict(list)
    for key, numbers in lots.items():
        found[name(*key)].append(numbers)
    newest = sorted(found)[-MOST_LOTS:]
    return [NamedYield(one, _sum(found[one])) for one in newest]


def _classes(
    session: Session, run_id: int, chosen: Narrowed, names: Naming
) -> dict[tuple[str, str], Numbers]:
    """Defects, boards and mistakes by lot and by what a class is called today."""
    row = ClassSumRow
    counted = (row.defects, row.boards, row.right, row.escapes, row.false_calls)
    query = (
        select(row.group, row.class_id, row.label, *(func.sum(one) for one in counted))
        .where(row.run_id == run_id, row.class_id != sums.ALL, *_where(row, chosen))
        .group_by(row.group, row.class_id, row.label)
    )
    found: dict[tuple[str, str], Numbers] = {}
    for group, class_id, label, *numbers in session.execute(query):
        name = names.today(label) if class_id == adding.NO_CLASS else names.name(class_id)
        if not chosen.labels or name in chosen.labels:
            before = found.get((group, name), (0,) * len(counted))
            found[group, name] = tuple(
                one + int(more) for one, more in zip(before, numbers, strict=True)
            )
    return found


def _figures(project: Project, classes: dict[tuple[str, str], Numbers]) -> list[StandingClass]:
    """The most frequent first."""
    colors = {one.name: one.color for one in project.classes}
    sums: defaultdict[str, list[Numbers]] = defaultdict(list)
    for (_, name), numbers in classes.items():
        sums[name].append(numbers)
    added = {name: [sum(one) for one in zip(*of, strict=True)] for name, of in sums.items()}
    whole = {name: of for name, of in added.items() if any(of)}
    order = sorted(whole, key=lambda name: (-whole[name][0], name))
    total = sum(of[0] for of in whole.values()) or 1
    so_far = accumulate(whole[name][0] / total for name in order)
    return [
        StandingClass(
            name, colors.get(name, GREY), defects, boards, share, right, escapes, false_calls,
            _at_most(escapes, right),
        )
        for name, share in zip(order, so_far, strict=True)
        for defects, boards, right, escapes, false_calls in [whole[name]]
    ]  # fmt: skip


def _at_most(escapes: int, right: int) -> float | None:
    truths = escapes + right
    return promises.at_most(escapes, truths) if truths else None


def _mistaken(
    lots: dict[tuple[str, str], Numbers], classes: dict[tuple[str, str], Numbers]
) -> Mistaken:
    labelled = sum(of[4] for of in lots.values())
    sums = Counter[int]()
    for numbers in classes.values():
        sums.update(dict(enumerate(numbers)))
    right, escapes, false_calls = sums[2], sums[3], sums[4]
    return Mistaken(labelled, right, escapes, false_calls, _at_most(escapes, right))


def _spread(
    session: Session, run_id: int, chosen: Narrowed, names: Naming
) -> tuple[list[ScoreBin], list[Spot]]:
    row = ClassSumRow
    query = select(row.spread).where(
        row.run_id == run_id, _of_classes(row, chosen, names), *_where(row, chosen)
    )
    told = sums.unpacked(session.scalars(query), sums.COUNTED)
    step = 1 / sums.BINS
    bins = [
        ScoreBin(round(at * step, 4), round((at + 1) * step, 4), *counted)
        for at, counted in enumerate(sums.pairs(told, sums.SCORES, sums.BINS))
    ]
    spots = [
        Spot(at, at % sums.WIDE, at // sums.WIDE, *counted)
        for at, counted in enumerate(sums.pairs(told, sums.PLACES, sums.CELLS))
        if counted[0]
    ]
    return bins, spots


def _of_classes(row: Any, chosen: Narrowed, names: Naming) -> ColumnElement[bool]:
    """The rows of one class; boards with two of them would be counted twice."""
    if not chosen.labels:
        return row.class_id == sums.ALL  # type: ignore[no-any-return]
    label = chosen.labels[0]
    known = names.id(label)
    if known is None:
        return and_(row.class_id == adding.NO_CLASS, row.label == label)
    return row.class_id == known  # type: ignore[no-any-return]


def _known(session: Session, run_id: int) -> tuple[list[str], list[str]]:
    """The lots and the days of a run."""
    row = BoardSumRow
    query = select(row.group, row.day).where(row.run_id == run_id).distinct()
    pairs = session.execute(query).all()
    return sorted({group for group, _ in pairs}), sorted({day for _, day in pairs})


def _named(session: Session, run_ids: Sequence[int]) -> list[NamedRun]:
    """The newest first."""
    row = RunRow
    query = select(row.id, row.model, row.at).where(row.id.in_(run_ids)).order_by(row.id.desc())
    return [NamedRun(*told) for told in session.execute(query)]


def _trend(session: Session, named: Sequence[NamedRun], chosen: Narrowed) -> list[RunYield]:
    """In the order of the runs."""
    run_ids = [one.run for one in named]
    row = BoardSumRow
    query = select(row.run_id, *(func.sum(one) for one in _counted(row)))
    query = query.where(row.run_id.in_(run_ids), *_where(row, chosen))
    told = {
        run_id: tuple(map(int, numbers))
        for run_id, *numbers in session.execute(query.group_by(row.run_id))
    }
    return [
        RunYield(one.run, one.model, one.at, figures.yielded(*told[one.run][:4]))
        for one in named
        if one.run in told
    ]


def _models(session: Session, project_id: int) -> list[RunWorth]:
    """Those that were measured, the oldest first."""
    found = []
    for one in reversed(registry.models(session, project_id)):
        # Where the images that it was measured by show nothing, a figure is none.
        figure = next((name for name in WORTH if one.metrics.get(name) is not None), "")
        if figure:
            found.append(RunWorth(one.name, figure, float(one.metrics[figure]), one.champion))
    return found
