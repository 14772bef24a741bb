"""Pictures in, labels out, another program's boxes judged: workers do the work."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from app import premises
from app.edge import login, pools
from app.routes import job_cards
from app.routes.job_cards import JobCard
from backend.domain import Person, Role
from backend.errors import Invalid, NotFound
from backend.formats import format_table, masks, predictions
from backend.jobs import kinds, queue
from backend.labels import export_choice, imports
from backend.models import trainings
from backend.runs import detection

router = APIRouter(
    prefix="/api/projects/{project}", dependencies=[login.SEES], route_class=pools.Pooled
)

DEEPEST = 8
# Of bytes in a part of a name: what file systems take.
LONGEST = 200
TOKEN = re.compile(r"[0-9a-f]{32}")


class ImportForm(BaseModel):
    """What to import: what was uploaded under `token`, or a path of the server."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field("", max_length=32)
    path: str = Field("", max_length=2000)
    format: str = Field("auto", max_length=20)
    masks: str = Field("", max_length=20)
    lot: str = Field("", max_length=300)


class JudgeForm(BaseModel):
    """By which images to judge the file that was uploaded under `token`, and beside which model."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field(max_length=32)
    model: str = Field("", max_length=20)
    split: str = Field("", max_length=10)
    iou: float = 0.5


class ExportForm(BaseModel):
    """How to export, and what; without more words what is done.

    `filter` is Browse's, as it stands in the address; `shares` of the images without a split go to
    train, validation and test.
    """

    model_config = ConfigDict(extra="forbid")
    format: str = Field(max_length=20)
    images: list[int] | None = Field(None, max_length=200_000)
    states: list[str] = Field([], max_length=10)
    splits: list[str] = Field([], max_length=10)
    filter: str = Field("", max_length=4000)
    shares: list[int] = Field([], max_length=3)
    seed: int = Field(0, ge=0, le=10**9)

    def source(self) -> dict[str, Any]:
        """Which images, as the job keeps it."""
        given = self.model_dump(include={*export_choice.SOURCES})
        return {name: value for name, value in given.items() if value not in ([], "", None)}


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of an upload, and how much of it came."""

    name: str
    bytes: int


@router.put("/uploads/{token}/{name:path}", status_code=201)
async def upload(
    project: str,
    token: str,
    name: str,
    request: Request,
    at: premises.At,
    person: login.Labeler,  # noqa: ARG001
) -> UploadedFile:
    """Keep one file of an upload; its name may hold folders."""
    folder = await pools.run(pools.ThreadPool.READ, _folder, at, project, token)
    target = folder / _inside(name)
    await pools.run(pools.ThreadPool.WRITE, at.uploads.begin, folder.name)
    _make_room(target)
    size = 0
    with _whole(target) as out:
        async for chunk in request.stream():
            size += len(chunk)
            at.uploads.take(folder.name, len(chunk))
            out.write(chunk)
    return UploadedFile(name, size)


@router.post("/import", status_code=201)
def import_(project: str, body: ImportForm, at: premises.At, person: login.Labeler) -> JobCard:
    """Queue an import; only an admin may name a path of the server."""
    source = _uploaded(at, project, body.token) if body.token else _path(body.path, person)
    if not source.exists():
        raise NotFound(f"There is nothing at {body.path or 'this upload'} on the server.")
    if body.format != format_table.AUTO:
        format_table.find(body.format)
    masks.check(body.masks)
    lot = body.lot.strip()
    imports.check_lot(lot)
    with at.write() as session:
        found = premises.project(session, project)
        request = kinds.Import(found.id, str(source), body.format, body.masks, lot)
        return job_cards.whole(queue.enqueue(session, request, author=person.name))


@router.post("/judge", status_code=201)
def judge(project: str, body: JudgeForm, at: premises.At, person: login.Labeler) -> JobCard:
    """Queue the measurement of what another program found, which was uploaded as one file."""
    source = _uploaded(at, project, body.token)
    if not source.is_file():
        raise Invalid("Upload one file: COCO results, or a table of boxes.")
    predictions.check(source, source.name)
    stored = at.files.put_file(source)
    with at.write() as session:
        found = premises.project(session, project)
        job = trainings.judge(
            session,
            found.id,
            stored,
            source.name,
            model=body.model,
            split=body.split,
            iou=body.iou,
            author=person.name,
        )
    shutil.rmtree(source.parent, ignore_errors=True)
    return job_cards.whole(job)


@router.post("/export", status_code=201)
def export(project: str, body: ExportForm, at: premises.At, person: login.Viewer) -> JobCard:
    """Queue an export."""
    format_table.find(body.format)
    export_choice.asked(body.source(), body.shares)
    with at.write() as session:
        found = premises.project(session, project)
        detection.check_images(session, found.id, body.source())
        request = kinds.Export(found.id, body.format, body.source(), body.shares, body.seed)
        return job_cards.whole(queue.enqueue(session, request, author=person.name))


@contextmanager
def _whole(target: Path) -> Iterator[BinaryIO]:
    """A file that is gone again where it does not come in to its end."""
    with ExitStack() as broken:
        broken.callback(target.unlink, missing_ok=True)
        with target.open("wb") as out:
            yield out
        broken.pop_all()


def _folder(at: premises.Premises, project: str, token: str) -> Path:
    """Where an upload lies: another project's is not found by its token."""
    with at.read() as session:
        found = premises.project(session, project)
    if not TOKEN.fullmatch(token):
        raise Invalid("An upload is named by 32 hexadecimal digits.")
    return at.settings.uploads / f"{found.id}-{token}"


def _uploaded(at: premises.Premises, project: str, token: str) -> Path:
    """What was uploaded: one file, such as an archive, or a folder of many."""
    folder = _folder(at, project, token)
    files = list(folder.iterdir()) if folder.is_dir() else []
    return files[0] if len(files) == 1 else folder


def _inside(name: str) -> PurePosixPath:
    """A file below the upload's folder, and nowhere else."""
    path = PurePosixPath(name)
    strange = path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name
    if (
        strange
        or not 1 <= len(path.parts) <= DEEPEST
        or any(len(p.encode()) > LONGEST for p in path.parts)
    ):
        raise Invalid(f"{name[:100]!r} is not a name that a file may have here.")
    return path


def _make_room(target: Path) -> None:
    """The file's folder, where no other file of the upload stands in its way."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        taken = True
    else:
        taken = target.is_dir()
    if taken:
        raise Invalid(f"{target.name!r} is a file and a folder in this upload.")


def _path(path: str, person: Person) -> Path:
    login.demand(person, Role.ADMIN)
    if not path or "\0" in path:
        raise Invalid("Name a folder, an archive or a picture on the server, or upload files.")
    try:
        found = Path(path).expanduser()
        found.exists()
    except (OSError, RuntimeError) as error:
        # A name that is too long, or a home of nobody.
        raise Invalid(f"{path[:100]!r} is no place on the server.") from error
    return found
