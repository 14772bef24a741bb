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
from backend.storage.tables import DetectionRow, RunImageRow, RunRow
from backend.storage.types import LARGEST_KEY, now


def start(session: Session, run: Run) -> None:
    """Make the run's row; a run that is there already (a retried job) stays as it is."""
    values = asdict(run)
    values["started_at"] = values.pop("at")
    engine.insert_new(session, RunRow, [values])


def record(session: Session, run_id: int, seen: Sequence[RunImage]) -> int:
    """Write what a run saw in some images; an image written before is left out.

    Returns how many were new. Call it in the transaction that fences the job.
    """
    fresh = engine.insert_new(session, RunImageRow, [_marker(run_id, image) for image in seen])
    rows = [
        _detection(run_id, image.image_id, idx, one)
        for image in seen
        if image.image_id in fresh
        for idx, one in enumerate(image.detections)
    ]
    engine.bulk_insert(session, DetectionRow, rows)
    return len(fresh)


def finish(session: Session, run_id: int, seconds: float, facts: Mapping[str, Any]) -> None:
    """Say that a run is complete."""
    count = session.scalar(select(func.count()).select_from(RunImageRow).filter_by(run_id=run_id))
    values = {"finished": now(), "images": count, "seconds": seconds, "facts": dict(facts)}
    session.execute(update(RunRow).filter_by(id=run_id).values(values))


def get(session: Session, run_id: int) -> Run:
    """The run with that id."""
    row = session.get(RunRow, run_id) if run_id <= LARGEST_KEY else None
    if row is None:
        raise NotFound(f"There is no run {run_id}.")
    return _run(row)


def runs(session: Session, project_id: int | None, purpose: str | None = None) -> list[Run]:
    """The runs of a project, newest first."""
    query = select(RunRow).filter_by(project_id=project_id).order_by(RunRow.id.desc())
    if purpose is not None:
        query = query.filter_by(purpose=purpose)
    return [_run(row) for row in session.scalars(query)]


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
    """The detections of these images in a run, best first."""
    found: dict[int, list[Detection]] = {image_id: [] for image_id in image_ids}
    query = (
        select(DetectionRow)
        .where(DetectionRow.run_id == run_id, DetectionRow.image_id.in_(image_ids))
        .order_by(DetectionRow.image_id, DetectionRow.idx)
    )
    for row in session.scalars(query):
        found[row.image_id].append(_of_row(row))
    return {image_id: tuple(boxes) for image_id, boxes in found.items()}


def doubt(scores: Iterable[float]) -> float:
    """How much a person's look is worth: 1 for a score of one half, 0 for a certain one."""
    return max((1 - abs(2 * score - 1) for score in scores), default=0.0)


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
        "doubt": doubt(one.score for one in image.detections),
        "best": max((one.score for one in image.detections), default=0.0),
        "largest": max((_area(one) for one in image.detections), default=0.0),
        "verdict": "",
        "facts": dict(image.facts),
    }


def _area(one: Detection) -> float:
    return (one.x2 - one.x1) * (one.y2 - one.y1)


def _detection(run_id: int, image_id: int, idx: int, one: Detection) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "image_id": image_id,
        "idx": idx,
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


def _run(row: RunRow) -> Run:
    return Run(**{name: getattr(row, name) for name in Run.__slots__})


def _run_image(row: RunImageRow) -> RunImage:
    kept = [name for name in RunImage.__slots__ if name != "detections"]
    return RunImage(**{name: getattr(row, name) for name in kept})


def _of_row(row: DetectionRow) -> Detection:
    return Detection(row.x1, row.y1, row.x2, row.y2, row.label, row.score, row.idx)
