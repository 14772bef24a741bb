"""What is put away is in no queue and on no wall: nobody could save what they say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage, Verdict
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import agenda, blind_repeats, views
from backend.review.agenda import Choice
from backend.review.deciding import decisions, takebacks
from backend.review.deciding.decisions import Sheet
from backend.storage import findings
from backend.storage.engine import Database

RUN = 5
WHO = "ana"


@dataclass
class Line:
    """Three boards that a run has seen, each with one defect; one is judged."""

    session: Session
    ids: list[int]


@pytest.fixture
def line(database: Database) -> Iterator[Line]:
    with database.write.begin() as session:
        project = catalogue.create(session, "line")
        classes.ensure(session, project.id, "spur")
        new = [NewImage(name, "0" * 64, 99, 99) for name in "abc"]
        images.add(session, project.id, new, WHO)
        ids = list(images.ids(session, project.id, "abc").values())
        findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        found = (Detection(9.0, 9.0, 20.0, 20.0, "spur", 0.5),)
        findings.record(session, RUN, [RunImage(one, str(one), detections=found) for one in ids])
        version = labelling.version_of(session, ids[0])
        sheet = Sheet(version, (), run_id=RUN, review=True, verdict=Verdict.PASS)
        decisions.save(session, ids[0], sheet, WHO)
        yield Line(session, ids)


def taken(session: Session, ids: list[int]) -> set[int]:
    return set(agenda.take(session, RUN, Choice(), "tab", WHO, wanted=ids[0]).image_ids)


def looked(session: Session, ids: list[int]) -> set[int]:
    return set(agenda.look(session, RUN, Choice(), wanted=ids[0]).image_ids)


def walled(session: Session, _: list[int]) -> set[int]:
    total, tiles = views.wall(session, RUN, "spur")
    assert views.wall_classes(session, RUN) == {"spur": total} == {"spur": len(tiles)}
    return {tile.image_id for tile in tiles}


def undone(session: Session, _: list[int]) -> set[int]:
    return {takebacks.last(session, RUN, WHO)}


def repeated(session: Session, _: list[int]) -> set[int]:
    return {blind_repeats.due(session, RUN, "ben", 5.0)}


WAYS: list[Callable[[Session, list[int]], set[int]]] = [taken, looked, walled, undone, repeated]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_put_away_is_given_to_nobody(
    line: Line, way: Callable[[Session, list[int]], set[int]]
) -> None:
    judged, other, _ = line.ids
    assert judged in way(line.session, line.ids) or way is repeated
    images.put_away(line.session, [judged])
    agenda.give_back(line.session, RUN, "tab")
    assert judged not in way(line.session, line.ids)
    images.put_away(line.session, [other])
    agenda.give_back(line.session, RUN, "tab")
    assert other not in way(line.session, line.ids)


def test_the_queue_counts_what_can_be_reviewed(line: Line) -> None:
    images.put_away(line.session, line.ids[1:2])
    assert agenda.counts(line.session, RUN, Choice()) == (2, 1)
