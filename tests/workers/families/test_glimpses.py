"""What a family shows of a training is what it learns from: boxes lie where the things lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backend import families
from tests.workers.families import drawn
from workers.families import base
from workers.families.base import Parameters, Seen, TrainingSet

DETECTORS = ["yolo", "faster_rcnn"]
STILL = {"mosaic": 0, "scale": 0, "shift": 0, "light": 0, "hsv_h": 0, "hsv_s": 0, "upside_down": 0}


def seen(family: str, data: TrainingSet, **extra: float) -> list[Seen]:
    module = base.implementation(family)
    assert isinstance(module, base.Seeing)
    return list(module.seen(data, Parameters(image_size=96, extra=extra), 2000))


def inside(one: Seen) -> list[tuple[str, float]]:
    """How bright the middle of each box is."""
    found = []
    for x1, y1, x2, y2, class_ in one.boxes:
        x, y, w, h = (x1 + x2) / 2, (y1 + y2) / 2, (x2 - x1) / 5, (y2 - y1) / 5
        middle = one.pixels[int(y - h) : int(y + h) + 1, int(x - w) : int(x + w) + 1]
        found.append((drawn.CLASSES[int(class_)], float(middle.mean())))
    return found


@pytest.mark.parametrize("name", families.FAMILIES)
def test_every_family_that_changes_pictures_shows_them(name: str) -> None:
    changes = not families.find(name).needs_golden
    assert isinstance(base.implementation(name), base.Seeing) == changes


@pytest.mark.parametrize("family", DETECTORS)
def test_boxes_lie_where_the_things_lie(family: str, tmp_path: Path) -> None:
    shown = seen(family, drawn.shapes(tmp_path, 24))
    assert len(shown) == 24
    things = [one for each in shown for one in inside(each)]
    assert len(things) >= 24
    right = [light < 100 if label == "square" else light > 150 for label, light in things]
    assert np.mean(right) > 0.7  # one may lie on another, or be cut at an edge


def test_what_is_set_for_yolo_is_seen(tmp_path: Path) -> None:
    data = drawn.shapes(tmp_path)
    for mirror in (0.0, 1.0):
        for one, example in zip(
            seen("yolo", data, **STILL, mirror=mirror), data.examples, strict=True
        ):
            lefts = [96 - box.x2 if mirror else box.x1 for box in example.boxes]
            assert sorted(one.boxes[:, 0]) == pytest.approx(sorted(lefts), abs=0.1)
    assert max(len(one.boxes) for one in seen("yolo", data, mosaic=1.0)) > 2


def test_a_classifier_shows_each_picture_with_its_class(tmp_path: Path) -> None:
    data = drawn.single(tmp_path)
    plain = seen("classifier", data, shift=0, mirror=0, light=0)
    grey = seen("classifier", data, shift=0, mirror=0, light=0, erase=1)
    assert [one.label for one in plain] == [one.label for one in data.examples]
    for before, after in zip(plain, grey, strict=True):
        changed = (before.pixels != after.pixels).any(axis=2)
        assert (after.pixels[changed] == 114).all()
        assert changed.any()
