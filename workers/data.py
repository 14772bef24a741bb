"""A snapshot laid out as files on this machine, and its pictures as a model looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from backend.domain import Model, SnapshotImage
from backend.errors import Damaged, Invalid, NotFound
from backend.models import snapshots
from backend.projects import catalogue
from backend.storage.classes import class_names, figures
from backend.storage.classes.class_names import Naming
from backend.storage.files import Files
from workers.context import Context
from workers.families.base import Example, Picture, Pixels, TrainingSet


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A snapshot as files, with the ids of its images and of its classes by name.

    A class may be renamed while a job goes on; for the job it stays what `names` say.
    """

    set: TrainingSet
    ids: Mapping[str, int]
    names: Naming
    classes: Mapping[str, int]

    def known(self, model: Model) -> tuple[str, ...]:
        """What a model of the registry knows, as the set calls it."""
        return tuple(map(self.names.name, model.class_ids, model.classes))

    def kept(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Figures of the set's classes as they are kept."""
        return figures.keyed(found, self.classes)


def lay_out(context: Context, snapshot_id: int) -> LaidOut:
    """Fetch what is not on this machine yet; a picture that is lost is named."""
    with context.database.read() as session:
        snapshot = snapshots.get(session, snapshot_id)
        images = list(snapshots.images(session, snapshot_id))
        names = class_names.of(session, snapshot.project_id)
    examples = []
    for number, image in enumerate(images):
        if number % 50 == 0:
            context.progress(None, f"Fetching pictures: {number} of {len(images)}")
        examples.append(_example(context.files, image))
    ids = {image.name: image.id for image in images}
    classes = dict(zip(snapshot.classes, snapshot.class_ids, strict=True))
    return LaidOut(TrainingSet(snapshot.classes, tuple(examples)), ids, names, classes)


def some(context: Context, ids: Iterable[int]) -> TrainingSet:
    """Some images of the job's project with their labels of now."""
    project_id = context.job.project_id
    assert project_id is not None  # who asks is refused without one
    with context.database.read() as session:
        classes = tuple(kind.name for kind in catalogue.get(session, project_id).classes)
        images = snapshots.some(session, ids)
    return TrainingSet(classes, tuple(_example(context.files, image) for image in images))


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
        path = files.intact_path(image.sha256)
        golden = files.intact_path(image.golden_sha256) if image.golden_sha256 else None
    except NotFound as lost:
        raise NotFound(
            f"The picture {image.name} (or its golden) is not in the store any more: put its file "
            "back, or take the picture out of the project and retrain."
        ) from lost
    except Damaged as changed:
        raise Invalid(
            f"The picture {image.name} (or its golden) is not what came in: bytes of its file have "
            "changed. Bring the file back from a backup, or take the picture out of the project "
            "and retrain."
        ) from changed
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
