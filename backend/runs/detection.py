"""Detection as a page or a command asks for it: which model, over which images, and its runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session, aliased

from backend import families, runtimes
from backend.domain import Job, JobState, Split, State
from backend.errors import Invalid, NotFound, Refused
from backend.jobs import cards, kinds, needs, queue
from backend.models import choice
from backend.models.choice import Chosen
from backend.projects import large_pictures, selections
from backend.storage import engine
from backend.storage.tables import BoxRow, ImageRow

SAMPLED = 2000
CONFIDENCE = 0.25  # lowest score that counts where nobody says another


@dataclass(frozen=True, slots=True)
class Target:
    """An image to be looked at, with the hash of its golden's bytes where it has one."""

    image_id: int
    name: str
    sha256: str
    golden_sha256: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class NewestLot:
    """Images that came together, and how many they are."""

    name: str
    images: int


def confidence(family: str, options: Mapping[str, Any]) -> float:
    """The lowest score that counts; what gives one answer a picture gives it however unsure."""
    return 0.0 if families.answers_once(family) else float(options.get("confidence", CONFIDENCE))


def ask(
    session: Session,
    project_id: int | None,
    model: str,
    *,
    source: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    author: str = "",
    key: str = "",
    after: int | None = None,
) -> Job:
    """Queue a detection; the run has the job's id. It waits for the job that it comes `after`.

    `model`: vN, champion, golden, or a weights file. `source`: {} for all images of the project,
    {"images": ids}, {"splits": …}, {"states": …}, {"groups": lots}, or {"path": a picture, folder,
    list or URL}.
    `options`: confidence, runtime, precision, image_size, tiles (off, on, auto), ray (bool),
    device, workers and memory_gb (what is asked of a cluster: `backend.jobs.needs`), again (True:
    do not take known results), and a family's own settings under extra.
    """
    chosen = choice.choose(session, project_id, model)
    _check(chosen, project_id, source or {})
    check_images(session, project_id, source or {})
    _check_before(session, project_id, after)
    _check_options(options or {})
    for problem in cards.missing(session, options or {}):
        raise Refused(problem)
    large_pictures.check(str((options or {}).get(large_pictures.OPTION, large_pictures.AUTO)))
    request = kinds.Detect(
        project_id,
        chosen.family,
        chosen.model_id,
        chosen.weights,
        selections.kept(session, project_id, source or {}),
        dict(options or {}),
    )
    return queue.enqueue(session, request, author=author, key=key, after=after)


def check_images(session: Session, project_id: int | None, source: Mapping[str, Any]) -> None:
    """Refuse images that are not the project's own."""
    wanted = set(source.get("images", ()))
    own = select(func.count()).where(ImageRow.project_id == project_id)
    parts = engine.batches(sorted(wanted))
    if sum(session.scalar(own.where(ImageRow.id.in_(part))) or 0 for part in parts) < len(wanted):
        raise NotFound("Some of these images are not in this project; reload the page.")


def try_one(
    session: Session, project_id: int | None, model: str, path: Path, author: str = ""
) -> Job:
    """Queue a look at one picture; the answer is the job's result, and the copy is removed."""
    chosen = choice.choose(session, project_id, model)
    _check_goldens(chosen, project_id)
    request = kinds.Try(
        project_id, chosen.family, chosen.model_id, chosen.weights, {}, {}, str(path)
    )
    return queue.enqueue(session, request, author=author, priority=1)


def watch(
    session: Session,
    project_id: int | None,
    model: str,
    folder: Path,
    *,
    out: Path | None = None,
    options: Mapping[str, Any] | None = None,
    author: str = "",
) -> Job:
    """Queue the watch over a folder until its job is cancelled.

    One that goes on is taken up; one that failed is tried again, and knows what it has seen.
    """
    chosen = choice.choose(session, project_id, model)
    _check_goldens(chosen, project_id)
    _check_options(options or {})
    request = kinds.Watch(
        project_id,
        chosen.family,
        chosen.model_id,
        chosen.weights,
        {},
        dict(options or {}),
        str(folder.resolve()),
        str(out.resolve()) if out else "",
    )
    known = queue.going_on(session, request)
    if known is None:
        return _watch_anew(session, request, author)
    if known.request != kinds.encode(request):
        raise Refused(
            f"Job {known.id} watches {folder} with another model or other settings; end it first: "
            f"loupe cancel {known.id}"
        )
    return known


def _watch_anew(session: Session, request: kinds.Watch, author: str) -> Job:
    before = queue.last(session, request)
    if before and before.state is JobState.FAILED and before.request == kinds.encode(request):
        return queue.retry(session, before.id, author)
    return queue.enqueue(session, request, author=author)


