"""A review is the same into whatever its results are published, and where they go nowhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.domain import Verdict
from backend.review import agenda, judgements, reports, tally, views
from backend.review.judgements import Judgement
from backend.storage import engine
from backend.storage.engine import Database
from tests import warehouses
from tests.homes import whole_home
from tests.homes.whole_home import RUN
from tests.warehouses import Place


def reviewed(database: Database, then: Callable[[], None]) -> list[Any]:
    """What queue, wall, figures and report say of a review, before and after an answer."""
    project = whole_home.fill(database)
    then()
    before = _told(database, project)
    image = before[0][-1]
    answer = Judgement({0: Verdict.ACCEPT, 1: Verdict.FALSE_CALL})
    with database.write.begin() as session:
        judgements.judge(session, RUN, image, answer, "bo")
    then()
    after = _told(database, project)
    assert after != before
    return [before, after]


def _told(database: Database, project: int) -> list[Any]:
    with database.read() as session:
        rows = list(reports.rows(session, RUN))
        assert rows
        return [
            agenda.ids(session, RUN, agenda.parse(()), 9),
            views.wall_classes(session, RUN),
            views.wall(session, RUN, "open"),
            tally.figures(session, RUN),
            [(one.run.id, one.reviewed) for one in views.runs(session, project)],
            [{n: v for n, v in row.items() if not isinstance(v, datetime)} for row in rows],
        ]


def test_a_review_is_the_same_whatever_it_is_published_into(
    database: Database, tmp_path: Path, place: Place
) -> None:
    house = warehouses.publishing(database, tmp_path, place)
    told = reviewed(database, house.load)
    alone = engine.open_url(f"sqlite:///{tmp_path / 'alone.db'}")
    engine.create_tables(alone)
    assert told == reviewed(alone, lambda: None)
    alone.close()
    with database.read() as session:
        said = sum(1 for row in reports.rows(session, RUN) if row["decision"])
    assert said >= 2
