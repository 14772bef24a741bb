"""Projects, their classes and images, and what people say of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Task(StrEnum):
    """What a project's labels are: rectangles, or one class an image."""

    DETECT = "detect"
    CLASSIFY = "classify"


class Split(StrEnum):
    """What an image is used for; an image without one is assigned when a snapshot is frozen."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"


class State(StrEnum):
    """How far a person has got with an image."""

    NEW = "new"
    STARTED = "started"
    DONE = "done"
    SKIPPED = "skipped"


class Origin(StrEnum):
    """Where a box came from."""

    HUMAN = "human"
    MODEL = "model"
    IMPORT = "import"
    GOLDEN = "golden"


@dataclass(frozen=True, slots=True)
class DetectionRef:
    """Names one detection: the idx-th of an image in a run, by their numbers."""

    run: int
    image: int
    idx: int


@dataclass(frozen=True, slots=True)
class Box:
    """A labelled rectangle. `id` stays the same through every later edit of the box.

    `class_id` is the class that `label` names; where the two differ it goes before the name.
    """

    x1: float
    y1: float
    x2: float
    y2: float
    label: str
    origin: Origin = Origin.HUMAN
    id: str = ""
    detection: DetectionRef | None = None
    author: str = ""
    class_id: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Class:
    """A kind of thing to find; severity counts in the board's verdict."""

    id: int
    index: int
    name: str
    color: str
    hotkey: str
    severity: int = 1


@dataclass(frozen=True, slots=True)
class Project:
    """A collection of images with one set of classes."""

    id: int
    name: str
    task: Task
    classes: tuple[Class, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """A picture of a project; its bytes are the file named by `sha256`."""

    id: int
    project_id: int
    name: str
    sha256: str
    width: int
    height: int
    state: State
    version: int
    split: Split | None = None
    group: str = ""
    golden_id: int | None = None
    is_golden: bool = False
    label: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """All that a person said of an image at one save."""

    image_id: int
    version: int
    author: str
    at: datetime
    action: str
    state: State
    boxes: tuple[Box, ...]
    label: str = ""
    comment: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class SnapshotImage:
    """An image as it stood when a snapshot was frozen."""

    id: int
    name: str
    sha256: str
    width: int
    height: int
    split: Split
    version: int
    boxes: tuple[Box, ...] = ()
    label: str = ""
    group: str = ""
    golden_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Images and revisions frozen for one training; `classes` are named as they are today."""

    id: int
    project_id: int
    seed: int
    classes: tuple[str, ...]
    at: datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    class_ids: tuple[int, ...] = ()
