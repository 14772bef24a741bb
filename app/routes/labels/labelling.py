"""Images one after the other with their boxes and proposals; saving, history, restoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from app import premises
from app.edge import login, pools, unusable
from app.routes.labels import image_cards, windows
from app.routes.labels.image_cards import DeskImage
from backend.domain import Box, Origin, Person, Project, Revision, State, Verdict
from backend.errors import Invalid
from backend.labels import gallery, labelling, worklist
from backend.review.deciding import decisions, saves
from backend.runs import placements, proposals

router = APIRouter(prefix="/api", dependencies=[login.SEES], route_class=pools.Pooled)

MOST_BYTES = 4_000_000
MOST_VERSIONS = 10**9
REVISIONS = 100
# Only a page knows that what it saves takes something back; all else is told by what changed.
STEPS = ("undo", "redo")

Index = Annotated[int, Field(ge=0, lt=10**6)]


class Save(BaseModel):
    """All that a person says of an image."""

    model_config = ConfigDict(extra="ignore")
    version: int = Field(ge=0)
    boxes: list[Box] = Field(max_length=labelling.MOST_BOXES)
    state: State | None = None
    label: str | None = Field(None, max_length=200)
    comment: str | None = Field(None, max_length=5000)
    action: str = Field("", max_length=200)
    run: int | None = Field(None, ge=0)
    rejected: list[Index] | None = None
    accepted: list[Index] | None = None
    review: bool = False
    verdict: Literal["", "pass", "fail"] = ""
    seconds: float = Field(0.0, ge=0, allow_inf_nan=False)
    key: str = Field("", max_length=64)


class Restore(BaseModel):
    """Which revision shall be the newest again, and which one the person has seen."""

    model_config = ConfigDict(extra="forbid")
    version: int = Field(ge=0)
    revision: int = Field(ge=0)


@dataclass(frozen=True, slots=True)
class ImagesAround:
    """A window of images around one, and what the canvas must know of the project and who looks."""

    total: int
    position: int
    image: int
    items: Sequence[DeskImage]
    project: Project
    me: Person


@dataclass(frozen=True, slots=True)
class NextImage:
    """The number of an image; 0 where there is none."""

    id: int


@dataclass(frozen=True, slots=True)
class Saved:
    """The version that stands now."""

    version: int


@dataclass(frozen=True, slots=True)
class History:
    """Revisions, newest first, and whether there are older ones."""

    revisions: Sequence[Revision]
    more: bool


async def limited(request: Request) -> bytes:
    """The body of a save, refused before it is read whole when it is too large."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise Invalid(
                f"A save holds at most {MOST_BYTES // 1_000_000} MB and "
                f"{labelling.MOST_BOXES:,} boxes; nothing was saved."
            )
        parts.append(part)
    return b"".join(parts)


Body = Annotated[bytes, Depends(limited)]
# A body that is read by hand is described by hand; what it is made of stands in answers, too.
_SAVE = Save.model_json_schema(ref_template="#/components/schemas/{model}")
_SCHEMA = {name: value for name, value in _SAVE.items() if name != "$defs"}
SAVE = {"requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMA}}}}


@router.get("/projects/{project}/images/{image}/around")
def around(
    project: str,
    image: int,
    request: Request,
    at: premises.At,
    person: login.Viewer,
    before: int = 1,
    after: int = 8,
) -> ImagesAround:
    """A window of images in the order of the filter, and what the page must know of the project."""
    chosen = gallery.parse(request.query_params.multi_items())
    with at.read() as session:
        found = premises.project(session, project)
        window = worklist.around(session, found.id, chosen, image, before, after)
        items = placements.laid(session, window.items)
        ids = [item.image.id for item in items]
        proposed = proposals.best(session, found.id, ids)
        runs = {one.run_id for one in proposed.values()}
        standing = decisions.standing(session, ids, runs) if runs else {}
    at.previews.ahead(windows.large(window.items))
    shown = [
        image_cards.proposed(
            item,
            by,
            _said(standing.get(item.image.id, {}), by, Verdict.FALSE_CALL),
            _said(standing.get(item.image.id, {}), by, Verdict.ACCEPT),
        )
        for item in items
        for by in [proposed.get(item.image.id)]
    ]
    return ImagesAround(window.total, window.position, window.image_id, shown, found, person)


@router.get("/projects/{project}/images/{image}/unlabelled")
def unlabelled(project: str, image: int, request: Request, at: premises.At) -> NextImage:
    """The next image that nobody has looked at; 0 when there is none."""
    chosen = gallery.parse(request.query_params.multi_items())
    with at.read() as session:
        found = premises.project(session, project)
        return NextImage(worklist.next_new(session, found.id, chosen, image))


@router.put("/images/{image}/boxes", openapi_extra=SAVE)
async def save(
    image: int, body: Body, at: premises.At, person: login.Labeler, answer: Response
) -> Saved:
    """Save all boxes of an image over the version that the person has seen."""
    saved = await pools.run(pools.ThreadPool.WRITE, _save, at, image, body, person)
    answer.headers["etag"] = f'"{saved.version}"'
    return Saved(saved.version)


@router.get("/images/{image}/history")
def history(image: int, at: premises.At, before: int = 0) -> History:
    """Revisions, newest first, a hundred at a time: the newest, or those before one of them."""
    if not 0 <= before <= MOST_VERSIONS:
        raise Invalid(f"A version is a number up to {MOST_VERSIONS:,}.")
    with at.read() as session:
        revisions = labelling.history(session, image, before=before, most=REVISIONS)
    more = bool(revisions) and revisions[-1].version > 1
    return History(revisions, more)


@router.post("/images/{image}/restore")
def restore(image: int, body: Restore, at: premises.At, person: login.Labeler) -> Revision:
    """Make an earlier revision the newest; nothing in between is lost."""
    with at.write() as session:
        old = labelling.revision(session, image, body.revision)
        sheet = decisions.Sheet(
            body.version,
            old.boxes,
            old.state,
            old.label,
            old.comment,
            action=f"restore v{body.revision}",
        )
        return saves.save(session, image, sheet, person.name)


def read(body: bytes) -> decisions.Sheet:
    """What a save says of an image."""
    try:
        return _sheet(Save.model_validate_json(body))
    except ValidationError as error:
        raise Invalid(f"This save cannot be used: {unusable.words(error.errors())}.") from error


def _said(
    standing: Mapping[decisions.Subject, decisions.Standing],
    by: proposals.Proposed | None,
    verdict: Verdict,
) -> list[int]:
    return decisions.numbers(standing, by.run_id, verdict) if by else []


def _save(at: premises.Premises, image: int, body: bytes, person: Person) -> Revision:
    wanted = read(body)
    with at.write() as session:
        return saves.save(session, image, wanted, person.name)


def _sheet(body: Save) -> decisions.Sheet:
    return decisions.Sheet(
        version=body.version,
        boxes=tuple(_box(one) for one in body.boxes),
        state=body.state,
        label=body.label,
        comment=body.comment,
        action=body.action if body.action in STEPS else "",
        run_id=body.run,
        rejected=None if body.rejected is None else tuple(body.rejected),
        accepted=None if body.accepted is None else tuple(body.accepted),
        review=body.review,
        verdict=Verdict(body.verdict) if body.verdict else None,
        seconds=body.seconds,
        key=body.key,
    )


def _box(one: Box) -> Box:
    """A box as a page may send it: where it came from, and from whom, is known here."""
    return replace(one, origin=Origin.HUMAN, author="")
