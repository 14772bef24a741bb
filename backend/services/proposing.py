"""What models propose for images that a person labels: the detections of the newest run of each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import Detection
from backend.storage import warehouse
from backend.storage.tables import RunImageRow, RunRow

PURPOSES = ("detect", "propose")
# Older runs are superseded; their detections stay reachable under Review.
NEWEST = 30


@dataclass(frozen=True, slots=True)
class Proposed:
    """What one run proposes for one image."""

    run_id: int
    proposer: str
    detections: tuple[Detection, ...]


def newest(session: Session, project_id: int, image_ids: Collection[int]) -> dict[int, Proposed]:
    """The proposals of the newest run that saw each image; an image no run saw is left out."""
    runs = _runs(session, project_id)
    if not runs or not image_ids:
        return {}
    query = (
        select(RunImageRow.image_id, func.max(RunImageRow.run_id))
        .where(
            RunImageRow.run_id.in_(runs),
            RunImageRow.image_id.in_(image_ids),
            RunImageRow.status == "ok",
        )
        .group_by(RunImageRow.image_id)
    )
    by_run: dict[int, list[int]] = {}
    for image_id, run_id in session.execute(query):
        by_run.setdefault(run_id, []).append(image_id)
    return {
        image_id: Proposed(run_id, runs[run_id], detections)
        for run_id, images in by_run.items()
        for image_id, detections in warehouse.detections(session, run_id, images).items()
    }


def _runs(session: Session, project_id: int) -> dict[int, str]:
    """The newest runs by id, each with the words for who proposes."""
    query = (
        select(RunRow.id, RunRow.family, RunRow.model)
        .where(RunRow.project_id == project_id, RunRow.purpose.in_(PURPOSES))
        .order_by(RunRow.id.desc())
        .limit(NEWEST)
    )
    return {id_: _words(family, model) for id_, family, model in session.execute(query)}


def _words(family: str, model: str) -> str:
    return model if model == family or not family else f"{model} ({family})"
