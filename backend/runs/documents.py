"""A run for other programs and people: a JSON file for each image, and what could not be read."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Detection, RunImage
from backend.storage import engine, files, findings
from backend.storage.tables import RunImageRow


def write(session: Session, run_id: int, folder: Path) -> int:
    """Write the JSON file of every image that the run could read; says how many."""
    query = select(RunImageRow.image_id).filter_by(run_id=run_id, status="ok")
    ids = list(session.scalars(query))
    for part in engine.batches(ids):
        for image in findings.images(session, run_id, part).values():
            keep(image, folder)
    return len(ids)


def keep(image: RunImage, folder: Path) -> None:
    """Write the file of one image below the folder, whatever the image is called."""
    parts = [part for part in PurePosixPath(image.name).parts if part not in ("/", "..")]
    text = json.dumps(of(image), indent=1)
    files.replace(folder.joinpath(*parts[:-1], f"{parts[-1]}.json"), text.encode())


def of(image: RunImage) -> list[dict[str, Any]]:
    """The detections of an image, in absolute pixels; one answer, where it has one, has no box."""
    if findings.CHANCES in image.facts:
        return [_answer(image.name, one) for one in image.detections]
    return [
        {
            "name": image.name,
            "class": one.label,
            "confidence": round(one.score, 4),
            "box": {name: round(getattr(one, name), 2) for name in ("x1", "y1", "x2", "y2")},
        }
        for one in image.detections
    ]


def _answer(name: str, one: Detection) -> dict[str, Any]:
    return {"name": name, "class": one.label, "confidence": round(one.score, 4)}


def failures(session: Session, run_id: int, most: int) -> list[str]:
    """Why images of a run could not be looked at, each in a sentence."""
    query = (
        select(RunImageRow.error)
        .where(RunImageRow.run_id == run_id, RunImageRow.status != "ok")
        .order_by(RunImageRow.name)
    )
    return list(session.scalars(query.limit(most)))
