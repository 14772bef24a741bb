"""Cluster benchmarks: asked for, kept turn by turn, and read beside those before them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from backend import families
from backend.domain import Job, JobState
from backend.errors import Invalid, Refused
from backend.jobs import kinds, queue
from backend.models import tracked, trainings
from backend.models.scaling import scaling_plan, scaling_table
from backend.models.scaling.scaling_plan import WEAK, Configuration, Plan, Turn
from backend.models.scaling.scaling_table import Line, MeasuredTurn
from backend.storage.tables import JobRow, TurnRow

EPOCHS = 3
SHOWN = 20


@dataclass(frozen=True, slots=True)
class ClusterBenchmark:
    """A benchmark with its table; `about` is what it ran on and with which release.

    `configurations` is how many lines the table has, though a list of many may leave them out.
    """

    job: int
    state: JobState
    family: str
    scaling: str
    repeats: int
    epochs: int
    images: int
    author: str
    at: datetime
    about: Mapping[str, str]
    configurations: int
    lines: Sequence[Line]


def ask(
    session: Session,
    project_id: int,
    family: str,
    plan: Plan,
    *,
    start: str = "",
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
    author: str = "",
) -> Job:
    """Check all that is asked, freeze what is learned from, and queue it; all or nothing."""
    scaling_plan.check(plan)
    if families.find(family).needs_golden:
        raise Refused(f"The family {family} learns in one process: there is nothing to compare.")
    said = {"epochs": EPOCHS, "patience": 0, **(parameters or {})}
    if said["epochs"] == 1:
        raise Invalid("A benchmark needs at least 2 epochs: the first one warms the devices up.")
    ready = trainings.prepare(session, project_id, family, start, said, seed, author)
    _check_shares(plan, ready.values, ready.snapshot.counts)
    request = kinds.Scale(
        project_id, ready.snapshot.id, family, ready.begin, ready.values, scaling_plan.kept(plan)
    )
    job = queue.enqueue(session, request, author=author)
    if tracked.wanted():
        told = {"benchmark": job.id, "scaling": plan.scaling, "repeats": plan.repeats}
        given = {"family": family, **ready.values}
        tracked.follow(
            session, project_id, job.id, f"benchmark {job.id}", parameters=given, tags=told
        )
    return job


def _check_shares(plan: Plan, values: Mapping[str, Any], counts: Mapping[str, int]) -> None:
    """Each process must have its share, or what is compared is not the same training."""
    if not counts.get("val"):
        raise Refused("The project has no validation images, so no figure could be compared.")
    batch, most, images = int(values["batch"]), max(plan.workers), int(counts.get("train", 0))
    for count in plan.workers:
        if plan.scaling != WEAK and batch % count:
            raise Invalid(
                f"A batch of {batch} cannot be shared alike by {count} processes: name another "
                "one with --batch."
            )
    least = batch if plan.scaling != WEAK else batch * most
    if images < least:
        raise Refused(
            f"The {images} training images are fewer than one batch of {least}: name a smaller one "
            "with --batch, or fewer workers."
        )


def measured(session: Session, job_id: int) -> list[MeasuredTurn]:
    """The turns that are over."""
    return _measured_of(session, [job_id])[job_id]


def keep(
    session: Session, job_id: int, turn: Turn, figures: Mapping[str, Any], error: str = ""
) -> None:
    """A turn is over; it is never measured again."""
    values = {
        "job_id": job_id,
        "number": turn.number,
        "work": turn.configuration.work,
        "processes": turn.configuration.processes,
        "nodes": turn.configuration.nodes,
        "repeat": turn.repeat,
        "figures": dict(figures),
        "error": error[:1000],
    }
    session.add(TurnRow(**values))
    session.flush()


def of_job(session: Session, job_id: int) -> ClusterBenchmark:
    """A benchmark as far as it is."""
    return _benchmark(queue.get(session, job_id), measured(session, job_id))


def of_project(
    session: Session, project_id: int, opened: Collection[int] = ()
) -> list[ClusterBenchmark]:
    """The newest first; only that one and those that are `opened` have the lines of their table."""
    query = select(JobRow).filter_by(project_id=project_id, kind=kinds.Scale.kind)
    rows = session.scalars(query.order_by(JobRow.id.desc()).limit(SHOWN)).all()
    ids = [row.id for row in rows]
    whole = [*ids[:1], *(id for id in ids[1:] if id in opened)]
    others = [id for id in ids if id not in whole]
    turns = _measured_of(session, whole) | _measured_of(session, others, TurnRow.number == 0)
    found = [_benchmark(queue.to_job(session, row), turns[row.id]) for row in rows]
    return [one if one.job in whole else replace(one, lines=()) for one in found]


def _benchmark(job: Job, found: Sequence[MeasuredTurn]) -> ClusterBenchmark:
    request, plan = job.request, scaling_plan.read(job.request["plan"])
    told = (one.figures["about"] for one in found if "about" in one.figures)
    about: Mapping[str, Any] = next(told, {})
    images = max((int(one.figures.get("images", 0)) for one in found), default=0)
    return ClusterBenchmark(
        job.id,
        job.state,
        str(request["family"]),
        plan.scaling,
        plan.repeats,
        int(request["parameters"]["epochs"]),
        images,
        job.author,
        job.at,
        {name: str(value) for name, value in about.items()},
        len(plan.configurations),
        scaling_table.lines(plan, found),
    )


def _measured_of(
    session: Session, jobs: Sequence[int], *which: ColumnElement[bool]
) -> dict[int, list[MeasuredTurn]]:
    """The turns of several benchmarks at once, all or those."""
    found: dict[int, list[MeasuredTurn]] = {job: [] for job in jobs}
    query = select(TurnRow).where(TurnRow.job_id.in_(jobs), *which)
    for row in session.scalars(query.order_by(TurnRow.job_id, TurnRow.number)):
        found[row.job_id].append(_measured(row))
    return found


def _measured(row: TurnRow) -> MeasuredTurn:
    one = Configuration(row.work, row.processes, row.nodes)
    return MeasuredTurn(row.number, one, row.repeat, row.figures, row.error)
