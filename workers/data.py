"""A snapshot laid out as files on this machine, and its pictures as a model looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np

from backend.domain import SnapshotImage
from backend.errors import NotFound
from backend.services import snapshots
from backend.storage.files import Files
from workers.context import Context
from workers.models.base import Example, Picture, Pixels, TrainingSet


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A snapshot as files, and the ids of its images by name."""

    set: TrainingSet
    ids: Mapping[str, int]


def lay_out(context: Context, snapshot_id: int) -> LaidOut:
    """Fetch what is not on this machine yet; a picture that is lost is named."""
    with context.database.read() as session:
        snapshot = snapshots.get(session, snapshot_id)
        images = list(snapshots.images(session, snapshot_id))
    examples = []
    for number, image in enumerate(images):
        if number % 50 == 0:
            context.progress(0.0, f"Fetching pictures: {number} of {len(images)}")
        examples.append(_example(context.files, image))
    ids = {image.name: image.id for image in images}
    return LaidOut(TrainingSet(snapshot.classes, tuple(examples)), ids)


def pictures(examples: Iterable[Example]) -> Iterable[Picture]:
    """The decoded pictures, each with its golden, one at a time."""
    for example in examples:
        golden = _golden(example.golden) if example.golden else None
        yield Picture(read(example.path, example.name), golden, example.name)


def read(path: Path, name: str) -> Pixels:
    """A picture as it was stored, in colour."""
    pixels = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise NotFound(f"The picture {name} cannot be read any more.")
    return np.asarray(pixels, np.uint8)


@lru_cache(maxsize=8)
def _golden(path: Path) -> Pixels:
    return read(path, path.name)


def _example(files: Files, image: SnapshotImage) -> Example:
    try:
        path = files.local_path(image.sha256)
        golden = files.local_path(image.golden_sha256) if image.golden_sha256 else None
    except NotFound as lost:
        raise NotFound(
            f"The picture {image.name} (or its golden) is not in the store any more: put its file "
            "back, or take the picture out of the project and retrain."
        ) from lost
    return Example(
        path=path,
        width=image.width,
        height=image.height,
        split=image.split,
        boxes=image.boxes,
        label=image.label,
        golden=golden,
        group=image.group,
        name=image.name,
    )
