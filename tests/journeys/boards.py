"""A small project of drawn boards with goldens, and a run that found most of their defects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.domain import Box, Detection, Project, Run, RunImage, Task
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.sample import boards
from backend.storage import findings
from tests.journeys.conftest import Site


@dataclass(frozen=True)
class Boards:
    """What was put in: image ids in the order of their names, and each one's true defects."""

    project: Project
    ids: tuple[int, ...]
    defects: dict[int, tuple[Box, ...]]


def put(site: Site, name: str, count: int = 8, *, labelled: int = 0) -> Boards:
    """Draw boards into a project; the first `labelled` come with their labels."""
    drawn = list(boards.draw(count, 7))
    given = [board.name for board in drawn if not board.is_golden][:labelled]
    new = [
        NewImage(
            board.name,
            site.files.put(png(board.pixels)),
            board.pixels.shape[1],
            board.pixels.shape[0],
            boxes=board.boxes if board.name in given else (),
            golden=board.golden,
            group=board.group,
            is_golden=board.is_golden,
            labelled=board.name in given,
        )
        for board in drawn
    ]
    truth = {board.name: board.boxes for board in drawn if not board.is_golden}
    with site.database.write.begin() as session:
        project = catalogue.create(session, name, Task.DETECT)
        for label in boards.CLASSES:
            classes.ensure(session, project.id, label)
        images.add(session, project.id, new, "import")
        ids = images.ids(session, project.id, list(truth))
        project = catalogue.get(session, project.id)
    order = sorted(truth)
    return Boards(project, tuple(ids[n] for n in order), {ids[n]: tuple(truth[n]) for n in order})


def detect(site: Site, put_: Boards, run_id: int, model: str = "golden") -> None:
    """A run that finds every defect about right, each with another score, and one false call."""
    with site.database.write.begin() as session:
        at, project = datetime.now(UTC), put_.project.id
        run = Run(run_id, model, model, at, project_id=project, author="anastasia")
        findings.start(session, run)
        shas = {id_: images.get(session, id_).sha256 for id_ in put_.ids}
        seen = [_seen(id_, shas[id_], put_.defects[id_]) for id_ in put_.ids]
        findings.record(session, run_id, seen)
        findings.finish(session, run_id, 1.0, {})


def _seen(image_id: int, sha256: str, defects: Sequence[Box]) -> RunImage:
    found = [
        Detection(
            b.x1 + 1, b.y1 - 1 if b.y1 > 1 else b.y1, b.x2 - 1, b.y2, b.label, 0.95 - 0.05 * i
        )
        for i, b in enumerate(defects)
    ]
    wrong = Detection(300.0, 10.0, 330.0, 36.0, boards.CLASSES[0], 0.35)
    return RunImage(image_id, str(image_id), sha256, 640, 640, "ok", detections=(*found, wrong))


def png(pixels: NDArray[np.uint8]) -> bytes:
    """The bytes of a picture file."""
    return bytes(cv2.imencode(".png", pixels)[1])
