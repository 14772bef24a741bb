"""Decisions on what was found, and what comes of them: figures, files, where a label is from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Literal

from pydantic import Field, FiniteFloat
from starlette.responses import Response

from app.operations.labels import Saved
from app.operations.operation import Asked, Desk, Operation
from app.premises import Premises
from app.routes.review import reports as pages
from backend.domain import Box, Role, Verdict
from backend.review import blind_repeats, judgements, provenance, tally, views
from backend.review.blind_repeats import Agreement
from backend.review.judgements import Judgement
from backend.review.provenance import Link

MOST_IMAGES = 500


@dataclass(frozen=True, slots=True)
class Decided:
    """The images that were decided on, with the versions that stand now."""

    images: Sequence[Saved]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A run against the labels of images that are done, and how well second answers agree."""

    images: int
    right: int
    false_calls: int
    escapes: int
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class Chain:
    """Where a detection or a label comes from, and where it went."""

    name: str
    links: Sequence[Link]


class Missed(Asked):
    """A defect that a run did not find."""

    x1: FiniteFloat
    y1: FiniteFloat
    x2: FiniteFloat
    y2: FiniteFloat
    label: str = Field(max_length=200)


class Judged(Asked):
    """What is said of a detection; an empty verdict takes back what was said.

    Of a classified picture `label` is its class, where it is another than the model's.
    """

    idx: int = Field(ge=0, lt=10**6)
    verdict: Literal["accept", "false_call", ""]
    label: str = Field("", max_length=200)


class JudgedImage(Asked):
    """What is said of an image: of its detections, of missed defects, of the whole board."""

    image: int
    detections: list[Judged] = Field([], max_length=10_000)
    missed: list[Missed] = Field([], max_length=1000)
    board: Literal["pass", "fail", ""] = ""


class Decisions(Asked):
    """Answers on images of a run: all of them count, or none."""

    images: list[JudgedImage] = Field(min_length=1, max_length=MOST_IMAGES)


class ReportForm(Asked):
    """The kind of file."""

    format: Literal["csv", "parquet", "coco", "html", "pdf"] = "csv"


def decide(desk: Desk, run: int, asked: Decisions) -> Decided:
    """Say what is right of a run: accepted becomes a label, missed ones too, false calls do not."""
    views.project_of(desk.session, run)
    saved = []
    for image, parts in groupby(sorted(asked.images, key=_image), _image):
        views.refuse_unseen(desk.session, run, image)
        answer = _answer(list(parts))
        done = judgements.judge(desk.session, run, image, answer, desk.person.name)
        saved.append(Saved(image, done.version))
    return Decided(saved)


def figures(desk: Desk, run: int) -> RunFigures:
    """How a run stands against the labels that there are."""
    found = tally.figures(desk.session, run)
    agreement = blind_repeats.agreement(desk.session, run)
    return RunFigures(found.images, found.right, found.false_calls, found.escapes, agreement)


def report(at: Premises, run: int, asked: ReportForm) -> Response:
    """A run and its decisions as a file: a table, COCO, or a page to be sent and printed."""
    return pages.export(run, asked.format, at)


def why(desk: Desk, subject: str) -> Chain:
    """Where a detection RUN:IMAGE:NUMBER or a label IMAGE:BOX comes from, and where it went."""
    return Chain(subject, provenance.why(desk.session, subject))


OPERATIONS = (
    Operation(
        "POST",
        "/runs/{run}/decide",
        Role.LABELER,
        decide,
        {"run": 12, "images": [{"image": 407, "detections": [{"idx": 0, "verdict": "accept"}]}]},
    ),
    Operation("GET", "/runs/{run}/figures", Role.VIEWER, figures, {"run": 12}, long=True),
    Operation(
        "GET",
        "/runs/{run}/report",
        Role.VIEWER,
        report,
        {"run": 12, "format": "csv"},
        sends="*/*",
    ),
    Operation("GET", "/why/{subject}", Role.VIEWER, why, {"subject": "12:407:0"}),
)

_image = attrgetter("image")


def _answer(said: Sequence[JudgedImage]) -> Judgement:
    """All that is said of one image."""
    judged = [one for part in said for one in part.detections]
    board = next((part.board for part in reversed(said) if part.board), "")
    return Judgement(
        {one.idx: Verdict(one.verdict) if one.verdict else None for one in judged},
        missed=tuple(_missed(said)),
        board=Verdict(board) if board else None,
        classes={one.idx: one.label for one in judged if one.label},
    )


def _missed(said: Sequence[JudgedImage]) -> Iterator[Box]:
    for part in said:
        for one in part.missed:
            yield Box(one.x1, one.y1, one.x2, one.y2, one.label)
