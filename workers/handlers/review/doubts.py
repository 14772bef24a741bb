"""Labels in doubt: what was found by who did not learn from them, held against each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from backend.domain import Box, Detection, Origin, SnapshotImage
from backend.errors import Refused
from backend.formats import predictions
from backend.jobs import kinds
from backend.models import snapshots
from backend.models.choice import GOLDEN
from backend.review.doubts import asking, inbox, scoring
from backend.review.doubts.inbox import Raised
from backend.review.doubts.pairing import Looked
from backend.review.doubts.scoring import Doubt
from backend.storage import findings
from backend.storage.classes import class_names
from backend.words import many
from workers.context import Context
from workers.families.base import NOTHING, Detections
from workers.handlers.review import folds

PART = 500


@dataclass(frozen=True, slots=True)
class Labelled:
    """The frozen labels: images, and the classes by whose places boxes are told apart."""

    images: tuple[SnapshotImage, ...]
    classes: tuple[str, ...]
    class_ids: tuple[int, ...]


def run(context: Context) -> Mapping[str, Any]:
    """Find the doubts and keep them in place of the last ones; done again, it does the same."""
    request = cast("kinds.Doubts", context.request)
    frozen = labelled(context, request.snapshot_id)
    found = _found(context, request, frozen)
    return hold(context, frozen, found)


def hold(context: Context, frozen: Labelled, found: Mapping[int, Detections]) -> Mapping[str, Any]:
    """Hold the labels against what was found, and keep what is in doubt."""
    request = cast("kinds.Doubts", context.request)
    seen = [one for one in frozen.images if one.id in found]
    context.progress(0.95, "Holding the labels against what was found")
    looked = [Looked(_rows(one.boxes, frozen.classes), found[one.id]) for one in seen]
    doubts = scoring.doubts(looked, len(frozen.classes))
    origin = Origin.GOLDEN if request.family == GOLDEN else Origin.MODEL
    raised = [_raised(one, seen, frozen, origin) for one in doubts]
    with context.database.write.begin() as session:
        context.fence(session)
        kept = inbox.keep(session, request.project_id or 0, context.job.id, raised)
        counts = inbox.count(session, request.project_id or 0)
    labels = sum(len(one.boxes) for one in seen)
    about = f"{many(labels, 'label')} of {many(len(seen), 'image')}"
    context.log(f"{many(kept, 'doubt')} about {about}.")
    return {"doubts": kept, "kinds": counts, "images": len(seen), "labels": labels}


def labelled(context: Context, snapshot_id: int) -> Labelled:
    """The labels as they were frozen."""
    with context.database.read() as session:
        snapshot = snapshots.get(session, snapshot_id)
        images = tuple(snapshots.images(session, snapshot_id))
    return Labelled(images, snapshot.classes, snapshot.class_ids)


def _found(context: Context, request: kinds.Doubts, frozen: Labelled) -> Mapping[int, Detections]:
    """What was found in each image that is told of, by its id."""
    if request.run_id is not None:
        return _of_run(context, request.run_id, frozen)
    if request.file:
        return _of_file(context, request, frozen)
    return folds.found(context, request)


def _of_run(context: Context, run_id: int, frozen: Labelled) -> Mapping[int, Detections]:
    """Of a run, only where its model did not learn from the labels."""
    found: dict[int, Detections] = {}
    with context.database.read() as session:
        run = findings.get(session, run_id)
        honest = asking.unlearned(session, run)
        ids = [one.id for one in frozen.images if one.id in honest]
        for start in range(0, len(ids), PART):
            context.progress(start / len(ids), f"Reading run {run_id}")
            seen = findings.images(session, run_id, ids[start : start + PART])
            for image_id, one in seen.items():
                if one.status == "ok":
                    found[image_id] = _detected(one.detections, frozen.classes)
    if not found:
        raise Refused(f"Run {run_id} has seen no labelled image that its model did not learn from.")
    return found


def _of_file(context: Context, request: kinds.Doubts, frozen: Labelled) -> Mapping[int, Detections]:
    """What another program says; an image that it does not name it was not asked about."""
    images = {one.name: one.id for one in frozen.images}
    path = context.files.local_path(request.file)
    with context.database.read() as session:
        names = class_names.of(session, request.project_id)
    read = predictions.read(path, images, frozen.classes, request.name, names.today)
    if not read.found:
        raise Refused(
            f"{request.name} has no box of a class of this project in any of its "
            f"{many(len(images), 'labelled image')}."
        )
    return {
        images[name]: _detected(detections, frozen.classes)
        for name, detections in read.found.items()
    }


def _detected(found: Sequence[Detection], classes: Sequence[str]) -> Detections:
    rows = [
        (one.x1, one.y1, one.x2, one.y2, one.score, classes.index(one.label))
        for one in found
        if one.label in classes
    ]
    return np.array(rows, np.float32) if rows else NOTHING


def _rows(boxes: Sequence[Box], classes: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    rows = [(b.x1, b.y1, b.x2, b.y2, classes.index(b.label)) for b in boxes]
    return np.array(rows, np.float64).reshape(-1, 5)


def _raised(
    doubt: Doubt, seen: Sequence[SnapshotImage], frozen: Labelled, origin: Origin
) -> Raised:
    image = seen[doubt.picture]
    found = None
    if doubt.index >= 0:
        name, class_id = frozen.classes[doubt.index], frozen.class_ids[doubt.index]
        found = Box(*doubt.box, name, origin, class_id=class_id)
    label = image.boxes[doubt.label] if doubt.label >= 0 else None
    what = (doubt.kind, doubt.certainty, label, found, doubt.score)
    return Raised(image.id, image.sha256, image.version, *what)
