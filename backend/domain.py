"""The nouns of Loupe, as frozen dataclasses; rows of the database never leave backend.

Boxes are corners in float pixels of the original image, everywhere, and name their class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


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


class Role(StrEnum):
    """What a person may do: look; label and review; everything."""

    VIEWER = "viewer"
    LABELER = "labeler"
    ADMIN = "admin"


class JobState(StrEnum):
    """The states of a job; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class Wish(StrEnum):
    """What a person wants of a job while a worker still runs it."""

    CANCEL = "cancel"
    PAUSE = "pause"


class ModelState(StrEnum):
    """The states of a model; one ready model of a project is its champion."""

    TRAINING = "training"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TrialState(StrEnum):
    """The states of a trial; a stopped one lagged behind, or a person stopped it."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class Verdict(StrEnum):
    """What a person said of a detection, of a missed defect, or (pass, fail) of a board."""

    ACCEPT = "accept"
    FALSE_CALL = "false_call"
    MISSED = "missed"
    CORRECT = "correct"
    PASS = "pass"
    FAIL = "fail"


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
class Detection:
    """A box that a run found; idx counts the detections of one image, best first.

    `class_id` is the class that `label` names, if it is one of the project.
    """

    x1: float
    y1: float
    x2: float
    y2: float
    label: str
    score: float
    idx: int = 0
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


@dataclass(frozen=True, slots=True)
class Model:
    """One trained version in a project's registry.

    `classes` are what it knows, named as they are today; two of them have one name once they were
    merged. `class_ids` has what each of them was when it was trained.
    """

    id: int
    project_id: int
    name: str
    family: str
    state: ModelState
    classes: tuple[str, ...]
    champion: bool
    at: datetime
    weights: str = ""
    snapshot_id: int | None = None
    parent_id: int | None = None
    job_id: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    class_ids: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """A family trained with one set of parameters after another, to find better ones.

    At most so many `trials` and `hours` (0: as many as it takes); `state` is that of its job.
    """

    id: int
    project_id: int
    family: str
    snapshot_id: int
    space: str
    seed: int
    state: JobState
    at: datetime
    start: str = ""
    method: str = "random"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trials: int = 0
    hours: float = 0.0
    seconds: float = 0.0
    stopping: bool = False
    job_id: int | None = None
    author: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trial:
    """One set of parameters that a search tries; number 0 changes nothing.

    `epochs` has the figures of each epoch, `value` what it is worth on the validation images.
    """

    search_id: int
    number: int
    state: TrialState
    parameters: Mapping[str, float] = field(default_factory=dict)
    epochs: tuple[Mapping[str, float], ...] = ()
    value: float | None = None
    device: str = ""
    seconds: float = 0.0
    tries: int = 0
    stopping: bool = False
    error: str = ""
    weights: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One model over one set of images; `ledger_key` is equal for runs that must agree."""

    id: int
    model: str
    family: str
    at: datetime
    project_id: int | None = None
    model_id: int | None = None
    weights: str = ""
    runtime: str = ""
    ledger_key: str = ""
    purpose: str = "detect"
    author: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    finished: datetime | None = None
    images: int = 0
    seconds: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunImage:
    """What a run saw in one image; status is ok, unreadable or refused, with the reason."""

    image_id: int
    name: str
    sha256: str = ""
    width: int = 0
    height: int = 0
    status: str = "ok"
    error: str = ""
    milliseconds: float = 0.0
    worker: str = ""
    detections: tuple[Detection, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """A request that a worker carries out; `attempt` fences off a worker that lost it."""

    id: int
    kind: str
    project_id: int | None
    request: Mapping[str, Any]
    state: JobState
    attempt: int
    author: str
    at: datetime
    progress: float = 0.0
    message: str = ""
    error: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    started: datetime | None = None
    finished: datetime | None = None
    worker: str = ""
    wish: Wish | None = None
    failures: int = 0
    priority: int = 0
    after_id: int | None = None


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One line of a job's log, or one point of its curves (`data`)."""

    seq: int
    at: datetime
    level: str
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Person:
    """Who is asking."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Bearer(Person):
    """Who asks by a token, in a person's name: never more than that person may.

    `rank` is the role that the person has, `projects` the only ones that the token enters.
    """

    token: int = 0
    rank: Role = Role.VIEWER
    projects: frozenset[int] | None = None
