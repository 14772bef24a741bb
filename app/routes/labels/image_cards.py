"""Images as pages are shown them, with their boxes and with what a run proposes for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal, cast

from backend.domain import Box, Detection, Split, State
from backend.labels.gallery import GalleryImage
from backend.review.views import Reviewed
from backend.runs.proposals import Proposed

BoardVerdict = Literal["", "pass", "fail"]


@dataclass(frozen=True, slots=True)
class GoldenCard:
    """The golden of an image, and how it lies on it: six numbers, or none."""

    id: int
    sha256: str
    lie: Sequence[float]


@dataclass(frozen=True, slots=True)
class ImageCard:
    """An image with all that a page draws of it."""

    id: int
    name: str
    sha256: str
    width: int
    height: int
    state: State
    split: Split | None
    group: str
    version: int
    label: str
    comment: str
    author: str
    golden: GoldenCard | None
    boxes: Sequence[Box]


@dataclass(frozen=True, slots=True)
class Proposal(Detection):
    """A detection of a run as the canvas draws it."""

    run: int = 0


@dataclass(frozen=True, slots=True)
class DeskImage(ImageCard):
    """An image on the canvas, with what `run` proposes and what was said of that by numbers.

    A `repeat` was judged before and is shown unmarked; its number is below zero. `chances` are
    those of the classes, the likeliest first, where the image has one answer.
    """

    proposals: Sequence[Proposal] = ()
    proposer: str = ""
    run: int | None = None
    rejected: Sequence[int] = ()
    accepted: Sequence[int] = ()
    verdict: BoardVerdict = ""
    repeat: bool = False
    chances: Mapping[str, float] = field(default_factory=dict)


OF_DETECTION = attrgetter(*(one.name for one in fields(Detection)))


def card(one: GalleryImage) -> ImageCard:
    """An image with its boxes alone."""
    return ImageCard(**_shown(one))


def proposed(
    one: GalleryImage, by: Proposed | None, rejected: Sequence[int], accepted: Sequence[int]
) -> DeskImage:
    """An image with what the best model proposes for it, if one has seen it."""
    if by is None:
        return DeskImage(**_shown(one))
    return DeskImage(
        **_shown(one),
        proposals=proposals(by.run_id, by.detections),
        proposer=by.proposer,
        run=by.run_id,
        rejected=rejected,
        accepted=accepted,
        chances=by.chances,
    )


def reviewed(one: Reviewed, repeat: bool = False) -> DeskImage:
    """An image with what a run found in it, and what people said of that."""
    shown = _shown(one.item)
    if repeat:
        shown["id"] = -one.item.image.id
    return DeskImage(
        **shown,
        proposals=proposals(one.run_id, one.detections),
        run=one.run_id,
        rejected=one.rejected,
        accepted=one.accepted,
        verdict=cast(BoardVerdict, one.verdict),
        repeat=repeat,
        chances=one.chances,
    )


def proposals(run: int, found: Iterable[Detection]) -> list[Proposal]:
    """Detections of a run as the canvas draws them."""
    return [Proposal(*told(run, one)) for one in found]


def told(run: int, one: Detection) -> tuple[Any, ...]:
    """What a page is told of a detection, in the order of a proposal's fields."""
    return (*OF_DETECTION(one), run)


def _shown(one: GalleryImage) -> dict[str, Any]:
    image = one.image
    golden = image.golden_id and GoldenCard(image.golden_id, one.golden_sha256, one.lie)
    return {
        "id": image.id,
        "name": image.name,
        "sha256": image.sha256,
        "width": image.width,
        "height": image.height,
        "state": image.state,
        "split": image.split,
        "group": image.group,
        "version": image.version,
        "label": image.label,
        "comment": image.comment,
        "author": one.author,
        "golden": golden or None,
        "boxes": one.boxes,
    }
