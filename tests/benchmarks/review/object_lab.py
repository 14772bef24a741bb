"""cleanlab's ObjectLab on the same labels and the same out-of-fold finds, as lists to be ranked."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.domain import Box, SnapshotImage
from tests.benchmarks.review import label_damage
from tests.benchmarks.review.label_damage import Damage
from workers.families.base import Detections

About = tuple[tuple[int, ...], ...]


def ranked(
    images: Sequence[SnapshotImage],
    classes: Sequence[str],
    found: Mapping[int, Detections],
    damages: Sequence[Damage],
) -> dict[str, About]:
    """Its scores of boxes in one list, and of images, the worst first; nothing without cleanlab."""
    try:
        rank = importlib.import_module("cleanlab.object_detection.rank")
    except ImportError:
        return {}
    seen = [one for one in images if one.id in found]
    labels = [_labels(image, classes) for image in seen]
    finds = [_finds(found[image.id], len(classes)) for image in seen]
    doubted: list[tuple[float, tuple[int, ...]]] = []
    for name in ("overlooked", "badloc", "swap"):
        scores = getattr(rank, f"compute_{name}_box_scores")(labels=labels, predictions=finds)
        for image, its, these in zip(seen, finds, scores, strict=True):
            boxes = _boxes(its, classes) if name == "overlooked" else list(image.boxes)
            for box, score in zip(boxes, these, strict=True):
                if not np.isnan(score):
                    label, shown = (None, box) if name == "overlooked" else (box, None)
                    about = label_damage.about(damages, image.id, label, shown)
                    doubted.append((float(score), tuple(about)))
    doubted.sort(key=lambda one: one[0])
    quality = rank.get_label_quality_scores(labels, finds, verbose=False)
    whole = [of_image(damages, seen[at].id) for at in np.argsort(quality, kind="stable")]
    return {"ObjectLab": tuple(about for _, about in doubted), "ObjectLab, by image": tuple(whole)}


def of_image(damages: Sequence[Damage], image: int) -> tuple[int, ...]:
    """All that was damaged in an image."""
    return tuple(at for at, one in enumerate(damages) if one.image == image)


def _labels(image: SnapshotImage, classes: Sequence[str]) -> dict[str, Any]:
    corners = [(one.x1, one.y1, one.x2, one.y2) for one in image.boxes]
    return {
        "bboxes": np.array(corners, np.float64).reshape(-1, 4),
        "labels": np.array([classes.index(one.label) for one in image.boxes], np.int64),
    }


def _finds(rows: Detections, classes: int) -> Any:
    """A list a class, of rows of corners and score."""
    found = np.empty(classes, object)
    for index in range(classes):
        found[index] = rows[rows[:, 5] == index][:, :5].astype(np.float64)
    return found


def _boxes(found: Any, classes: Sequence[str]) -> list[Box]:
    return [
        Box(row[0], row[1], row[2], row[3], classes[index])
        for index, rows in enumerate(found)
        for row in rows.tolist()
    ]
