"""What mlflow is to know of a cluster benchmark: a run a configuration, under the benchmark's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from backend.domain import JobState
from backend.models import tracked
from backend.models.scaling.scaling_plan import Turn
from workers.scaling.bench import Bench

TOLD = ("startup", "seconds", "rate", "loss")


def begin(bench: Bench, turn: Turn) -> None:
    """A run for a configuration that is measured for the first time."""
    name, one, job = _name(bench, turn), turn.configuration, bench.context.job
    project = bench.request.project_id or 0
    given = bench.parameters(one)
    about = bench.about(one.processes)
    tags = {
        "benchmark": job.id,
        "work": one.work,
        "scaling": bench.plan.scaling,
        **about,
        "nodes": one.nodes,
        "processes": one.processes,
        "device": bench.device,
        "batch": given["batch"],
        "batch_each": given["batch"] // one.processes,
        "distributed": one.processes > 1,
    }
    with bench.context.database.write.begin() as session:
        if not tracked.wanted() or tracked.named(session, project, name) is not None:
            return
        parent = tracked.of_job(session, job.id)
        tracked.begin(session, project, name, parent=parent, parameters=given, tags=tags)


def tell(
    session: Session, bench: Bench, turn: Turn, figures: Mapping[str, Any], error: str
) -> None:
    """What a turn has measured, by its repeat; after the last one the run ends."""
    run = tracked.named(session, bench.request.project_id or 0, _name(bench, turn))
    if run is None:
        return
    worth = figures.get("worth", {})
    told = {name: figures[name] for name in TOLD if figures.get(name) is not None}
    if worth:
        told[f"validation_{worth['figure']}"] = worth["value"]
    if told:
        tracked.tell(session, run, told, turn.repeat)
    if turn.repeat == bench.plan.repeats - 1:
        tracked.end(session, run, JobState.FAILED if error else JobState.DONE)


def _name(bench: Bench, turn: Turn) -> str:
    return f"benchmark {bench.context.job.id}: {turn.configuration.name}"
