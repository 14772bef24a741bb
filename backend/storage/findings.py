"""What models found: runs, the images they saw, and their detections, written once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import case, func, select, update
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage
from backend.errors import NotFound
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import DetectionRow, ImageRow, RunImageRow, RunRow
from backend.storage.types import LARGEST_KEY, now

COUNTED, FOUND = "totals", "found"
# What a detector alone said before a second stage, by number: [class's id, name, score].
STAGES = "stages"
CHANCES = "chances"  # of all classes, where an image has one answer: [class's id, name, chance]


def start(session: Session, run: Run) -> None:
    """Make the run's row; a run that is there already (a retried job) stays as it is."""
    values = asdict(run)
    values["started_at"] = values.pop("at")
    engine.insert_new(session, RunRow, [values])


def record(session: Session, run_id: int, seen: Sequence[RunImage]) -> int:
    """Write what a run saw in some images; one that was written before, or is gone, is left out.

    Returns how many were new. Call it in the transaction that fences the job.
    """
    there = _there(session, run_id, [image.image_id for image in seen])
    seen = [image for image in seen if image.image_id in there]
    fresh = engine.insert_new(session, RunImageRow, [_marker(run_id, image) for image in seen])
    names = class_names.of_run(session, run_id)
    rows = [
        _detection(run_id, image.image_id, idx, one, names)
        for image in seen
        if image.image_id in fresh
        for idx, one in enumerate(image.detections)
    ]
    engine.bulk_insert(session, DetectionRow, rows)
    return len(fresh)


def of_images(run: Run | RunRow) -> bool:
    """Whether its images are those of a project; a run over a folder numbers pictures itself."""
    return run.project_id is not None and "path" not in run.source


def _there(session: Session, run_id: int, ids: Sequence[int]) -> Collection[int]:
    """Those of the images that were not taken away while the run looked at them."""
    if not of_images(session.get_one(RunRow, run_id)):
        return ids
    held = select(ImageRow.id).where(ImageRow.id.in_(ids)).order_by(ImageRow.id)
    return set(session.scalars(held.with_for_update(key_share=True)))


def finish(
    session: Session,
    run_id: int,
    seconds: float,
    facts: Mapping[str, Any],
    counted: Mapping[str, Any] | None = None,
) -> None:
    """Say that a run is complete; what it has `counts` of then is kept, and counted no more."""
    kept = {**facts, **(counted or counts(session, run_id))}
    images = kept[COUNTED]["images"]
    values = {"finished": now(), "images": images, "seconds": seconds, "facts": kept}
    session.execute(update(RunRow).filter_by(id=run_id).values(values))


def recount(session: Session, run_id: int) -> None:
    """Count a finished run anew, of which images were taken away."""
    row = session.get_one(RunRow, run_id)
    if row.finished is not None:
        anew = counts(session, run_id)
        row.images, row.facts = anew[COUNTED]["images"], {**row.facts, **anew}
        session.flush()


def get(session: Session, run_id: int) -> Run:
    """The run with that id."""
    row = session.get(RunRow, run_id) if run_id <= LARGEST_KEY else None
    if row is None:
        raise NotFound(f"There is no run {run_id}.")
    return run(row)


def runs(
    session: Session,
    project_id: int | None,
    purpose: str | None = None,
    most: int | None = None,
) -> list[Run]:
    """The runs of a project, newest first: all, or `most`."""
    query = select(RunRow).filter_by(project_id=project_id).order_by(RunRow.id.desc()).limit(most)
    if purpose is not None:
        query = query.filter_by(purpose=purpose)
    return [run(row) for row in session.scalars(query)]


def runs_before(session: Session, project_id: int, before: int, most: int) -> list[Run]:
    """The runs of a project that are older than one, newest first; 0: from the newest on."""
    query = select(RunRow).filter_by(project_id=project_id).order_by(RunRow.id.desc()).limit(most)
    return [
        run(row) for row in session.scalars(query.where(RunRow.id < before) if before else query)
    ]


def seen_after(session: Session, run_id: int, image_id: int, most: int) -> list[int]:
    """The images of a run with higher numbers than one, in their order."""
    query = select(RunImageRow.image_id).filter_by(run_id=run_id)
    after = query.where(RunImageRow.image_id > image_id).order_by(RunImageRow.image_id)
    return list(session.scalars(after.limit(most)))


