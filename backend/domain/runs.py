"""What a model found in images, and what people said of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What a person said of a detection, of a missed defect, or (pass, fail) of a board."""

    ACCEPT = "accept"
    FALSE_CALL = "false_call"
    MISSED = "missed"
    CORRECT = "correct"
    PASS = "pass"
    FAIL = "fail"


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
