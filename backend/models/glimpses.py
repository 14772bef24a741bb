"""A glimpse of what a training would see: pictures of the project, changed as it would do it."""

from __future__ import annotations

import base64
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from backend import families
from backend.domain import Job, Split
from backend.errors import Refused
from backend.jobs import kinds, queue
from backend.labels import labelling
from backend.models import preflight, snapshots, trainings, usual
from backend.projects import catalogue

OF, SHOWN = 24, 6  # what a picture is mixed with is drawn from all of them
AMONG = 200


@dataclass(frozen=True, slots=True)
class SeenBox:
    """A box where the training would see it."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: str


@dataclass(frozen=True, slots=True)
class SeenPicture:
    """A picture as the training would see it: a data address, its size, its boxes or its class."""

    picture: str
    width: int
    height: int
    boxes: tuple[SeenBox, ...]
    label: str


def wanted(
    session: Session, project_id: int, family: str, parameters: Mapping[str, Any]
) -> kinds.Glimpse:
    """What a worker is to look at; asked again, it is others.

    Where much is labelled that takes a while, and nobody's write has to wait for it.
    """
    chosen, project = families.find(family), catalogue.get(session, project_id)
    if chosen.needs_golden:
        raise Refused("This family looks at pictures as they are: none is changed.")
    if project.task is not chosen.task:
        raise Refused(
            f"{chosen.title} cannot be trained here: the project's task is {project.task}."
        )
    variant = str(parameters.get("variant", ""))
    values = {**usual.parameters(session, project_id, family, variant), **parameters}
    preflight.refuse_values(family, values)
    seed = trainings.usual_seed(session, project_id, family, "") or 0
    split = snapshots.plan(session, project_id, seed)
    learned = [id for id, one in split.items() if one is Split.TRAIN]
    if not learned:
        raise Refused("No image is labelled yet, so there is nothing to be seen: label some first.")
    return kinds.Glimpse(project_id, family, _some(session, learned), len(learned), values)


def ask(session: Session, request: kinds.Glimpse, author: str = "") -> Job:
    """Queue it: a worker looks, by the code that trains."""
    return queue.enqueue(session, request, author=author, priority=1)


def read(job: Job, folder: Path) -> list[SeenPicture]:
    """What was seen, as long as its pictures are kept."""
    found = []
    for number, one in enumerate(job.result.get("pictures", ())):
        path = place(folder, job.id, number)
        if not path.is_file():
            raise Refused(
                "These pictures are not here: they are kept for two days, on the machine of the "
                "worker that has made them. Ask for others."
            )
        content = base64.b64encode(path.read_bytes()).decode()
        boxes = tuple(SeenBox(**each) for each in one["boxes"])
        size = one["width"], one["height"]
        found.append(SeenPicture(f"data:image/jpeg;base64,{content}", *size, boxes, one["label"]))
    return found


def place(folder: Path, job_id: int, number: int) -> Path:
    """Where a picture of it lies."""
    return folder / f"glimpse{job_id}-{number}.jpg"


def _some(session: Session, ids: list[int]) -> tuple[int, ...]:
    """Some by chance, those with boxes first."""
    drawn = random.sample(ids, min(AMONG, len(ids)))
    boxes = labelling.boxes_of(session, drawn)
    return tuple(sorted(drawn, key=lambda id: not boxes[id])[:OF])
