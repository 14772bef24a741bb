"""Runs to review, the queue that gives each image to one person, the wall, and its sweeps."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app import premises
from app.edge import login, pools
from app.routes import shapes
from app.routes.labels import labelling
from backend.domain import Person, Role, Verdict
from backend.errors import NotFound, Refused
from backend.projects import catalogue
from backend.review import (
    agenda,
    blind_repeats,
    decisions,
    judgements,
    provenance,
    takebacks,
    views,
)
from backend.storage import findings

router = APIRouter(prefix="/api", dependencies=[login.SEES], route_class=pools.Pooled)


class Take(BaseModel):
    """Who wants the next images, and where the person stands."""

    model_config = ConfigDict(extra="forbid")
    holder: str = Field(min_length=1, max_length=100)
    after: int = Field(0, ge=0)
    wanted: int = Field(0, ge=0)
    count: int = Field(4, ge=1, le=agenda.MOST)


class Holder(BaseModel):
    """The tab that holds images."""

    model_config = ConfigDict(extra="forbid")
    holder: str = Field(min_length=1, max_length=100)


class WallVerdict(BaseModel):
    """What was said of one detection of the wall."""

    model_config = ConfigDict(extra="forbid")
    image: int
    idx: int = Field(ge=0)
    verdict: Literal["accept", "false_call", ""]


class Sweep(BaseModel):
    """Many detections of a run, judged at once; an empty verdict takes one back.

    What is sent a second time under its `key` is answered, not judged again.
    """

    model_config = ConfigDict(extra="forbid")
    key: str = Field("", max_length=64)
    items: list[WallVerdict] = Field(min_length=1, max_length=views.MOST_TILES)


class RuleForm(BaseModel):
    """When a board fails; `version` is that of the rule which the person has changed."""

    model_config = ConfigDict(extra="ignore")
    version: int = Field(0, ge=0)
    threshold: float = Field(0.5, ge=0, le=1)
    thresholds: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict, max_length=1000
    )
    severity: int = Field(1, ge=0, le=10)
    repeats: float = Field(0.0, ge=0, le=0.5)


@router.get("/projects/{project}/runs")
def runs(project: str, at: premises.At) -> list[dict[str, Any]]:
    """The runs of a project, newest first."""
    with at.read() as session:
        found = views.runs(session, premises.project(session, project).id)
    return [_run(one) for one in found]


@router.post("/runs/{run}/take")
def take(
    run: int, body: Take, request: Request, at: premises.At, person: login.Viewer
) -> dict[str, Any]:
    """The next images of a run for one person; those who only look reserve nothing."""
    choice = agenda.parse(request.query_params.multi_items())
    if not login.allows(person, Role.LABELER):
        return _look(run, body, choice, at, person)
    with at.write() as session:
        views.project_of(session, run)
        taken = agenda.take(
            session,
            run,
            choice,
            body.holder,
            person.name,
            after=body.after,
            wanted=body.wanted,
            count=body.count,
        )
        held = agenda.held_by(session, run, body.wanted, body.holder) if body.wanted else ""
    # Others may save while this is looked up.
    with at.read() as session:
        project = catalogue.get(session, views.project_of(session, run))
        total, still = (0, 0) if body.after else agenda.counts(session, run, choice)
        found = views.items(session, run, taken.image_ids)
        rule = views.rule(session, project.id)
        again = _repeat(session, run, person, rule["repeats"])
        running = findings.get(session, run).finished is None
    return {
        "items": [*(_item(one) for one in found), *again],
        "total": total,
        "open": still,
        "others": taken.others,
        "held_by": held,
        "running": running,
        "rule": rule,
        **labelling.about(project, person),
    }


@router.get("/runs/{run}/images/{image}")
def image(run: int, image: int, at: premises.At) -> dict[str, Any]:
    """One image of a run as it stands now."""
    with at.read() as session:
        views.refuse_unseen(session, run, image)
        found = views.items(session, run, [image])
    return {"items": [_item(one) for one in found]}


@router.get("/runs/{run}/undo")
def undo(run: int, at: premises.At, person: login.Labeler, image: int = 0) -> dict[str, Any]:
    """What Z goes back to: of this image, else of the last one on which the person decided."""
    with at.read() as session:
        views.project_of(session, run)
        if image:
            views.refuse_unseen(session, run, image)
        here = takebacks.past(session, run, image, person.name) if image else ()
        chosen = image if here else takebacks.last(session, run, person.name)
        past = here or (takebacks.past(session, run, chosen, person.name) if chosen else ())
    return {"image": chosen, "past": [_sheet(one) for one in past]}


@router.put("/runs/{run}/repeats/{image}")
async def repeat(
    run: int, image: int, body: labelling.Body, at: premises.At, person: login.Labeler
) -> dict[str, int]:
    """Keep a second, blind answer; the labels and the first answer stay as they are."""
    sheet = labelling.read(body)
    await pools.run(pools.ThreadPool.WRITE, _record, at, run, image, sheet, person)
    return {"version": sheet.version}


@router.post("/runs/{run}/renew")
def renew(run: int, body: Holder, at: premises.At) -> dict[str, int]:
    """Keep what a tab holds."""
    with at.write() as session:
        views.project_of(session, run)
        return {"held": agenda.renew(session, run, body.holder)}


@router.post("/runs/{run}/give-back")
def give_back(run: int, body: Holder, at: premises.At) -> dict[str, bool]:
    """Let others have what a tab held."""
    with at.write() as session:
        views.project_of(session, run)
        agenda.give_back(session, run, body.holder)
    return {"done": True}


@router.get("/runs/{run}/wall")
def wall(run: int, label: str, at: premises.At, offset: int = 0, limit: int = 96) -> dict[str, Any]:
    """Detections of one class, the most doubtful first."""
    with at.read() as session:
        views.project_of(session, run)
        total, tiles = views.wall(session, run, label, offset, limit)
        classes = {} if offset else views.wall_classes(session, run)
    return {"total": total, "classes": classes, "tiles": [_tile(run, one) for one in tiles]}


@router.post("/runs/{run}/decide")
def decide(run: int, body: Sweep, at: premises.At, person: login.Labeler) -> dict[str, Any]:
    """Judge many detections at once, image by image, over whatever stands there now.

    Each image has an answer of its own: the version that was saved, or why none was.
    """
    by_image: dict[int, dict[int, Verdict | None]] = {}
    for one in body.items:
        verdict = Verdict(one.verdict) if one.verdict else None
        by_image.setdefault(one.image, {})[one.idx] = verdict
    with at.read() as session:
        views.project_of(session, run)
    answers: list[dict[str, Any]] = []
    for image_id, verdicts in by_image.items():
        answer = judgements.Answer(verdicts, key=body.key)
        answers.append({"image": image_id, **_judge(at, run, image_id, answer, person.name)})
    return {"answers": answers}


@router.put("/projects/{project}/review-rule")
def set_rule(
    project: str, body: RuleForm, at: premises.At, person: login.Labeler
) -> dict[str, Any]:
    """Change when a board fails; gives the rule as it stands then."""
    wanted = body.model_dump(exclude={"version"})
    with at.write() as session:
        found = premises.project(session, project)
        return views.set_rule(session, found.id, wanted, body.version, person.name)


@router.get("/why/{subject}")
def why(subject: str, at: premises.At) -> dict[str, Any]:
    """Where a detection (RUN:IMAGE:NUMBER) or a label (IMAGE:BOX) comes from, and where it went."""
    with at.read() as session:
        chain = provenance.why(session, subject)
    links = [{"what": link.what, "text": link.text, "facts": link.facts} for link in chain]
    return {"name": subject, "links": links}


def _look(
    run: int, body: Take, choice: agenda.Choice, at: premises.Premises, person: Person
) -> dict[str, Any]:
    with at.read() as session:
        project = catalogue.get(session, views.project_of(session, run))
        shown = agenda.look(
            session, run, choice, after=body.after, wanted=body.wanted, count=body.count
        )
        total, still = agenda.counts(session, run, choice)
        found = views.items(session, run, shown.image_ids)
        rule = views.rule(session, project.id)
    return {
        "items": [_item(one) for one in found],
        "total": total,
        "open": still,
        "others": shown.others,
        "held_by": "",
        "rule": rule,
        **labelling.about(project, person),
    }


def _repeat(session: Session, run: int, person: Person, share: float) -> list[dict[str, Any]]:
    """A board to be judged again, as if it were new; its number is negative, so it is no label."""
    image = blind_repeats.due(session, run, person.name, share)
    if not image:
        return []
    (seen,) = views.items(session, run, [image])
    return [_item(blind_repeats.blind(session, seen)) | {"id": -image, "repeat": True}]


def _judge(
    at: premises.Premises, run: int, image: int, answer: judgements.Answer, author: str
) -> dict[str, Any]:
    """One image of a sweep; what stands in its way holds up no other."""
    try:
        with at.write() as session:
            return {"version": judgements.judge(session, run, image, answer, author).version}
    except (NotFound, Refused) as error:
        return {"error": str(error)}


def _record(
    at: premises.Premises, run: int, image: int, sheet: decisions.Sheet, person: Person
) -> None:
    with at.write() as session:
        blind_repeats.record(session, run, image, sheet, person.name)


def _run(one: views.RunSummary) -> dict[str, Any]:
    run = one.run
    return {
        "id": run.id,
        "model": run.model,
        "family": run.family,
        "author": run.author,
        "at": run.at.isoformat(),
        "finished": run.finished and run.finished.isoformat(),
        "seconds": run.seconds,
        "images": one.seen,
        "detections": one.detections,
        "classes": dict(one.classes),
        "reviewed": one.reviewed,
    }


def _sheet(one: decisions.Sheet) -> dict[str, Any]:
    return {
        "boxes": [shapes.box(box) for box in one.boxes],
        "state": one.state,
        "label": one.label,
        "run": one.run_id,
        "rejected": one.rejected,
        "accepted": one.accepted,
        "verdict": one.verdict or "",
    }


def _item(one: views.Reviewed) -> dict[str, Any]:
    return shapes.item(one.item) | {
        "proposals": [labelling.proposal(one.run_id, d) for d in one.detections],
        "proposer": "",
        "run": one.run_id,
        "rejected": list(one.rejected),
        "accepted": list(one.accepted),
        "verdict": one.verdict,
    }


def _tile(run: int, one: views.Tile) -> dict[str, Any]:
    return labelling.proposal(run, one.detection) | {
        "image": one.image_id,
        "sha256": one.sha256,
        "width": one.width,
        "height": one.height,
        "verdict": one.verdict,
    }
