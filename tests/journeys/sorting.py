"""A small project of pictures that have one class each, and a run that answers what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.domain import Detection, Run, RunImage, Task
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.runs import detection
from backend.storage import findings
from backend.storage.engine import Database
from tests.journeys import boards
from tests.journeys.conftest import Site

CLASSES = ("good", "scratched", "bent")
SIDE = 48


def put(site: Site, name: str, count: int) -> list[int]:
    """Put pictures into a new project, by turns of each class; gives their ids by name."""
    new = [
        NewImage(f"{at:03}", site.files.put(boards.png(drawn(at))), SIDE, SIDE)
        for at in range(count)
    ]
    with site.database.write.begin() as session:
        made = catalogue.create(session, name, Task.CLASSIFY, CLASSES)
        images.add(session, made.id, new, "")
        ids = images.ids(session, made.id, [one.name for one in new])
    return [ids[one.name] for one in new]


def truth(at: int) -> str:
    """What the picture with that number shows."""
    return CLASSES[at % len(CLASSES)]


def drawn(at: int) -> NDArray[np.uint8]:
    """A plate that is good, has a scratch across it, or a corner that is bent away."""
    pixels = np.full((SIDE, SIDE, 3), (90, 120 + at % 40, 110), np.uint8)
    cv2.rectangle(pixels, (6, 6), (SIDE - 7, SIDE - 7), (190, 195, 200), -1)
    if truth(at) == "scratched":
        cv2.line(pixels, (8, 10 + at % 20), (SIDE - 8, 30 + at % 9), (30, 30, 40), 2)
    if truth(at) == "bent":
        corner = np.array([(SIDE - 7, 6), (SIDE - 7, 26 + at % 8), (SIDE - 28, 6)])
        cv2.fillPoly(pixels, [corner], (60, 60, 160))
    return pixels


def plate(at: int) -> bytes:
    """The same as a picture, like no other one."""
    noise = np.random.default_rng(at).normal(0, 6, (SIDE, SIDE, 3))
    return boards.png(np.clip(drawn(at) + noise, 0, 255).astype(np.uint8))


def answer(
    database: Database,
    image_ids: Sequence[int],
    run_id: int,
    scores: Mapping[int, float] | None = None,
    wrong: Sequence[int] = (),
) -> None:
    """A run that says what each picture is, with .9 or the given score; some of it `wrong`."""
    with database.write.begin() as session:
        project = images.get(session, image_ids[0]).project_id
        begun, weights = datetime.now(UTC), "f" * 64
        run = Run(run_id, "v1", "classifier", begun, project_id=project, weights=weights)
        findings.start(session, run)
        seen = [
            _seen(id_, at + (at in wrong), (scores or {}).get(at, 0.9))
            for at, id_ in enumerate(image_ids)
        ]
        findings.record(session, run_id, seen)
        detection.mark(session, {one.image_id: findings.doubt_of(one) for one in seen})
        findings.finish(session, run_id, 1.0, {})


def _seen(image_id: int, at: int, score: float) -> RunImage:
    best = Detection(0, 0, SIDE, SIDE, truth(at), score)
    rest = [one for one in CLASSES if one != best.label]
    left = (1 - score) / len(rest)
    chances = [[None, best.label, score], *([None, one, left] for one in rest)]
    facts = {findings.CHANCES: chances}
    return RunImage(image_id, f"{image_id}", "", SIDE, SIDE, detections=(best,), facts=facts)