def counts(session: Session, run_id: int) -> dict[str, Any]:
    """What a finished run keeps: its totals, and how often each class was found."""
    by_class = [list(one) for one in _found(session, run_id)]
    return {COUNTED: totals(session, run_id), FOUND: by_class}


def forget_counts(session: Session, run_ids: Collection[int]) -> None:
    """Count these runs anew whenever they are shown, because some of their images are gone."""
    for row in session.scalars(select(RunRow).where(RunRow.id.in_(run_ids))):
        row.facts = {k: v for k, v in row.facts.items() if k not in (COUNTED, FOUND)}


def found(session: Session, run: Run) -> list[tuple[int | None, str, int]]:
    """How many detections a run has of each class, by its id and what it was called then."""
    kept = run.facts.get(FOUND) if run.finished else None
    return [tuple(one) for one in kept] if kept is not None else _found(session, run.id)


def _found(session: Session, run_id: int) -> list[tuple[int | None, str, int]]:
    query = (
        select(DetectionRow.class_id, DetectionRow.label, func.count())
        .where(DetectionRow.run_id == run_id)
        .group_by(DetectionRow.class_id, DetectionRow.label)
    )
    return [(class_id, label, number) for class_id, label, number in session.execute(query)]


def counted(session: Session, run: Run) -> dict[str, int]:
    """The totals of a run: as it kept them at its end, else as they are by now."""
    kept = run.facts.get(COUNTED) if run.finished else None
    return dict(kept) if kept else totals(session, run.id)


def totals(session: Session, run_id: int) -> dict[str, int]:
    """How many images and detections a run has written, and how many images failed."""
    image = RunImageRow
    failed = func.coalesce(func.sum(case((image.status == "ok", 0), else_=1)), 0)
    found = func.coalesce(func.sum(image.detections), 0)
    query = select(func.count(), found, failed).select_from(image).filter_by(run_id=run_id)
    counts = session.execute(query).one()
    return dict(zip(("images", "detections", "failed"), map(int, counts), strict=True))


def seen(session: Session, run_id: int) -> set[int]:
    """The ids of the images that a run has written already."""
    return set(session.scalars(select(RunImageRow.image_id).filter_by(run_id=run_id)))


def numbers(session: Session, run_id: int) -> dict[str, list[int]]:
    """The ids of the images that a run has written already, by name."""
    query = select(RunImageRow.name, RunImageRow.image_id).filter_by(run_id=run_id)
    found: dict[str, list[int]] = {}
    for name, image_id in session.execute(query.order_by(RunImageRow.image_id)):
        found.setdefault(name, []).append(image_id)
    return found


def known(session: Session, ledger_key: str, hashes: Collection[str]) -> dict[str, RunImage]:
    """What earlier runs with the same model, runtime and settings saw, by content hash."""
    found: dict[str, RunImage] = {}
    for part in engine.batches(list(hashes)):
        query = (
            select(RunImageRow)
            .join(RunRow, RunRow.id == RunImageRow.run_id)
            .where(
                RunRow.ledger_key == ledger_key,
                RunImageRow.sha256.in_(part),
                RunImageRow.status == "ok",
            )
            .order_by(RunImageRow.run_id)
        )
        rows = {row.sha256: row for row in session.scalars(query)}
        found.update(_with_detections(session, rows))
    return found


def ledger(session: Session, ledger_key: str) -> dict[str, str]:
    """What runs of that key have seen, by content hash: each with its golden's hash, or ""."""
    query = (
        select(RunImageRow.sha256, RunImageRow.facts)
        .join(RunRow, RunRow.id == RunImageRow.run_id)
        .where(RunRow.ledger_key == ledger_key, RunImageRow.status == "ok")
        .order_by(RunImageRow.run_id)
    )
    return {sha256: facts.get("golden", "") for sha256, facts in session.execute(query)}


def images(session: Session, run_id: int, image_ids: Collection[int]) -> dict[int, RunImage]:
    """What a run saw in these images."""
    query = select(RunImageRow).where(
        RunImageRow.run_id == run_id, RunImageRow.image_id.in_(image_ids)
    )
    detections_ = detections(session, run_id, image_ids)
    return {
        row.image_id: replace(_run_image(row), detections=detections_.get(row.image_id, ()))
        for row in session.scalars(query)
    }


