"""The model families, one row each; the implementation is named by a string, never imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.domain import Task
from backend.errors import Invalid


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of model: what a person may choose, and the module that does it."""

    name: str
    title: str
    task: Task
    module: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    needs_golden: bool = False
    needs_labels: bool = True
    from_nothing: bool = False  # learns without start weights, too
    behind: bool = False  # judges what a detector finds, which it carries
    generation: int = 0  # of how it looks: what runs of another one have seen is looked at anew
    small: Mapping[str, Any] = field(default_factory=dict)  # defaults for small pictures


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "golden",
            "Golden board: compares with the clean board, learns from few labels",
            Task.DETECT,
            "workers.families.golden",
            needs_golden=True,
            needs_labels=False,
            generation=1,
        ),
        Family(
            "yolo",
            "YOLO11: quick and accurate",
            Task.DETECT,
            "workers.families.yolo.family",
            {"epochs": 20, "image_size": 640, "batch": 16, "variant": "n"},
            ("n", "s", "m", "l", "x"),
        ),
        Family(
            "faster_rcnn",
            "Faster R-CNN: slower, a second opinion",
            Task.DETECT,
            "workers.families.faster_rcnn",
            {"epochs": 12, "image_size": 640, "batch": 4, "variant": "mobilenet"},
            ("mobilenet", "resnet50", "resnet50_v2"),
        ),
        Family(
            "classifier",
            "Classifier: one class an image",
            Task.CLASSIFY,
            "workers.families.classifier",
            {"epochs": 10, "image_size": 224, "batch": 32, "variant": "resnet18"},
            ("resnet18", "resnet50", "mobilenet", "small"),
            from_nothing=True,
            small={"epochs": 15, "batch": 64, "variant": "small"},
        ),
        Family(
            "second_stage",
            "Second stage: filters the false calls of a detector by the golden board",
            Task.DETECT,
            "workers.families.second_stage",
            needs_golden=True,
            behind=True,
            generation=1,
        ),
    )
}


def find(name: str) -> Family:
    """The family of that name."""
    if name not in FAMILIES:
        raise Invalid(f"There is no model family {name!r}; there are {', '.join(FAMILIES)}.")
    return FAMILIES[name]


def detectors() -> tuple[str, ...]:
    """The families that find boxes by the picture alone."""
    found = (one for one in FAMILIES.values() if one.task is Task.DETECT and not one.needs_golden)
    return tuple(one.name for one in found)


def staged(family: str) -> bool:
    """Whether two stages have a share in its scores."""
    return family in FAMILIES and FAMILIES[family].behind


def comparer(family: str) -> str:
    """Who a sentence says compares a picture with its golden."""
    return "A second stage" if staged(family) else "The golden board"


def answers_once(family: str) -> bool:
    """Whether it gives each picture one class, instead of any number of boxes."""
    return family in FAMILIES and FAMILIES[family].task is Task.CLASSIFY


def with_golden() -> tuple[str, ...]:
    """The families that compare a picture with its golden."""
    return tuple(one.name for one in FAMILIES.values() if one.needs_golden)