def goldens(session: Session, project_id: int) -> list[Target]:
    """The project's golden pictures, newest first."""
    query = (
        select(ImageRow.id, ImageRow.name, ImageRow.sha256, ImageRow.group)
        .where(
            ImageRow.project_id == project_id,
            ImageRow.is_golden.is_(True),
            ImageRow.deleted.is_(None),
        )
        .order_by(ImageRow.id.desc())
    )
    found = session.execute(query)
    return [Target(id_, name, sha256, "", group) for id_, name, sha256, group in found]


def newest_lot(session: Session, project_id: int) -> NewestLot | None:
    """The lot that came last."""
    there = _chosen_by_source(project_id, {})
    newest = select(ImageRow.group).where(*there, ImageRow.group != "").order_by(ImageRow.id.desc())
    name = session.scalar(newest.limit(1))
    return NewestLot(name, count(session, project_id, {"groups": [name]})) if name else None


def count(session: Session, project_id: int, source: Mapping[str, Any]) -> int:
    """How many images of a project a run looks at."""
    chosen = selections.count(source)
    if chosen is not None:
        return chosen
    query = select(func.count()).select_from(ImageRow).where(*_chosen_by_source(project_id, source))
    return session.scalar(query) or 0


def _chosen_by_source(project_id: int, source: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    chosen = [
        ImageRow.project_id == project_id,
        ImageRow.is_golden.is_(False),
        ImageRow.deleted.is_(None),
    ]
    if "splits" in source:
        chosen.append(ImageRow.split.in_(source["splits"]))
    if "states" in source:
        chosen.append(ImageRow.state.in_(source["states"]))
    if "groups" in source:
        chosen.append(ImageRow.group.in_(source["groups"]))
    return chosen


def subjects(session: Session, project_id: int, source: Mapping[str, Any]) -> Iterator[Target]:
    """The images of a project that a run looks at, in the order of their names."""
    golden = aliased(ImageRow)
    query = (
        select(ImageRow.id, ImageRow.name, ImageRow.sha256, golden.sha256, ImageRow.group)
        .outerjoin(golden, golden.id == ImageRow.golden_id)
        .where(*_chosen_by_source(project_id, source))
        .order_by(ImageRow.name)
    )
    wanted = selections.images(session, source)
    for image_id, name, sha256, golden_sha256, group in session.execute(query):
        if wanted is None or image_id in wanted:
            yield Target(image_id, name, sha256, golden_sha256 or "", group)


def mark(session: Session, doubts: Mapping[int, float]) -> None:
    """Say of images how much a look at them is worth, by what the newest run found there."""
    for value in set(doubts.values()):
        ids = [image_id for image_id, doubt in doubts.items() if doubt == value]
        for part in engine.batches(ids):
            session.execute(
                update(ImageRow).where(ImageRow.id.in_(part)).values(doubt=value),
                execution_options={"synchronize_session": False},
            )


def typical_sizes(session: Session, project_id: int) -> tuple[float, float]:
    """The median size of the newest labelled boxes, and of their images' longer sides; or 0, 1."""
    side = ((BoxRow.x2 - BoxRow.x1) + (BoxRow.y2 - BoxRow.y1)) / 2
    query = (
        select(side, ImageRow.width, ImageRow.height)
        .join(ImageRow, ImageRow.id == BoxRow.image_id)
        .where(ImageRow.project_id == project_id, ImageRow.deleted.is_(None))
        .order_by(ImageRow.id.desc())
        .limit(SAMPLED)
    )
    rows = session.execute(query).all()
    if not rows:
        return 0.0, 1.0
    longest = statistics.median(max(width, height) for _, width, height in rows)
    return statistics.median(size for size, _, _ in rows), float(longest)


def _check(chosen: Chosen, project_id: int | None, source: Mapping[str, Any]) -> None:
    if project_id is None and "path" not in source:
        raise Refused("Without a project a detection needs a picture, folder, list or URL.")
    family = families.find(chosen.family)
    if family.needs_golden and "path" in source:
        who = families.comparer(chosen.family)
        raise Refused(f"{who} compares images of a project with their golden.")
    _check_filter("state", source.get("states", ()), [one.value for one in State])
    _check_filter("split", source.get("splits", ()), [one.value for one in Split])


def _check_goldens(chosen: Chosen, project_id: int | None) -> None:
    if project_id is None and families.find(chosen.family).needs_golden:
        who = families.comparer(chosen.family)
        raise Refused(f"{who} needs a project with golden pictures.")


def _check_before(session: Session, project_id: int | None, after: int | None) -> None:
    if after is not None and queue.get(session, after).project_id != project_id:
        raise NotFound(f"There is no job {after} in this project.")


def _check_filter(name: str, values: Sequence[str], known: Sequence[str]) -> None:
    for value in values:
        if value not in known:
            raise Invalid(f"There is no {name} {value[:40]!r}; there are {', '.join(known)}.")


def _check_options(options: Mapping[str, Any]) -> None:
    runtimes.check(str(options.get("runtime") or ""), str(options.get("precision") or ""))
    needs.check(options)
