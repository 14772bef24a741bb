"""Boards of three lots and two days, a run over them, and what people said of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Run, RunImage, State, Verdict
from backend.labels import images, labelling
from backend.projects import catalogue, classes
from backend.review import agenda, judgements, views
from backend.review.behind import Behind
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.review.judgements import Judgement
from backend.review.overview import keeping, reading
from backend.review.overview.figures import Overview
from backend.review.overview.reading import Narrowed
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import (
    ImageRow,
)

RUN, ANSWERS = 4, 5
LABELS = ("spur", "short", "scratch")
SIDE = 160
BOARDS = 60
EVERY = Narrowed()
LONG_AGO = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 2)


def found(number: int) -> tuple[Detection, ...]:
    """What the run found on a board: of all classes, at all scores, in all corners."""
    seen = []
    for at in range(number % 4):
        x, y = 10.0 * ((number * 3 + at * 7) % 15), 10.0 * ((number * 5 + at * 4) % 15)
        score = round(((number * 13 + at * 29) % 101) / 100, 2)
        label = (*LABELS, "lint")[(number + at) % 4]  # of lint the project knows nothing
        seen.append(Detection(x, y, x + 9, y + 9, label, score, at))
    return tuple(sorted(seen, key=lambda one: -one.score))


def days(session: Session) -> None:
    for image_id in at(session).values():
        came = LONG_AGO + timedelta(minutes=2 * (image_id % 2))
        session.execute(update(ImageRow).where(ImageRow.id == image_id).values(added=came))


def lay(session: Session, project: int) -> None:
    findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project))
    seen = [
        RunImage(image_id, name, detections=found(int(name)))
        for name, image_id in at(session).items()
    ]
    seen[7] = replace(seen[7], status="unreadable", error="It is cut off.", detections=())
    findings.record(session, RUN, seen)
    findings.finish(session, RUN, 1.0, {})


def people(session: Session) -> None:
    ids = at(session)
    for number in range(0, BOARDS, 5):
        boxes = [Box(one.x1, one.y1, one.x2, one.y2, "spur") for one in found(number)[:2]]
        labelling.save(session, ids[f"{number:02}"], 0, boxes, "ana", state=State.DONE)
    for number, verdict in ((1, Verdict.PASS), (2, Verdict.FAIL)):
        said = Sheet(0, (), run_id=RUN, review=True, verdict=verdict)
        decisions.save(session, ids[f"{number:02}"], said, "bo")
    judgements.judge(session, RUN, ids["03"], Judgement({0: Verdict.FALSE_CALL}), "ana")
    images.put_away(session, [ids["11"]])


def at(session: Session) -> dict[str, int]:
    query = select(ImageRow.name, ImageRow.id).order_by(ImageRow.id)
    return {name: image_id for name, image_id in session.execute(query)}


def overview(database: Database, chosen: Narrowed = EVERY, run: int = RUN) -> Overview:
    """The overview once everything is added up."""
    assert keeping.refresh(database.read.begin, database.write.begin, [run]) == 0
    with database.read.begin() as session:
        project = catalogue.get(session, views.project_of(session, run))
        return reading.read(session, project, [run], chosen, 0)


def behind(session: Session, run: int = RUN, **chosen: Any) -> int:
    """How many boards a table shows of them."""
    plain = {name: chosen.pop(name) for name in ("groups", "labels", "least") if name in chosen}
    choice = agenda.Choice(behind=Behind(**chosen), **plain)
    ids = agenda.ids(session, run, choice, 500)
    assert agenda.counts(session, run, choice)[0] == len(ids)
    return len(ids)


def stale(database: Database) -> list[int]:
    with database.read.begin() as session:
        return [part for part, _ in keeping.stale(session, [RUN])[RUN]]


def kinds(session: Session) -> Any:
    return classes.of(session, views.project_of(session, RUN))
