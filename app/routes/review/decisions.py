"""Runs to review, the queue that gives each image to one person, the wall, and its sweeps."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app import premises
from app.edge import login, pools
from app.routes.labels import image_cards, labelling
from app.routes.labels.image_cards import DeskImage
from app.routes.labels.labelling import Saved
from app.routes.review import review_cards
from app.routes.review.review_cards import (
    Chain,
    HeldImages,
    ImagesOfRun,
    PastSheets,
    ReviewedRun,
    SweptImage,
    SweptImages,
    TakenImages,
    WallPage,
)
from backend.domain import Person, Role, Verdict
from backend.errors import NotFound, Refused
from backend.projects import catalogue
from backend.review import agenda, blind_repeats, judgements, provenance, sweeping, views
from backend.review.deciding import decisions, takebacks
from backend.review.views import ReviewRule
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
    """What was said of one detection of the wall.

    Of a classified picture `label` is the class, where it is another than the model's, and `saw`
    what stood there before the person's eyes: an answer over another one is refused.
    """

    model_config = ConfigDict(extra="forbid")
    image: int
    idx: int = Field(ge=0)
    verdict: Literal["accept", "false_call", ""]
    label: str = Field("", max_length=200)
    saw: Literal["accept", "correct", "false_call", ""] | None = None


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
def runs(project: str, at: premises.At) -> list[ReviewedRun]:
    """The runs of a project, newest first."""
    with at.read() as session:
        found = views.runs(session, premises.project(session, project).id)
    return [review_cards.run(one) for one in found]


@router.post("/runs/{run}/take")
def take(
    run: int, body: Take, request: Request, at: premises.At, person: login.Viewer
) -> TakenImages:
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
    return TakenImages(
        [*map(image_cards.reviewed, found), *again],
        total=total,
        open=still,
        others=taken.others,
        held_by=held,
        running=running,
        rule=rule,
        project=project,
        me=person,
    )


@router.get("/runs/{run}/images/{image}")
def image(run: int, image: int, at: premises.At) -> ImagesOfRun:
    """One image of a run as it stands now."""
    with at.read() as session:
        views.refuse_unseen(session, run, image)
        found = views.items(session, run, [image])
    return ImagesOfRun([*map(image_cards.reviewed, found)])


@router.get("/runs/{run}/undo")
def undo(run: int, at: premises.At, person: login.Labeler, image: int = 0) -> PastSheets:
    """What Z goes back to: of this image, else of the last one on which the person decided."""
    with at.read() as session:
        views.project_of(session, run)
        if image:
            views.refuse_unseen(session, run, image)
        here = takebacks.past(session, run, image, person.name) if image else ()
        chosen = image if here else takebacks.last(session, run, person.name)
        past = here or (takebacks.past(session, run, chosen, person.name) if chosen else ())
    return PastSheets(chosen, [*map(review_cards.sheet, past)])


@router.put("/runs/{run}/repeats/{image}", openapi_extra=labelling.SAVE)
async def repeat(
    run: int, image: int, body: labelling.Body, at: premises.At, person: login.Labeler
) -> Saved:
    """Keep a second, blind answer; the labels and the first answer stay as they are."""
    sheet = labelling.read(body)
    await pools.run(pools.ThreadPool.WRITE, _record, at, run, image, sheet, person)
    return Saved(sheet.version)


@router.post("/runs/{run}/renew")
def renew(run: int, body: Holder, at: premises.At) -> HeldImages:
    """Keep what a tab holds."""
    with at.write() as session:
        views.project_of(session, run)
        return HeldImages(agenda.renew(session, run, body.holder))


@router.post("/runs/{run}/give-back")
def give_back(run: int, body: Holder, at: premises.At) -> HeldImages:
    """Let others have what a tab held."""
    with at.write() as session:
        views.project_of(session, run)
        agenda.give_back(session, run, body.holder)
    return HeldImages(0)


@router.get("/runs/{run}/wall")
def wall(run: int, label: str, at: premises.At, offset: int = 0, limit: int = 96) -> WallPage:
    """Detections of one class, the most doubtful first."""
    with at.read() as session:
        views.project_of(session, run)
        total, tiles = views.wall(session, run, label, offset, limit)
        classes = {} if offset else views.wall_classes(session, run)
    return WallPage(total, classes, [review_cards.tile(run, one) for one in tiles])


@router.post("/runs/{run}/decide")
def decide(run: int, body: Sweep, at: premises.At, person: login.Labeler) -> SweptImages:
    """Judge many detections at once, image by image, over whatever stands there now.

    Each image has an answer of its own: the version that was saved, or why none was.
    """
    by_image: dict[int, dict[int, WallVerdict]] = {}
    for one in body.items:
        by_image.setdefault(one.image, {})[one.idx] = one
    with at.read() as session:
        views.project_of(session, run)
    return SweptImages(
        [
            _judge(at, run, image_id, [*said.values()], body.key, person.name)
            for image_id, said in by_image.items()
        ]
    )


@router.put("/projects/{project}/review-rule")
def set_rule(project: str, body: RuleForm, at: premises.At, person: login.Labeler) -> ReviewRule:
    """Change when a board fails; gives the rule as it stands then."""
    wanted = body.model_dump(exclude={"version"})
    with at.write() as session:
        found = premises.project(session, project)
        return views.set_rule(session, found.id, wanted, body.version, person.name)


@router.get("/why/{subject}")
def why(subject: str, at: premises.At) -> Chain:
    """Where a detection (RUN:IMAGE:NUMBER) or a label (IMAGE:BOX) comes from, and where it went."""
    with at.read() as session:
        return Chain(subject, provenance.why(session, subject))


def _look(
    run: int, body: Take, choice: agenda.Choice, at: premises.Premises, person: Person
) -> TakenImages:
    with at.read() as session:
        project = catalogue.get(session, views.project_of(session, run))
        shown = agenda.look(
            session, run, choice, after=body.after, wanted=body.wanted, count=body.count
        )
        total, still = agenda.counts(session, run, choice)
        found = views.items(session, run, shown.image_ids)
        rule = views.rule(session, project.id)
        running = findings.get(session, run).finished is None
    return TakenImages(
        [*map(image_cards.reviewed, found)],
        total=total,
        open=still,
        others=shown.others,
        held_by="",
        running=running,
        rule=rule,
        project=project,
        me=person,
    )


def _repeat(session: Session, run: int, person: Person, share: float) -> list[DeskImage]:
    """A board to be judged again, as if it were new; its number is negative, so it is no label."""
    image = blind_repeats.due(session, run, person.name, share)
    if not image:
        return []
    (seen,) = views.items(session, run, [image])
    return [image_cards.reviewed(blind_repeats.blind(session, seen), repeat=True)]


def _judge(
    at: premises.Premises, run: int, image: int, said: list[WallVerdict], key: str, author: str
) -> SweptImage:
    """One image of a sweep; what stands in its way holds up no other."""
    verdicts = {one.idx: Verdict(one.verdict) if one.verdict else None for one in said}
    labels = {one.idx: one.label for one in said if one.label}
    answer = judgements.Judgement(verdicts, key=key, classes=labels)
    saw = next((one.saw for one in said if one.saw is not None), None)
    try:
        with at.write() as session:
            if saw is not None:
                sweeping.refuse_answered(session, run, image, saw, key)
            saved = judgements.judge(session, run, image, answer, author)
    except (NotFound, Refused) as error:
        return SweptImage(image, error=str(error))
    return SweptImage(image, saved.version)


def _record(
    at: premises.Premises, run: int, image: int, sheet: decisions.Sheet, person: Person
) -> None:
    with at.write() as session:
        blind_repeats.record(session, run, image, sheet, person.name)
