"""Runs: a model over images of a project or over one file, and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from app import premises
from app.operations import jobs, uploads
from app.operations.jobs import Job
from app.operations.labels import Source
from app.operations.operation import Asked, Desk, Operation, Paged, Received
from app.routes.runs import detection as pages
from backend import domain
from backend.domain import Detection, Role
from backend.review import views
from backend.runs import comparison, detection
from backend.storage import findings


@dataclass(frozen=True, slots=True)
class Run:
    """A model over images; it has the number of its job, and is finished or still runs."""

    id: int
    project: int | None
    model: str
    family: str
    purpose: str
    author: str
    at: datetime
    finished: datetime | None
    images: int
    detections: int
    failed: int


@dataclass(frozen=True, slots=True)
class RunPage:
    """A part of the runs, the newest first; `next` leads to the one after it."""

    items: Sequence[Run]
    next: str


@dataclass(frozen=True, slots=True)
class SeenImage:
    """What a run found in an image; where `status` is not ok, `error` says why."""

    image: int
    name: str
    width: int
    height: int
    status: str
    error: str
    detections: Sequence[Detection]


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A part of the images of a run; `next` leads to the one after it."""

    items: Sequence[SeenImage]
    next: str


@dataclass(frozen=True, slots=True)
class ChangedImage:
    """An image that two runs see differently."""

    image: int
    name: str
    gained: Sequence[Detection]
    lost: Sequence[Detection]


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """Some images that both runs saw: how many, how many the same, and those that differ."""

    images: int
    same: int
    changes: Sequence[ChangedImage]
    next: str


class NewDetection(Source):
    """Which model (`vN`, `champion`, `golden`) looks at which images; nothing means all."""

    model: str = Field("champion", max_length=100)
    confidence: float | None = Field(None, ge=0, le=1)
    runtime: str | None = Field(None, max_length=40)
    precision: str | None = Field(None, max_length=10)
    again: bool | None = None


class FileToLookAt(Asked):
    """What the body is called, and which model looks at it."""

    name: str = Field(max_length=200, description="its ending says what it is")
    model: str = Field("champion", max_length=100)


class Compared(Paged):
    """From which score on detections count."""

    score: float = Field(0.5, ge=0, le=1)


def detect(desk: Desk, project: str, asked: NewDetection) -> Job:
    """Queue a detection over images of a project; its run has the job's number."""
    found = premises.project(desk.session, project)
    options = asked.model_dump(
        include={"confidence", "runtime", "precision", "again"}, exclude_none=True
    )
    job = detection.ask(
        desk.session,
        found.id,
        pages.own_model(asked.model),
        source=asked.source(),
        options=options,
        author=desk.person.name,
    )
    return jobs.shown(job)


def detect_file(desk: Desk, project: str, asked: FileToLookAt, file: Received) -> Job:
    """Look at one picture, the body of the request, that is kept nowhere.

    The job's `result` has its `detections`.
    """
    found = premises.project(desk.session, project)
    model = pages.own_model(asked.model)
    path = uploads.picture(file, asked.name, desk.at.settings.tries)
    with ExitStack() as refused:
        refused.callback(path.unlink, missing_ok=True)
        job = detection.try_one(desk.session, found.id, model, path, desk.person.name)
        refused.pop_all()
    return jobs.shown(job)


def runs(desk: Desk, project: str, asked: Paged) -> RunPage:
    """The runs of a project, the newest first."""
    found = premises.project(desk.session, project)
    seen = findings.runs_before(desk.session, found.id, asked.number(), asked.limit)
    items = [_run(one, findings.counted(desk.session, one)) for one in seen]
    return RunPage(items, str(items[-1].id) if len(items) == asked.limit else "")


def detections(desk: Desk, run: int, asked: Paged) -> SeenPage:
    """What a run found, image by image, best first; images without a detection stand there too."""
    known = findings.get(desk.session, run)
    ids = findings.seen_after(desk.session, known.id, asked.number(), asked.limit)
    found = findings.images(desk.session, known.id, ids)
    items = [_seen(found[id_]) for id_ in ids if id_ in found]
    return SeenPage(items, str(ids[-1]) if len(ids) == asked.limit else "")


def compare(desk: Desk, run: int, before: int, asked: Compared) -> ComparisonPage:
    """What a run gained and lost against an earlier one, image by image."""
    views.refuse_other_project(desk.session, run, before)
    told = comparison.compare(desk.session, before, run, asked.score, asked.number(), asked.limit)
    changes = [ChangedImage(one.image_id, one.name, one.gained, one.lost) for one in told.changes]
    return ComparisonPage(told.images, told.same, changes, str(told.next_id or ""))


OF = "/projects/{project}"
OPERATIONS = (
    Operation(
        "POST",
        f"{OF}/detect",
        Role.LABELER,
        detect,
        {"project": "boards", "model": "champion", "states": ["new"]},
    ),
    Operation(
        "POST",
        f"{OF}/detect-file",
        Role.LABELER,
        detect_file,
        {"project": "boards", "name": "board.png", "model": "champion"},
        takes_file=True,
    ),
    Operation("GET", f"{OF}/runs", Role.VIEWER, runs, {"project": "boards"}),
    Operation("GET", "/runs/{run}/detections", Role.VIEWER, detections, {"run": 12}),
    Operation(
        "GET",
        "/runs/{run}/compare/{before}",
        Role.VIEWER,
        compare,
        {"run": 12, "before": 9},
        long=True,
    ),
)


def _run(one: domain.Run, totals: dict[str, int]) -> Run:
    return Run(
        id=one.id,
        project=one.project_id,
        model=one.model,
        family=one.family,
        purpose=one.purpose,
        author=one.author,
        at=one.at,
        finished=one.finished,
        images=totals["images"],
        detections=totals["detections"],
        failed=totals["failed"],
    )


def _seen(one: domain.RunImage) -> SeenImage:
    return SeenImage(
        one.image_id, one.name, one.width, one.height, one.status, one.error, one.detections
    )
