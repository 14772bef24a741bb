"""Pictures in, labels out, another program's boxes judged: workers do the work."""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from app import house, login
from app.routes import shapes
from backend.domain import Person, Role
from backend.errors import Invalid, NotFound, Refused
from backend.formats import registry
from backend.jobs import kinds, queue
from backend.services import training

router = APIRouter(prefix="/api/projects/{project}", dependencies=[login.SEES])

DEEPEST = 8
TOKEN = re.compile(r"[0-9a-f]{32}")
GIGA = 1e9


class Import(BaseModel):
    """What to import: what was uploaded under `token`, or a path of the server."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field("", max_length=32)
    path: str = Field("", max_length=2000)
    format: str = Field("auto", max_length=20)


class Judged(BaseModel):
    """By which images to judge the file that was uploaded under `token`, and beside which model."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field(max_length=32)
    model: str = Field("", max_length=20)
    split: str = Field("", max_length=10)
    iou: float = 0.5


class Export(BaseModel):
    """How to export."""

    model_config = ConfigDict(extra="forbid")
    format: str = Field(max_length=20)


@router.put("/uploads/{token}/{name:path}", status_code=201)
async def upload(
    project: str,
    token: str,
    name: str,
    request: Request,
    at: house.At,
    person: login.Labeler,  # noqa: ARG001
) -> dict[str, Any]:
    """Keep one file of an upload; its name may hold folders."""
    await run_in_threadpool(_exists, at, project)
    target = _folder(at, token) / _inside(name)
    bound = int(at.settings.max_upload_gb * GIGA)
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with target.open("wb") as out:
        async for chunk in request.stream():
            size += len(chunk)
            if size > bound:
                target.unlink()
                raise Refused(f"{name[:100]} is larger than {at.settings.max_upload_gb:g} GB.")
            out.write(chunk)
    return {"name": name, "bytes": size}


@router.post("/import", status_code=201)
def import_(project: str, body: Import, at: house.At, person: login.Labeler) -> dict[str, Any]:
    """Queue an import; only an admin may name a path of the server."""
    source = _uploaded(at, body.token) if body.token else _path(body.path, person)
    if not source.exists():
        raise NotFound(f"There is nothing at {body.path or 'this upload'} on the server.")
    if body.format != registry.AUTO:
        registry.find(body.format)
    with at.write() as session:
        found = house.project(session, project)
        request = kinds.Import(found.id, str(source), body.format)
        return shapes.job(queue.enqueue(session, request, author=person.name))


@router.post("/judge", status_code=201)
def judge(project: str, body: Judged, at: house.At, person: login.Labeler) -> dict[str, Any]:
    """Queue the measurement of what another program found, which was uploaded as one file."""
    source = _uploaded(at, body.token)
    if not source.is_file():
        raise Invalid("Upload one file: COCO results, or a table of boxes.")
    stored = at.files.put_file(source)
    with at.write() as session:
        found = house.project(session, project)
        job = training.judge(
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
    return shapes.job(job)


@router.post("/export", status_code=201)
def export(project: str, body: Export, at: house.At, person: login.Viewer) -> dict[str, Any]:
    """Queue an export."""
    registry.find(body.format)
    with at.write() as session:
        found = house.project(session, project)
        request = kinds.Export(found.id, body.format)
        return shapes.job(queue.enqueue(session, request, author=person.name))


def _exists(at: house.House, project: str) -> None:
    with at.read() as session:
        house.project(session, project)


def _folder(at: house.House, token: str) -> Path:
    if not TOKEN.fullmatch(token):
        raise Invalid("An upload is named by 32 hexadecimal digits.")
    return at.settings.uploads / token


def _uploaded(at: house.House, token: str) -> Path:
    """What was uploaded: one file, such as an archive, or a folder of many."""
    folder = _folder(at, token)
    files = list(folder.iterdir()) if folder.is_dir() else []
    return files[0] if len(files) == 1 else folder


def _inside(name: str) -> PurePosixPath:
    """A file below the upload's folder, and nowhere else."""
    path = PurePosixPath(name)
    strange = path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name
    if strange or not 1 <= len(path.parts) <= DEEPEST or any(len(p) > 200 for p in path.parts):
        raise Invalid(f"{name[:100]!r} is not a name that a file may have here.")
    return path


def _path(path: str, person: Person) -> Path:
    login.demand(person, Role.ADMIN)
    if not path or "\0" in path:
        raise Invalid("Name a folder, an archive or a picture on the server, or upload files.")
    return Path(path).expanduser()
