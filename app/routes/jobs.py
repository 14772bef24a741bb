"""Jobs as the pages poll them: which, how far, what they said; cancel, pause, resume, retry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from starlette.responses import FileResponse, Response

from app import premises
from app.edge import login, pools
from app.routes import shapes
from backend.domain import FINAL, Job, JobState
from backend.errors import NotFound
from backend.jobs import journal, kinds, listing, outlook, presence, queue
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
def page(at: premises.At, chosen: Annotated[Filters, Depends()]) -> dict[str, Any]:
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
        return {
            "open": [shapes.standing(one, stands[one.id]) for one in waiting],
            "done": [shapes.listed(one) for one in done],
            "kinds": {name: kind.title for name, kind in kinds.KINDS.items()},
            "authors": listing.authors(session),
            "projects": catalogue.names(
                session, (one.project_id or 0 for one in [*waiting, *done])
            ),
        }


@router.get("/counts")
def counts(at: premises.At) -> dict[str, int]:
    """How many jobs stand in each state."""
    with at.read() as session:
        return {state.value: number for state, number in listing.counts(session).items()}


@router.get("/cluster")
def cluster(at: premises.At) -> list[dict[str, Any]]:
    """The workers that live, and the cluster as each sees it."""
    with at.read() as session:
        return [
            {
                "name": one.name,
                "host": one.host,
                "pid": one.pid,
                "started": one.started.isoformat(),
                "seen": one.seen.isoformat(),
                "sees": dict(one.description),
            }
            for one in presence.living(session)
        ]


@router.get("/{job}")
def one(job: int, at: premises.At) -> dict[str, Any]:
    """One job and where it stands."""
    with at.read() as session:
        found = queue.get(session, job)
        return {**shapes.standing(found, outlook.outlook_of(session, found)), **shapes.job(found)}


@router.get("/{job}/events")
def events(job: int, at: premises.At, since: int = 0) -> list[dict[str, Any]]:
    """What the job told after event number `since`."""
    with at.read() as session:
        known = queue.get(session, job)
        return [shapes.event(event) for event in journal.read(session, known.id, since)]


@router.get("/{job}/log")
def log(job: int, at: premises.At) -> dict[str, str]:
    """The end of the job's log file."""
    with at.read() as session:
        known = queue.get(session, job)
    return {"text": journal.tail(at.settings.home, known.id)}


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
) -> dict[str, Any]:
    """Cancel, pause, resume or retry a job."""
    with at.write() as session:
        changed: Job = ACTIONS[action](session, job, person.name)
        return shapes.job(changed)
