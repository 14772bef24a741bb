"""Runs as files for other programs, and two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import BinaryIO

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from app import premises, run_sheet
from app.edge import login, pools
from app.routes.labels import image_cards
from app.routes.labels.image_cards import Proposal
from backend.errors import Invalid
from backend.review import agenda, blind_repeats, filtering, reports, tally, views
from backend.review.agenda import RuledBoards
from backend.review.blind_repeats import Agreement
from backend.review.boards import sheet
from backend.review.filtering import Filtered
from backend.runs import comparison
from backend.storage import engine

router = APIRouter(prefix="/api/runs/{run}", dependencies=[login.SEES], route_class=pools.Pooled)

KINDS = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "coco": "application/json",
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
}
ENDINGS = {"csv": "csv", "parquet": "parquet", "coco": "json", "html": "html", "pdf": "pdf"}
PART = 1_000_000


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A run against the labels, what the rule says of it, and how well second answers agree."""

    images: int
    right: int
    false_calls: int
    escapes: int
    agreement: Agreement
    ruled: RuledBoards
    filtered: Filtered | None


@dataclass(frozen=True, slots=True)
class ChangedImage:
    """What a run gained and lost in an image."""

    image: int
    name: str
    sha256: str
    width: int
    height: int
    gained: Sequence[Proposal]
    lost: Sequence[Proposal]


@dataclass(frozen=True, slots=True)
class ChangedImages:
    """A part of the images in which two runs differ; `next` is the one to go on with, or 0."""

    images: int
    same: int
    next: int
    changes: Sequence[ChangedImage]


@router.get("/export/{name}")
@pools.heavy
def export(run: int, name: str, at: premises.At) -> StreamingResponse:
    """The run and its decisions as one file."""
    if name not in KINDS:
        raise Invalid(f"A run is exported as {', '.join(KINDS)}, not {name[:40]!r}.")
    written = _written(at, run, name)
    place = f'attachment; filename="run-{run}.{ENDINGS[name]}"'
    headers = {"content-disposition": place, "content-length": str(written.tell())}
    return StreamingResponse(_parts(written), media_type=KINDS[name], headers=headers)


@router.get("/figures")
@pools.heavy
def figures(run: int, at: premises.At) -> RunFigures:
    """The run against the labels, what the rule says, and how well second answers agree."""
    with at.read() as session:
        found = tally.figures(session, run)
        return RunFigures(
            found.images,
            found.right,
            found.false_calls,
            found.escapes,
            blind_repeats.agreement(session, run),
            agenda.ruled(session, run),
            filtering.figures(session, run),
        )


@router.get("/groups")
def groups(run: int, at: premises.At) -> list[str]:
    """The lots that a review can be narrowed to."""
    with at.read() as session:
        return views.groups(session, run)


@router.get("/against/{before}")
@pools.heavy
def against(
    run: int, before: int, at: premises.At, score: float = 0.5, start: int = 0
) -> ChangedImages:
    """What this run gained and lost against an earlier one, image by image."""
    with at.read() as session:
        views.refuse_other_project(session, run, before)
        found = comparison.compare(session, before, run, score, start)
    changes = [
        ChangedImage(
            one.image_id,
            one.name,
            one.sha256,
            one.width,
            one.height,
            image_cards.proposals(run, one.gained),
            image_cards.proposals(before, one.lost),
        )
        for one in found.changes
    ]
    return ChangedImages(found.images, found.same, found.next_id, changes)


def _written(at: premises.Premises, run: int, name: str) -> BinaryIO:
    """The whole file, as a slow reader must hold no connection; nothing of it stays behind."""
    at.settings.exports.mkdir(parents=True, exist_ok=True)
    with ExitStack() as unwritten:
        file = unwritten.enter_context(TemporaryFile(dir=at.settings.exports))
        if name in run_sheet.KINDS:
            file.writelines(_page(at, run, name))
        else:
            with at.read() as session:
                views.project_of(session, run)
                file.writelines(reports.write(session, run, name))
        unwritten.pop_all()
    return file


def _page(at: premises.Premises, run: int, name: str) -> Iterator[bytes]:
    """Its pictures are made once the database has been asked."""
    with at.read() as session:
        engine.at_one_moment(session)
        read = sheet.read(session, run)
    return run_sheet.write(read, at.previews, at.asker.name if at.asker else "", name)


def _parts(written: BinaryIO) -> Iterator[bytes]:
    with written:
        written.seek(0)
        while part := written.read(PART):
            yield part
