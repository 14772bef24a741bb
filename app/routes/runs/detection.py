"""Detection as a person asks for it: over images of a project, or over one picture to try."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form, UploadFile
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app import premises
from app.edge import login, pools
from app.routes import job_cards, model_cards
from app.routes.job_cards import JobCard
from app.routes.model_cards import ModelCard
from app.routes.runs import run_cards
from app.routes.runs.run_cards import RunCard
from backend import safe_pictures
from backend.domain import Task
from backend.errors import Invalid, NotFound
from backend.jobs import listing as jobs_of
from backend.jobs import outlook, queue
from backend.labels import gallery
from backend.models import registry
from backend.previews import rendering
from backend.projects import large_pictures
from backend.runs import detection, proposals
from backend.storage import findings
from backend.storage.types import LARGEST_KEY

router = APIRouter(
    prefix="/api/projects/{project}/detect", dependencies=[login.SEES], route_class=pools.Pooled
)

SHOWN = 8
# What the choice of images is counted by.
SOURCES = ("state", "split", "golden")
TRY_BYTES = 64_000_000


class ImageChoice(BaseModel):
    """Which images of the project; nothing means all."""

    model_config = ConfigDict(extra="forbid")
    images: list[int] | None = Field(None, max_length=200_000)
    states: list[str] | None = None
    splits: list[str] | None = None
    groups: list[str] | None = Field(None, max_length=1000)


class Options(BaseModel):
    """How to look; what is None is the engine's own choice."""

    model_config = ConfigDict(extra="forbid")
    confidence: float | None = Field(None, ge=0, le=1)
    runtime: str | None = Field(None, max_length=40)
    precision: str | None = Field(None, max_length=10)
    again: bool | None = None
    device: str | None = Field(None, max_length=10)
    workers: int | None = Field(None, ge=1, le=1024)
    memory_gb: float | None = Field(None, ge=0, le=4096)


class Tiles(BaseModel):
    """How large pictures are looked at from now on."""

    model_config = ConfigDict(extra="forbid")
    wish: str = Field(max_length=10)


class DetectionForm(BaseModel):
    """A detection as the form has it."""

    model_config = ConfigDict(extra="forbid")
    model: str = Field(max_length=1000)
    source: ImageChoice = ImageChoice()
    options: Options = Options()
    key: str = Field("", max_length=100)


class DetectionOrder(DetectionForm):
    """A detection to be made; it begins when the job that it comes `after` is done."""

    after: int | None = Field(None, ge=1, le=LARGEST_KEY)


@dataclass(frozen=True, slots=True)
class AtWork:
    """The newest runs, and the newest jobs that make such."""

    runs: Sequence[RunCard]
    jobs: Sequence[JobCard]


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """How many images there are of each state and split, and with a golden."""

    state: Mapping[str, int]
    split: Mapping[str, int]
    golden: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DetectionChoice(AtWork):
    """What can be looked at, and with what."""

    task: Task
    models: Sequence[ModelCard]
    counts: SourceCounts
    goldens: bool
    tiles: str
    lot: detection.NewestLot | None


@dataclass(frozen=True, slots=True)
class TriedPicture:
    """A look at a picture that is not part of the project, and the picture's size."""

    job: JobCard
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class TriedBox:
    """A box that a try has found."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: str
    score: float


@router.get("")
def form(project: str, at: premises.At) -> DetectionChoice:
    """The models to choose from, the images that there are, and the newest runs."""
    with at.read() as session:
        found = premises.project(session, project)
        ready = [one for one in registry.models(session, found.id) if one.state == "ready"]
        now = _now(session, found.id)
        counted = gallery.counts(session, found.id, gallery.Filter(), SOURCES)
        return DetectionChoice(
            now.runs,
            now.jobs,
            found.task,
            [model_cards.card(one) for one in ready],
            SourceCounts(counted["state"], counted["split"], counted["golden"]),
            bool(detection.goldens(session, found.id)),
            large_pictures.wish(session, found.id),
            detection.newest_lot(session, found.id),
        )


@router.get("/now")
def at_work(project: str, at: premises.At) -> AtWork:
    """The newest runs and their jobs: what goes on while the page stands open."""
    with at.read() as session:
        return _now(session, premises.project(session, project).id)


@router.put("/tiles")
def tile(project: str, body: Tiles, at: premises.At, person: login.Labeler) -> Tiles:  # noqa: ARG001
    """Look at the project's large pictures whole, in tiles, or as their boxes suggest."""
    with at.write() as session:
        large_pictures.choose(session, premises.project(session, project).id, body.wish)
    return body


