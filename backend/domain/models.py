"""Models, and the searches and trials that lead to better ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.jobs import JobState


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