def detections(
    session: Session, run_id: int, image_ids: Collection[int]
) -> dict[int, tuple[Detection, ...]]:
    """The detections of these images in a run, best first, named as their classes are today."""
    names = class_names.of_run(session, run_id)
    found: dict[int, list[Detection]] = {image_id: [] for image_id in image_ids}
    query = (
        select(DetectionRow)
        .where(DetectionRow.run_id == run_id, DetectionRow.image_id.in_(image_ids))
        .order_by(DetectionRow.image_id, DetectionRow.idx)
    )
    for row in session.scalars(query):
        found[row.image_id].append(detection(row, names))
    return {image_id: tuple(boxes) for image_id, boxes in found.items()}


def chances(session: Session, run: Run, image_ids: Collection[int]) -> dict[int, dict[str, float]]:
    """How likely each class is, the likeliest first, of the images that have one answer."""
    row, names = RunImageRow, class_names.of(session, run.project_id)
    query = select(row.image_id, row.facts).where(row.run_id == run.id, row.image_id.in_(image_ids))
    return {
        image_id: {names.name(class_id, label): chance for class_id, label, chance in kept}
        for image_id, facts in session.execute(query)
        if (kept := facts.get(CHANCES))
    }


def detection(row: DetectionRow, names: Naming) -> Detection:
    """A row as it is shown: under the name that its class has today."""
    label, class_id = names.name(row.class_id, row.label), names.now(row.class_id, row.label)
    return Detection(row.x1, row.y1, row.x2, row.y2, label, row.score, row.idx, class_id)


def doubt(scores: Iterable[float]) -> float:
    """How much a person's look is worth: 1 for a score of one half, 0 for a certain one."""
    return max((1 - abs(2 * score - 1) for score in scores), default=0.0)


def doubt_of(image: RunImage) -> float:
    """How much a look at an image is worth; of one answer, how near the second class comes."""
    chances = image.facts.get(CHANCES)
    if not chances:
        return doubt(one.score for one in image.detections)
    first, second = [*(float(chance) for _, _, chance in chances[:2]), 0.0][:2]
    return min(1.0, max(0.0, 1 - (first - second)))


def _marker(run_id: int, image: RunImage) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "image_id": image.image_id,
        "name": image.name,
        "sha256": image.sha256,
        "width": image.width,
        "height": image.height,
        "status": image.status,
        "error": image.error,
        "milliseconds": image.milliseconds,
        "worker": image.worker,
        "detection_count": len(image.detections),
        "doubt": doubt_of(image),
        "best": max((one.score for one in image.detections), default=0.0),
        "largest": max((_area(one) for one in image.detections), default=0.0),
        "verdict": "",
        "facts": dict(image.facts),
    }


def _area(one: Detection) -> float:
    return (one.x2 - one.x1) * (one.y2 - one.y1)


def _detection(
    run_id: int, image_id: int, idx: int, one: Detection, names: Naming
) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "image_id": image_id,
        "idx": idx,
        "class_id": names.now(one.class_id, one.label),
        "label": one.label,
        "score": one.score,
        "x1": one.x1,
        "y1": one.y1,
        "x2": one.x2,
        "y2": one.y2,
    }


def _with_detections(session: Session, rows: Mapping[str, RunImageRow]) -> dict[str, RunImage]:
    by_run: dict[int, list[int]] = {}
    for row in rows.values():
        by_run.setdefault(row.run_id, []).append(row.image_id)
    found = {run_id: detections(session, run_id, ids) for run_id, ids in by_run.items()}
    return {
        sha: replace(_run_image(row), detections=found[row.run_id].get(row.image_id, ()))
        for sha, row in rows.items()
    }


def run(row: RunRow) -> Run:
    """A row as a run."""
    return Run(**{name: getattr(row, name) for name in Run.__slots__})


def _run_image(row: RunImageRow) -> RunImage:
    kept = [name for name in RunImage.__slots__ if name != "detections"]
    return RunImage(**{name: getattr(row, name) for name in kept})