@router.post("", status_code=201)
def detect(project: str, body: DetectionOrder, at: premises.At, person: login.Labeler) -> JobCard:
    """Queue a detection; the run has the job's number."""
    with at.write() as session:
        found = premises.project(session, project)
        job = detection.ask(
            session,
            found.id,
            own_model(body.model),
            source=body.source.model_dump(exclude_none=True),
            options=body.options.model_dump(exclude_none=True),
            author=person.name,
            key=body.key,
            after=body.after,
        )
        return job_cards.whole(job)


class Places(BaseModel):
    """The images for which boxes are to be proposed."""

    model_config = ConfigDict(extra="forbid")
    source: ImageChoice = ImageChoice()
    key: str = Field("", max_length=100)


@router.post("/propose", status_code=201)
def propose(project: str, body: Places, at: premises.At, person: login.Labeler) -> JobCard:
    """Queue proposals from the goldens."""
    with at.write() as session:
        found = premises.project(session, project)
        source = body.source.model_dump(exclude_none=True)
        return job_cards.whole(proposals.ask(session, found.id, source, person.name, body.key))


@router.post("/try", status_code=201)
def try_one(
    project: str,
    picture: UploadFile,
    model: Annotated[str, Form(max_length=100)],
    at: premises.At,
    person: login.Labeler,
) -> TriedPicture:
    """Queue a look at one picture that is not part of the project; it is answered at once."""
    at.uploads.check_room()
    path = _keep(at.settings.tries, picture)
    with ExitStack() as refused:
        refused.callback(path.unlink, missing_ok=True)
        _, width, height = rendering.glance(path)
        with at.write() as session:
            found = premises.project(session, project)
            job = detection.try_one(session, found.id, own_model(model), path, person.name)
        refused.pop_all()
    return TriedPicture(job_cards.whole(job), width, height)


@router.get("/try/{number}")
def tried(project: str, number: int, at: premises.At) -> list[TriedBox]:
    """What a try has found."""
    with at.read() as session:
        found = premises.project(session, project)
        job = queue.get(session, number)
    if job.kind != "try" or job.project_id != found.id:
        raise NotFound(f"There is no try {number} in this project.")
    return [TriedBox(**one) for one in job.result.get("detections", ())]


def _now(session: Session, project_id: int) -> AtWork:
    runs = findings.runs(session, project_id, most=SHOWN)
    found = [
        one
        for kind in proposals.PURPOSES
        for one in jobs_of.find(session, project_id=project_id, kind=kind, limit=SHOWN)
    ]
    jobs = sorted(found, key=lambda one: one.id, reverse=True)[:SHOWN]
    stands = outlook.outlooks(session, jobs)
    return AtWork(
        [run_cards.card(one, findings.counted(session, one)) for one in runs],
        [job_cards.listed(one, stands[one.id]) for one in jobs],
    )


def own_model(name: str) -> str:
    """A model of the project; a file of the server is for the command line alone."""
    if "/" in name or "\\" in name or "." in name:
        raise Invalid(f"{name[:60]!r} is not a model of this project.")
    return name


def _keep(folder: Path, picture: UploadFile) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    content = picture.file.read(TRY_BYTES + 1)
    if len(content) > TRY_BYTES:
        raise Invalid("The picture is larger than 64 MB; import it into the project instead.")
    path = folder / secrets.token_hex(8)
    path.write_bytes(content)
    try:
        kind = safe_pictures.header(str(path), (picture.filename or "This")[:100]).format
    except Invalid:
        path.unlink()
        raise
    return path.rename(path.with_suffix(safe_pictures.SUFFIXES[kind]))
