"""What a model found in held-out pictures, kept as a run, so that a person can look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from backend import families
from backend.domain import Model, Run, RunImage
from backend.models import measurements
from backend.models.choice import Label
from backend.storage import findings
from workers.context import Context
from workers.data import LaidOut
from workers.engine import work
from workers.engine.answers import Reading
from workers.evaluation.appraisal import Appraisal

PURPOSE = "evaluate"
PART = 200
# Below this score a detection only shapes a curve; nobody looks at it.
LEAST_SCORE = 0.05
MOST = 100


def keep(context: Context, model: Model, weights: str, laid_out: LaidOut, seen: Appraisal) -> None:
    """Write the run under the job's id; an attempt that was cut short is filled up."""
    run = Run(
        id=context.job.id,
        model=model.name,
        family=model.family,
        at=context.job.at,
        project_id=model.project_id,
        model_id=model.id,
        weights=weights,
        purpose=PURPOSE,
        author=context.job.author,
        source={"images": len(seen.examples)},
    )
    write(context, run, laid_out, seen)


def write(context: Context, run: Run, laid_out: LaidOut, seen: Appraisal) -> None:
    """Write a run; the rows that an earlier attempt has written stay."""
    rows = list(_rows(run.family, laid_out, seen))
    for start in range(0, len(rows), PART):
        with context.database.write.begin() as session:
            context.fence(session)
            findings.start(session, run)
            findings.record(session, run.id, rows[start : start + PART])
    with context.database.write.begin() as session:
        context.fence(session)
        findings.finish(session, run.id, seen.seconds, {})


def opened(context: Context, family: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures; a classifier's confusion says in which run the pictures of its cells are."""
    if not families.answers_once(family):
        return dict(figures)
    return {**figures, "confusion": {**figures["confusion"], "run": context.job.id}}


def measured(context: Context, model_id: int | None, figures: Mapping[str, Any]) -> None:
    """Keep the figures of this job, for whoever asks in SQL."""
    with context.database.write.begin() as session:
        context.fence(session)
        measurements.keep(session, context.job.id, model_id, figures)


def _rows(family: str, laid_out: LaidOut, seen: Appraisal) -> Iterator[RunImage]:
    labels = [Label(name, class_id) for name, class_id in laid_out.classes.items()]
    reading = Reading(family, labels)
    for example, detections in zip(seen.examples, seen.detections, strict=True):
        refused = seen.refused.get(example.name, "")
        kept = detections
        if not families.answers_once(family):
            kept = detections[work.strongest(detections) >= LEAST_SCORE][:MOST]
        found, told = reading.of(kept)
        yield RunImage(
            image_id=laid_out.ids[example.name],
            name=example.name,
            sha256=example.path.name,
            width=example.width,
            height=example.height,
            status="refused" if refused else "ok",
            error=refused,
            detections=found,
            facts=told,
        )
