"""What a model found in held-out pictures, kept as a run, so that a person can look at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend import families
from backend.domain import Detection, Model, Run, RunImage, Task
from backend.storage import warehouse
from workers.context import Context
from workers.data import LaidOut
from workers.evaluating import Seen
from workers.models.base import Detections

PURPOSE = "evaluate"
PART = 200
# Below this score a detection only shapes a curve; nobody looks at it.
LEAST_SCORE = 0.05
MOST = 100


def keep(context: Context, model: Model, weights: str, laid_out: LaidOut, seen: Seen) -> None:
    """Write the run under the job's id; an attempt that was cut short is filled up."""
    if families.find(model.family).task is Task.CLASSIFY:
        return
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


def write(context: Context, run: Run, laid_out: LaidOut, seen: Seen) -> None:
    """Write a run; the rows that an earlier attempt has written stay."""
    rows = list(_rows(laid_out, seen))
    for start in range(0, len(rows), PART):
        with context.database.write.begin() as session:
            context.fence(session)
            warehouse.start(session, run)
            warehouse.record(session, run.id, rows[start : start + PART])
    with context.database.write.begin() as session:
        context.fence(session)
        warehouse.finish(session, run.id, seen.seconds, {})


def _rows(laid_out: LaidOut, seen: Seen) -> Iterator[RunImage]:
    for example, detections in zip(seen.examples, seen.detections, strict=True):
        refused = seen.refused.get(example.name, "")
        kept = detections[detections[:, 4] >= LEAST_SCORE][:MOST]
        yield RunImage(
            image_id=laid_out.ids[example.name],
            name=example.name,
            sha256=example.path.name,
            width=example.width,
            height=example.height,
            status="refused" if refused else "ok",
            error=refused,
            detections=tuple(_detection(row, laid_out.set.classes) for row in kept),
        )


def _detection(row: Detections, classes: Sequence[str]) -> Detection:
    x1, y1, x2, y2, score = (float(value) for value in row[:5])
    return Detection(x1, y1, x2, y2, classes[int(row[5])], score)
