"""Searches for better parameters: begun, watched, steered, and trained in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app import premises
from app.edge import login, pools
from app.routes import job_cards, model_cards
from app.routes.models import BegunTraining
from app.routes.runs import detection
from backend import spaces
from backend.domain import JobState, Search, Trial, TrialState
from backend.families import FAMILIES
from backend.models import searches, trials
from backend.models.search import insight, standings
from backend.models.search.insight import Insight
from backend.models.search.standings import Step
from backend.models.trials import RANDOM

router = APIRouter(prefix="/api", dependencies=[login.SEES], route_class=pools.Pooled)

STRICT = ConfigDict(extra="forbid")
SHOWN = 20
MOST = 2**31 - 1
Number = Annotated[int, Field(ge=0, le=MOST)]


class SearchForm(BaseModel):
    """A search as the form has it."""

    model_config = STRICT
    family: str = Field(max_length=40)
    trials: int = 0
    hours: float = 0.0
    method: str = Field(RANDOM, max_length=40)
    space: str = Field("", max_length=1000)
    start: str = Field("", max_length=1000)
    parameters: dict[str, int | float | str] = Field(default_factory=dict, max_length=30)
    knobs: dict[str, int | float | str] = Field(default_factory=dict, max_length=30)
    seed: int | None = Field(None, ge=0, le=2**31 - 1)
    key: str = Field("", max_length=100)


class Longer(BaseModel):
    """How much longer a search may go on."""

    model_config = STRICT
    trials: int = 0
    hours: float = 0.0


class InFull(BaseModel):
    """For how many epochs the parameters of a trial are trained; 0: as the search has it."""

    model_config = STRICT
    epochs: int = 0
    key: str = Field("", max_length=100)


@dataclass(frozen=True, slots=True)
class Point:
    """What a trial was worth after an epoch."""

    epoch: int
    value: float


@dataclass(frozen=True, slots=True)
class TrialCard:
    """A trial: what it tries, in words too, how far it is, and what it is worth by now."""

    number: int
    state: TrialState
    parameters: Mapping[str, float]
    words: str
    epochs: int
    value: float | None
    device: str
    seconds: float
    error: str


@dataclass(frozen=True, slots=True)
class SearchCard:
    """A search, with how many trials are in each state, and what came of it."""

    id: int
    family: str
    state: JobState
    at: datetime
    job: int | None
    method: str
    space: str
    trials: int
    hours: float
    seconds: float
    epochs: int
    stopping: bool
    figure: str
    counts: Mapping[str, int]
    best: int | None
    model: str
    verdict: str


@dataclass(frozen=True, slots=True)
class SearchDetails(SearchCard):
    """A search with its best trials, those under way, the first that failed, and its rise."""

    leaders: Sequence[TrialCard]
    under_way: Sequence[TrialCard]
    trouble: TrialCard | None
    rise: Sequence[Step]


@dataclass(frozen=True, slots=True)
class TrialCurve:
    """What a trial was worth after its epochs, in few points."""

    number: int
    curve: Sequence[Point]


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """The spaces that families have, by name, and the newest searches."""

    spaces: Mapping[str, str]
    searches: Sequence[SearchCard]


@router.get("/projects/{project}/searches")
def of_project(project: str, at: premises.At) -> SearchChoice:
    """What can be searched, and what was."""
    with at.read() as session:
        found = premises.project(session, project)
        known = searches.of_project(session, found.id, SHOWN)
        counts = trials.counts_of(session, [one.id for one in known])
    cards = [_card(one, counts[one.id]) for one in known]
    usual = {
        name: spaces.written(spaces.usual(name))
        for name, one in FAMILIES.items()
        if one.task is found.task
    }
    return SearchChoice(usual, cards)


@router.post("/projects/{project}/searches", status_code=201)
def begin(project: str, body: SearchForm, at: premises.At, person: login.Labeler) -> SearchCard:
    """Freeze a snapshot, number a model and queue the search."""
    with at.write() as session:
        found = premises.project(session, project)
        begun = searches.ask(
            session,
            found.id,
            body.family,
            trials=body.trials,
            hours=body.hours,
            method=body.method,
            space=body.space,
            start=detection.own_model(body.start),
            parameters=spaces.turned(body.family, body.parameters, body.knobs),
            seed=body.seed,
            author=person.name,
            key=body.key,
        )
        return _card(begun.search, trials.counts(session, begun.search.id))


@router.get("/searches/{search}")
def details(search: int, at: premises.At) -> SearchDetails:
    """A search with those of its trials that matter now; more of them is no longer answer."""
    with at.read() as session:
        return _details(session, searches.get(session, search))


@router.get("/searches/{search}/trials")
def tried(
    search: int, at: premises.At, after: Annotated[int, Query(ge=-1, le=MOST)] = -1
) -> list[TrialCard]:
    """Trials by their numbers, some at a time."""
    with at.read() as session:
        figure = trials.figure(searches.get(session, search).family)
        return [_trial(one, figure) for one in standings.page(session, search, after)]


@router.get("/searches/{search}/curves")
def curves(
    search: int,
    at: premises.At,
    numbers: Annotated[
        list[Number], Query(alias="trials", default_factory=list, max_length=standings.CURVES)
    ],
) -> list[TrialCurve]:
    """The curves of the trials that are asked for."""
    with at.read() as session:
        figure = trials.figure(searches.get(session, search).family)
        found = standings.picked(session, search, numbers)
    return [TrialCurve(one.number, _curve(one, figure)) for one in found]


@router.get("/searches/{search}/insight")
def insights(search: int, at: premises.At) -> Insight:
    """How values and worth hang together, drawn and counted."""
    with at.read() as session:
        return insight.of_search(session, searches.get(session, search))


@router.post("/searches/{search}/stop")
def stop(search: int, at: premises.At, person: login.Labeler) -> SearchCard:  # noqa: ARG001
    """End all trials, and keep the best of what is done."""
    with at.write() as session:
        return _card(searches.stop(session, search), trials.counts(session, search))


@router.post("/searches/{search}/more")
def more(search: int, body: Longer, at: premises.At, person: login.Labeler) -> SearchCard:  # noqa: ARG001
    """Allow more trials, or hours; a search that has ended begins again."""
    with at.write() as session:
        found = searches.more(session, search, body.trials, body.hours)
        return _card(found, trials.counts(session, search))


@router.post("/searches/{search}/trials/{trial}/stop")
def stop_trial(search: int, trial: int, at: premises.At, person: login.Labeler) -> SearchCard:  # noqa: ARG001
    """End one trial after its epoch; the search goes on."""
    with at.write() as session:
        found = searches.get(session, search)
        searches.stop_trial(session, search, trial)
        return _card(found, trials.counts(session, search))


@router.post("/searches/{search}/trials/{trial}/train", status_code=201)
def train(
    search: int, trial: int, body: InFull, at: premises.At, person: login.Labeler
) -> BegunTraining:
    """Train with the parameters of a trial, for as many epochs as are asked for."""
    with at.write() as session:
        started = searches.train_in_full(
            session, search, trial, epochs=body.epochs, author=person.name, key=body.key
        )
        return BegunTraining(job_cards.whole(started.job), model_cards.card(started.model))


def _card(search: Search, counts: Mapping[str, int]) -> SearchCard:
    return SearchCard(
        id=search.id,
        family=search.family,
        state=search.state,
        at=search.at,
        job=search.job_id,
        method=search.method,
        space=search.space,
        trials=search.trials,
        hours=search.hours,
        seconds=search.seconds,
        epochs=int(search.parameters.get("epochs", 1)),
        stopping=search.stopping,
        figure=trials.figure(search.family),
        counts=counts,
        best=search.facts.get("best"),
        model=str(search.facts.get("model", "")),
        verdict=str(search.facts.get("verdict", "")),
    )


def _details(session: Session, search: Search) -> SearchDetails:
    figure = trials.figure(search.family)
    leaders = standings.leaders(session, search.id)
    trouble = standings.trouble(session, search.id)
    card = _card(search, trials.counts(session, search.id))
    values = {name: getattr(card, name) for name in SearchCard.__slots__}
    values["best"] = leaders[0].number if leaders else None
    return SearchDetails(
        **values,
        leaders=[_trial(one, figure) for one in leaders],
        under_way=[_trial(one, figure) for one in standings.under_way(session, search.id)],
        trouble=_trial(trouble, figure) if trouble else None,
        rise=standings.rise(session, search.id),
    )


def _trial(trial: Trial, figure: str) -> TrialCard:
    last = trial.epochs[-1] if trial.epochs else {}
    return TrialCard(
        number=trial.number,
        state=trial.state,
        parameters=trial.parameters,
        words=spaces.told(trial.parameters) or searches.DEFAULTS,
        epochs=int(last.get("epoch", 0)),
        value=trial.value if trial.value is not None else last.get(figure),
        device=trial.device,
        seconds=round(trial.seconds, 1),
        error=trial.error,
    )


def _curve(trial: Trial, figure: str) -> list[Point]:
    every = [
        Point(int(one["epoch"]), round(one[figure], 4)) for one in trial.epochs if figure in one
    ]
    return standings.thinned(every, standings.POINTS)
