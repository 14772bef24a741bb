"""Searches for better parameters: asked for, steered, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import spaces
from backend.domain import FINAL, Job, JobState, Model, Search, Split, Trial, TrialState
from backend.errors import NotFound, Refused
from backend.jobs import kinds, queue
from backend.models import registry, tracked, trainings, trials
from backend.models.search import bounds
from backend.projects import catalogue
from backend.storage.tables import JobRow, SearchRow

DEFAULTS = "the defaults"
NO_DEFAULTS = "The defaults came to no end, so nothing can be held against them."
NO_BETTER = "Nothing that was tried is better than the defaults."


@dataclass(frozen=True, slots=True)
class Begun:
    """What asking for a search has made: its job, and the model that its best trial will be."""

    search: Search
    job: Job
    model: Model


def ask(
    session: Session,
    project_id: int,
    family: str,
    *,
    trials: int = 0,
    hours: float = 0.0,
    at_once: int = 0,
    share: float = 1.0,
    method: str = "random",
    space: str = "",
    start: str = "",
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
    author: str = "",
    key: str = "",
) -> Begun:
    """Freeze a snapshot, number a model and queue the search, all or nothing.

    So many trials go on `at_once` (0: as many as there is room for), each on a `share` of a card.
    By which `method` values are chosen is one of `trials.METHODS`.
    `space` is as `backend.spaces` reads it; what is not in it stays as `parameters` have it.
    `start` and `seed` are those of `trainings.retrain`.
    """
    if key and (job := queue.by_key(session, "tune", project_id, author, key)):
        return _begun(session, job)
    tried = spaces.parse(family, space)
    bounds.check_budget(trials, hours)
    bounds.check_manner(method, at_once, share, parameters or {})
    catalogue.lock(session, project_id)
    queue.refuse_waiting(session, "tune", project_id=project_id)
    ready = trainings.prepare(session, project_id, family, start, parameters, seed, author)
    if not ready.snapshot.counts.get(Split.VAL):
        raise Refused(
            "The project has no validation images, so trials cannot be told apart: put some of "
            "the labelled images into the split val."
        )
    row = SearchRow(
        project_id=project_id,
        snapshot_id=ready.snapshot.id,
        family=family,
        space=spaces.written(tried),
        method=method,
        start=ready.parent.name if ready.parent else start,
        parameters=dict(ready.values),
        seed=ready.values["seed"],
        trials=trials,
        hours=hours,
        author=author,
    )
    session.add(row)
    session.flush()
    model = trainings.number(session, family, ready, start, author)
    request = kinds.Tune(project_id, row.id, model.id, ready.begin, at_once, share)
    return _queue(session, row, request, author, key)


def more(session: Session, search_id: int, trials: int, hours: float = 0.0) -> Search:
    """Allow a search so many trials and hours more; one whose job has ended goes on.

    One that failed or was cancelled does so as the same job, with the checkpoints of its trials.
    """
    row = _row(session, search_id, lock=True)
    bounds.check_budget(trials, hours)
    row.trials = row.trials + trials if row.trials or row.hours == 0 else 0
    row.hours = row.hours + hours if row.hours else 0.0
    bounds.check_budget(row.trials, row.hours)
    if trials and not row.trials:
        raise Refused("This search has as many trials as its hours allow; add hours.")
    if not (trials or row.hours):
        raise Refused("This search has as many hours as its trials take; add trials.")
    if 0 < row.hours * 3600 <= row.seconds:
        raise Refused("The hours of this search are over, so no trial would begin; add hours.")
    row.stopping = False
    session.flush()
    state = _state(session, row)
    if state == JobState.DONE or has_concluded(session, row.id):
        _again(session, row)
    elif state in FINAL:
        queue.retry(session, row.job_id or 0)
    return get(session, search_id)


def stop(session: Session, search_id: int) -> Search:
    """Begin no more trials, end those under way, and keep the best of those that are done."""
    row = _row(session, search_id, lock=True)
    if _state(session, row) in FINAL or has_concluded(session, row.id):
        raise Refused(f"The search {search_id} has ended, so there is nothing to stop.")
    row.stopping = True
    session.flush()
    return get(session, search_id)


def stop_trial(session: Session, search_id: int, number: int) -> Trial:
    """End a trial that is under way after its epoch; the search goes on."""
    row = _row(session, search_id)
    if _state(session, row) in FINAL or has_concluded(session, row.id):
        raise Refused(f"The search {search_id} has ended, so no trial of it can be stopped.")
    return trials.stop(session, search_id, number)


def train_in_full(
    session: Session,
    search_id: int,
    number: int,
    *,
    epochs: int = 0,
    author: str = "",
    key: str = "",
) -> trainings.Started:
    """Train with the parameters of a trial on what is labelled now, for so many epochs."""
    search, trial = get(session, search_id), trials.get(session, search_id, number)
    values = parameters(search, trial)
    values |= {"epochs": epochs} if epochs else {}
    return trainings.retrain(
        session,
        search.project_id,
        search.family,
        start=search.start,
        parameters={name: value for name, value in values.items() if name != "seed"},
        seed=search.seed,
        author=author,
        key=key,
    )


def get(session: Session, search_id: int) -> Search:
    """The search of that number."""
    row = _row(session, search_id)
    return _search(row, _state(session, row))


def of_project(session: Session, project_id: int, limit: int = 50) -> list[Search]:
    """The searches of a project, newest first."""
    query = (
        select(SearchRow, JobRow.state)
        .outerjoin(JobRow, JobRow.id == SearchRow.job_id)
        .where(SearchRow.project_id == project_id)
        .order_by(SearchRow.id.desc())
        .limit(limit)
    )
    return [_search(row, state) for row, state in session.execute(query)]


def numbers(session: Session, project_id: int) -> list[int]:
    """The numbers of all searches of a project, newest first."""
    query = select(SearchRow.id).where(SearchRow.project_id == project_id)
    return list(session.scalars(query.order_by(SearchRow.id.desc())))


def count(session: Session, search_id: int, seconds: float) -> Search:
    """Count what was searched since, and look what people have said meanwhile."""
    row = _row(session, search_id, lock=True)
    row.seconds += seconds
    session.flush()
    return get(session, search_id)


def has_grown(session: Session, known: Search) -> bool:
    """Whether somebody has allowed it more than was known; nobody can until the caller's end."""
    row = _row(session, known.id, lock=True)
    longer = row.trials > known.trials or row.hours > known.hours
    return longer or (known.stopping and not row.stopping)


