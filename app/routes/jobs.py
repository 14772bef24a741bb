"""Jobs as the pages poll them: which, how far, what they said; cancel, pause, resume, retry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.responses import FileResponse, Response

from app import premises
from app.edge import login, pools
from app.routes import job_cards
from app.routes.job_cards import JobCard, JobCounts, JobList, LogTail
from backend import prices
from backend.domain import FINAL, JobEvent, JobState
from backend.errors import NotFound
from backend.jobs import journal, kinds, listing, outlook, presence, queue, usage
from backend.jobs.presence import Presence
from backend.jobs.usage import AskedJob, DayOfUse
from backend.projects import catalogue

router = APIRouter(prefix="/api/jobs", dependencies=[login.SEES], route_class=pools.Pooled)

ACTIONS = {
    "cancel": queue.cancel,
    "pause": queue.pause,
    "resume": queue.resume,
    "retry": queue.retry,
}


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of the page; nothing means all."""

    project: str = ""
    kind: str = ""
    author: str = ""
    state: JobState | None = None
    before: int | None = None
    limit: Annotated[int, Query(ge=1, le=200)] = 40


@router.get("")
def page(at: premises.At, chosen: Annotated[Filters, Depends()]) -> JobList:
    """The jobs that wait or run, the newest of the finished ones, and what to filter them by."""
    with at.read() as session:
        of = premises.project(session, chosen.project).id if chosen.project else None
        find = partial(
            listing.find,
            session,
            project_id=of,
            kind=chosen.kind,
            author=chosen.author,
        )
        waiting = find(states=_among(listing.OPEN, chosen.state), limit=200)
        ended = _among(tuple(FINAL), chosen.state)
        stands = outlook.outlooks(session, waiting)
        done = find(states=ended, before=chosen.before, limit=chosen.limit)
        return JobList(
            [job_cards.listed(one, stands[one.id]) for one in waiting],
            [job_cards.listed(one) for one in done],
            {name: kind.title for name, kind in kinds.KINDS.items()},
            listing.authors(session),
            catalogue.names(session, (one.project_id or 0 for one in [*waiting, *done])),
        )


@router.get("/counts")
def counts(at: premises.At) -> JobCounts:
    """How many jobs stand in each state that is not an end."""
    with at.read() as session:
        found = listing.counts(session)
    return JobCounts(found[JobState.QUEUED], found[JobState.RUNNING], found[JobState.PAUSED])


@dataclass(frozen=True, slots=True)
class ClusterCard:
    """The workers that live with what each sees, and what the jobs are that their nodes carry.

    `costs` is what an hour of all nodes costs that a worker sees, by its name, where it is known.
    """

    workers: Sequence[Presence]
    jobs: Mapping[int, AskedJob]
    costs: Mapping[str, float]


@router.get("/cluster")
def cluster(at: premises.At) -> ClusterCard:
    """The workers that live, and the cluster as each sees it."""
    known = prices.read([at.settings.node_prices])
    with at.read() as session:
        workers = presence.living(session)
        jobs = usage.asked(session, {job for one in workers for job in one.sees.get("jobs", ())})
    costs = {one.name: prices.of(known, _names(one)) for one in workers}
    return ClusterCard(workers, jobs, {name: cost for name, cost in costs.items() if cost})


@router.get("/use")
def use(at: premises.At) -> list[DayOfUse]:
    """Who used the machines in the last day, and for what."""
    with at.read() as session:
        return usage.of_last_day(session)


def _names(one: Presence) -> list[tuple[str, ...]]:
    """Type and name of each node."""
    return [(node.get("kind", ""), node["name"]) for node in one.sees.get("nodes", ())]


@router.get("/{job}")
def one(job: int, at: premises.At) -> JobCard:
    """One job and where it stands."""
    with at.read() as session:
        found = queue.get(session, job)
        return job_cards.whole(found, outlook.outlook_of(session, found))


@router.get("/{job}/events")
def events(job: int, at: premises.At, since: int = 0) -> list[JobEvent]:
    """What the job told after event number `since`."""
    with at.read() as session:
        known = queue.get(session, job)
        return journal.read(session, known.id, since)


@router.get("/{job}/log")
def log(job: int, at: premises.At) -> LogTail:
    """The end of the job's log file."""
    with at.read() as session:
        known = queue.get(session, job)
    return LogTail(journal.tail(at.settings.home, known.id))


@router.get("/{job}/file")
def file(job: int, at: premises.At) -> Response:
    """The file that an export has written."""
    with at.read() as session:
        found = queue.get(session, job)
    path = at.settings.exports / f"{job}.zip"
    if "file" not in found.result or not path.is_file():
        raise NotFound(f"Job {job} has left no file, or not any more; export again.")
    return FileResponse(path, media_type="application/zip", filename=str(found.result["file"]))


def _among(states: tuple[JobState, ...], chosen: JobState | None) -> tuple[JobState, ...]:
    """The one that is chosen, if it is among them."""
    return states if chosen is None else tuple(one for one in states if one is chosen)


@router.post("/{job}/{action}")
def act(
    job: int,
    action: Literal["cancel", "pause", "resume", "retry"],
    at: premises.At,
    person: login.Labeler,
) -> JobCard:
    """Cancel, pause, resume or retry a job."""
    with at.write() as session:
        return job_cards.whole(ACTIONS[action](session, job, person.name))
