"""Runs, boards and detections as a review shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from app.routes.labels import image_cards
from app.routes.labels.image_cards import BoardVerdict, DeskImage, Proposal
from backend.domain import Box, Person, Project, State
from backend.review import views
from backend.review.deciding import decisions
from backend.review.provenance import Link
from backend.review.views import ReviewRule, RunSummary


@dataclass(frozen=True, slots=True)
class ReviewedRun:
    """A run with what it found of each class, and how far people are with it."""

    id: int
    model: str
    family: str
    author: str
    at: datetime
    finished: datetime | None
    seconds: float
    images: int
    detections: int
    classes: Mapping[str, int]
    reviewed: int


@dataclass(frozen=True, slots=True)
class TakenImages:
    """Images for one person, how many others have, and what the canvas must know besides.

    `total` and `open` are said with the first images alone.
    """

    items: Sequence[DeskImage]
    total: int
    open: int
    others: int
    held_by: str
    running: bool
    rule: ReviewRule
    project: Project
    me: Person


@dataclass(frozen=True, slots=True)
class ImagesOfRun:
    """Images of a run as they stand now."""

    items: Sequence[DeskImage]


@dataclass(frozen=True, slots=True)
class PastSheet:
    """All that was said of an image at an earlier save."""

    boxes: Sequence[Box]
    state: State
    label: str
    run: int | None
    rejected: Sequence[int]
    accepted: Sequence[int]
    verdict: BoardVerdict


@dataclass(frozen=True, slots=True)
class PastSheets:
    """What can be gone back to of an image, the nearest last."""

    image: int
    past: Sequence[PastSheet]


@dataclass(frozen=True, slots=True)
class WallTile(Proposal):
    """A detection of the wall with what it is drawn from, and what was said of it."""

    image: int = 0
    sha256: str = ""
    width: int = 0
    height: int = 0
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class WallPage:
    """A part of the wall; how many detections of each class there are, with the first part."""

    total: int
    classes: Mapping[str, int]
    tiles: Sequence[WallTile]


@dataclass(frozen=True, slots=True)
class SweptImage:
    """What came of the verdicts on one image: the version that was saved, or why none was."""

    image: int
    version: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SweptImages:
    """What came of a sweep, image by image."""

    answers: Sequence[SweptImage]


@dataclass(frozen=True, slots=True)
class HeldImages:
    """How many images a tab still holds."""

    held: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Where a detection or a label comes from, and where it went."""

    name: str
    links: Sequence[Link]


def run(one: RunSummary) -> ReviewedRun:
    """A run among others."""
    of = one.run
    return ReviewedRun(
        id=of.id,
        model=of.model,
        family=of.family,
        author=of.author,
        at=of.at,
        finished=of.finished,
        seconds=of.seconds,
        images=one.seen,
        detections=one.detections,
        classes=one.classes,
        reviewed=one.reviewed,
    )


def sheet(one: decisions.Sheet) -> PastSheet:
    """What was said of an image, to go back to."""
    return PastSheet(
        boxes=one.boxes,
        state=one.state or State.NEW,
        label=one.label or "",
        run=one.run_id,
        rejected=one.rejected or (),
        accepted=one.accepted or (),
        verdict=cast(BoardVerdict, one.verdict or ""),
    )


def tile(run_id: int, one: views.Tile) -> WallTile:
    """A detection of the wall."""
    picture = (one.image_id, one.sha256, one.width, one.height)
    return WallTile(*(*image_cards.told(run_id, one.detection), *picture, one.verdict))
