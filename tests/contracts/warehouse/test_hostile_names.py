"""Names that would be statements, break lines or fill what a name may have are only names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from backend.domain import Box, Detection, Run, RunImage, State
from backend.errors import LoupeError
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage import findings, types
from backend.storage.engine import Database
from backend.storage.tables import ProjectRow
from backend.warehouse import queries
from backend.warehouse.dialects import opening
from tests import warehouses
from tests.warehouses import Place

HOSTILE = (
    "a'); DROP TABLE loupe_image; --",
    'b"; DELETE FROM loupe_run; /*"`',
    "c%s %(run)s ? :run $1 $$ {0} \\' \\n \\",
    "é ß 板 🔬 \u202egnp",
    "d\ne\tf",
    "g" * 255,
    "h" * 300,
    "NULL",
    "-- ",
)
RUN = 77


def taken(session: Any, name: str) -> bool:
    """Make a project of that name, unless such a name is refused in a sentence."""
    try:
        catalogue.create(session, name, classes=["x"])
    except LoupeError as error:
        assert str(error).endswith(".")  # noqa: PT017
        return False
    return True


def fill(database: Database) -> dict[str, int]:
    """Boards, lots, classes, authors and projects of such names, with a run over the boards."""
    with database.write.begin() as session:
        for name in HOSTILE:
            with session.begin_nested():
                taken(session, name)
        project = catalogue.create(session, "boards", classes=["x"]).id
        new = [NewImage(name, "c" * 64, 100, 50, group=name) for name in HOSTILE]
        images.add(session, project, new, HOSTILE[0])
        ids = images.ids(session, project, HOSTILE)
    for name, at in ids.items():
        with database.write.begin() as session:
            box = Box(1, 2, 3, 4, "x", author=name[:200])
            labelling.save(session, at, 0, [box], name[:200], state=State.DONE)
    with database.write.begin() as session:
        findings.start(session, Run(RUN, HOSTILE[1], HOSTILE[0][:20], types.now(), project))
        seen = [
            RunImage(at, name, "c" * 64, 100, 50, detections=(Detection(1, 2, 3, 4, name, 0.5),))
            for name, at in ids.items()
        ]
        findings.record(session, RUN, seen)
        findings.finish(session, RUN, 1.0, {"source": HOSTILE[2]})
    return ids


@pytest.fixture
def house(sqlite: Database, tmp_path: Path, place: Place) -> warehouses.Publishing:
    return warehouses.publishing(sqlite, tmp_path, place)


def test_hostile_names_arrive_as_they_are_and_are_asked_for(
    house: warehouses.Publishing, tmp_path: Path
) -> None:
    ids = fill(house.database)
    house.load()
    ask = house.place.ask
    assert dict(ask("SELECT name, lot FROM loupe_image_now")) == {one: one for one in HOSTILE}
    with house.database.read() as session:
        projects = set(session.scalars(select(ProjectRow.name)))
    assert {name for (name,) in ask("SELECT name FROM loupe_project_now")} == projects
    assert ask("SELECT model FROM loupe_run_now") == [(HOSTILE[1],)]
    found = ask("SELECT image_path, detected_class, model_version FROM defect_logs")
    assert sorted(map(tuple, found)) == sorted((one, one, HOSTILE[1]) for one in HOSTILE)
    listed = ask('SELECT "file_name", "result" FROM loupe_result')
    told = {name: json.loads(one) if isinstance(one, str) else one for name, one in listed}
    assert {name: one[0]["name"] for name, one in told.items()} == {one: one for one in HOSTILE}
    saved = ask("SELECT image_id, saved_by FROM loupe_label_now")
    assert {(at, name[:200]) for name, at in ids.items()} == set(map(tuple, saved))
    boards = dict(ask("SELECT file_name, board FROM loupe_seen"))
    warehouse = opening.connect(house.place.address, tmp_path / "scratch")
    query = queries.find("beside")
    for board in boards.values():
        answer = warehouse.ask(query.sql, query.values({"run": str(RUN), "board": board}))
        assert sum(row[0] == "found" for row in answer.rows) >= 1
    warehouse.close()
    assert ask("SELECT count(*) FROM loupe_image_now") == [(len(HOSTILE),)]
