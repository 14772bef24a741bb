"""Sample projects: drawn pictures in the store, most of them labelled, the last ones left to do."""

from __future__ import annotations

from collections.abc import Callable

import cv2
from sqlalchemy.orm import Session

from backend import sample
from backend.domain import Project, Task
from backend.errors import Refused
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.sample import Drawn
from backend.storage.files import Files

AUTHOR = "sample"
LEFT_TO_DO = 3


def draw(
    files: Files,
    kind: str,
    count: int,
    seed: int = 0,
    look: str = "binary",
    progress: Callable[[int], None] = lambda _: None,
) -> list[NewImage]:
    """Draw and store pictures; takes a while, so do it before a transaction is opened.

    Every third picture comes without its labels, so that there is something to do.
    """
    if not 1 <= count <= 100_000:
        raise Refused(f"A sample has 1 to 100,000 images, not {count:,}.")
    drawn: list[NewImage] = []
    boards = 0
    for one in sample.draw(kind, count, seed, look):
        boards += not one.is_golden
        labelled = not one.is_golden and boards % LEFT_TO_DO != 0
        drawn.append(_stored(files, one, labelled))
        progress(boards)
    return drawn


def create(session: Session, name: str, kind: str, drawn: list[NewImage]) -> Project:
    """Make a project of drawn pictures; the name must be free."""
    project = catalogue.create(session, name, Task.DETECT, sample.CLASSES[kind])
    images.add(session, project.id, drawn, AUTHOR)
    return catalogue.get(session, project.id)


def _stored(files: Files, one: Drawn, labelled: bool) -> NewImage:
    done, encoded = cv2.imencode(".png", one.pixels, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    assert done
    height, width = one.pixels.shape[:2]
    return NewImage(
        name=f"{one.name}.png",
        sha256=files.put(encoded.tobytes()),
        width=width,
        height=height,
        boxes=one.boxes if labelled else (),
        label=one.label if labelled else "",
        split=None if one.is_golden else one.split,
        group=one.group,
        golden=f"{one.golden}.png" if one.golden else "",
        is_golden=one.is_golden,
        labelled=labelled,
    )
