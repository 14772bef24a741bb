"""Labels in doubt as a page or a command asks for them: held against what, on which labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import Session, aliased

from backend import families
from backend.domain import Job, Run, Split, State, Task
from backend.errors import Invalid, Refused
from backend.jobs import kinds, queue
from backend.models import preflight, registry, snapshots, trainings
from backend.models.choice import GOLDEN
from backend.projects import catalogue
from backend.storage import findings
from backend.storage.tables import ImageRow, SnapshotImageRow

FOLDS, MOST_FOLDS = 3, 10
USUAL = "yolo"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the labels are to be held against.

    A run (`run_id`), or what another program found (`file`: a stored hash, called `name`), or else
    models of a `family` that are trained in turns, each on all parts of the labels but one.
    """

    family: str = ""
    run_id: int | None = None
    file: str = ""
    name: str = ""
    folds: int = FOLDS
    parameters: Mapping[str, Any] = field(default_factory=dict)


def ask(session: Session, project_id: int, wanted: Wanted, author: str = "", key: str = "") -> Job:
    """Freeze the labels, and queue the search for those that are likely wrong."""
    if key and (job := queue.by_key(session, kinds.Doubts.kind, project_id, author, key)):
        return job
    project = catalogue.get(session, project_id)
    if project.task is not Task.DETECT:
        raise Refused(
            f"The pictures of {project.name} have one class each and no boxes to be in doubt."
        )
    queue.refuse_waiting(session, kinds.Doubts.kind, project_id=project_id)
    request = _request(session, project_id, wanted, author)
    return queue.enqueue(session, request, author=author, key=key)


def usual_family(session: Session, project_id: int) -> str:
    """The golden board where there are goldens, else what the project's best detector is."""
    golden = aliased(ImageRow)
    labelled = select(ImageRow.id).where(
        ImageRow.project_id == project_id,
        ImageRow.state == State.DONE,
        ImageRow.deleted.is_(None),
        exists().where(golden.id == ImageRow.golden_id),
    )
    if session.scalar(labelled.limit(1)) is not None:
        return GOLDEN
    best = registry.best(session, project_id, families.detectors())
    return best.family if best else USUAL


def unlearned(session: Session, run: Run) -> set[int]:
    """The images that a run has seen and its model did not learn from."""
    seen = findings.seen(session, run.id)
    if run.model_id is None:
        return seen
    snapshot_id = registry.get(session, run.model_id).snapshot_id
    row = SnapshotImageRow
    learned = select(row.image_id).where(
        row.snapshot_id == snapshot_id, row.split.in_((Split.TRAIN, Split.VAL))
    )
    return seen - set(session.scalars(learned))


def _request(session: Session, project_id: int, wanted: Wanted, author: str) -> kinds.Doubts:
    if wanted.run_id is not None:
        _check_run(session, project_id, wanted.run_id)
    if wanted.run_id is not None or wanted.file:
        frozen = snapshots.freeze(session, project_id, 0, author)
        return kinds.Doubts(
            project_id, frozen.id, run_id=wanted.run_id, file=wanted.file, name=wanted.name
        )
    family = wanted.family or usual_family(session, project_id)
    _check_folds(family, wanted.folds)
    # A partner or a start of the project has learned from these very labels.
    start = preflight.SCRATCH if families.find(family).needs_golden else ""
    ready = trainings.prepare(session, project_id, family, start, wanted.parameters, 0, author)
    return kinds.Doubts(
        project_id,
        ready.snapshot.id,
        family,
        folds=min(wanted.folds, sum(ready.snapshot.counts.values())),
        start=ready.begin,
        parameters=ready.values,
    )


def _check_run(session: Session, project_id: int, run_id: int) -> None:
    run = findings.get(session, run_id)
    if run.project_id != project_id or not findings.of_images(run):
        raise Invalid(f"Run {run_id} is not over the images of this project.")
    if run.finished is None:
        raise Refused(f"Run {run_id} is still at work; ask again when it is done.")
    if not unlearned(session, run):
        raise Refused(
            f"{run.model} of run {run_id} has learned from every image of it, so it repeats their "
            "labels: leave the run away, and models are trained that did not."
        )


def _check_folds(family: str, folds: int) -> None:
    honest = (GOLDEN, *families.detectors())
    if family not in honest:
        raise Invalid(f"{family[:40]!r} finds no boxes by itself; there are {', '.join(honest)}.")
    if not 2 <= folds <= MOST_FOLDS:
        raise Invalid(f"The labels go into 2 to {MOST_FOLDS} parts, not {folds}.")