def has_concluded(session: Session, search_id: int) -> bool:
    """Whether its job has come to what it was for, though it may not have ended yet."""
    row = _row(session, search_id)
    job = session.get(JobRow, row.job_id) if row.job_id else None
    model = job.request.get("model_id") if job else None
    return model is not None and (row.facts or {}).get("model_id") == model


def conclude(session: Session, search_id: int, facts: Mapping[str, Any]) -> None:
    """Keep what came of it."""
    row = _row(session, search_id)
    row.facts = {**(row.facts or {}), **facts}


def verdict(best: Trial, name: str, against: Mapping[str, Any], split: str) -> str:
    """What the held-out images say of the best trial beside the defaults, in words."""
    if best.number == 0:
        return f"{NO_BETTER} {name} is trained with them."
    said = registry.compared(name, {**against, "model": DEFAULTS})
    found: Mapping[str, Any] = against.get("map50") or against.get("accuracy") or {}
    worth = [said] if found.get("better") is True else [said, NO_BETTER]
    if split != Split.TEST:
        worth.append("There are no test images: this is said of images that chose the trial.")
    return " ".join(worth)


def parameters(search: Search, trial: Trial) -> dict[str, Any]:
    """All parameters of a training with what the trial changes."""
    return spaces.merged(search.parameters, trial.parameters)


def best(trials: Sequence[Trial]) -> Trial | None:
    """The trial that was worth most when it was done, the earlier of equal ones."""
    done = [one for one in trials if one.state is TrialState.DONE and one.value is not None]
    return max(done, key=lambda one: (one.value or 0.0, -one.number), default=None)


def _queue(
    session: Session, row: SearchRow, request: kinds.Tune, author: str, key: str = ""
) -> Begun:
    job = queue.enqueue(session, request, author=author, key=key)
    row.job_id = job.id
    model = registry.get(session, request.model_id)
    registry.set_job(session, model.id, job.id)
    if tracked.wanted():
        tracked.follow(
            session,
            row.project_id,
            job.id,
            model.name,
            model=model,
            parameters=model.parameters,
            tags={"search": row.id, "space": row.space, "trials": row.trials, "hours": row.hours},
        )
    session.flush()
    return Begun(get(session, row.id), job, registry.get(session, request.model_id))


def _again(session: Session, row: SearchRow) -> None:
    """One more job for the same search, and a model of its own."""
    request = queue.get(session, row.job_id or 0).request
    before = registry.get(session, int(request["model_id"]))
    model = registry.add(
        session,
        row.project_id,
        row.family,
        classes=before.classes,
        snapshot_id=row.snapshot_id,
        parameters={**row.parameters, "start": row.start},
        author=row.author,
    )
    again = replace(cast("kinds.Tune", kinds.decode("tune", request)), model_id=model.id)
    _queue(session, row, again, row.author)


def _begun(session: Session, job: Job) -> Begun:
    model = registry.get(session, int(job.request["model_id"]))
    return Begun(get(session, int(job.request["search_id"])), job, model)


def _state(session: Session, row: SearchRow) -> str | None:
    return session.scalar(select(JobRow.state).where(JobRow.id == row.job_id))


def _row(session: Session, search_id: int, *, lock: bool = False) -> SearchRow:
    query = select(SearchRow).where(SearchRow.id == search_id)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise NotFound(f"There is no search {search_id}.")
    return row


def _search(row: SearchRow, state: str | None) -> Search:
    return Search(
        id=row.id,
        project_id=row.project_id,
        family=row.family,
        snapshot_id=row.snapshot_id,
        space=row.space,
        seed=row.seed,
        state=JobState(state or JobState.FAILED),
        at=row.at,
        start=row.start,
        method=row.method,
        parameters=row.parameters,
        trials=row.trials,
        hours=row.hours,
        seconds=row.seconds,
        stopping=row.stopping,
        job_id=row.job_id,
        author=row.author,
        facts=row.facts or {},
    )
