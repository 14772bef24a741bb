"""What analysts ask of a warehouse: its views and the named queries, on every kind of one."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backend.domain import Box, Detection, Origin, Run, RunImage, State, Verdict
from backend.errors import Invalid, NotFound
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.review.deciding import decisions
from backend.storage import findings, types
from backend.storage.engine import Database
from backend.warehouse import queries
from backend.warehouse.dialects import opening
from backend.warehouse.dialects.base import Warehouse
from backend.warehouse.queries import QUERIES
from tests import databases, warehouses
from tests.homes import whole_home
from tests.warehouses import Place

RUN = 901
NAMES = {"l1/a.b.jpg": "L1", "l1/b.jpg": "L1", "l2/c.jpg": "L2"}
FOUND = {
    "l1/a.b.jpg": (
        Detection(10, 10, 30, 20, "open", 0.875),
        Detection(40, 10, 60, 20, "open", 0.75, 1),
        Detection(5, 5, 15, 15, "spur", 0.25, 2),
    ),
    "l1/b.jpg": (),
    "l2/c.jpg": (Detection(70, 30, 90, 40, "spur", 0.5),),
}
LISTED = 'SELECT "file_name", "result" FROM loupe_result WHERE run_id = :run'
LOGGED = [
    "INFERENCE_ID", "BOARD_ID", "INFERENCE_TIMESTAMP", "DETECTED_CLASS", "CONFIDENCE_SCORE",
    "BBOX_X_CENTER", "BBOX_Y_CENTER", "BBOX_WIDTH", "BBOX_HEIGHT", "IMAGE_PATH", "MODEL_VERSION",
]  # fmt: skip
TODAY = types.now().strftime("%Y-%m-%d")
ASKED: dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]] = {
    "found": ({"run": "901"}, [("open", 2, 0.8125), ("spur", 2, 0.375)]),
    "false_calls": ({"run": "901"}, [("open", 1, 0), ("spur", 1, 1)]),
    "lots": ({"run": "901"}, [("L1", 2, 1)]),
    "missed": ({"run": "901"}, [("ana", 1)]),
    "surest": ({"project": "boards"}, [(1, "open", 0.5)]),
    "yield": ({"run": "901", "score": "0.5"}, [(3, 1, 1 / 3)]),
    "pareto": (
        {"run": "901", "score": "0.5"},
        [("open", 2, 2 / 3, 2 / 3), ("spur", 1, 1 / 3, 1.0)],
    ),
    "lines": ({"run": "901", "score": "0.5"}, [("L1", "open", 2, 1), ("L2", "spur", 1, 1)]),
    "daily": ({"project": "lines", "score": "0.5", "since": "2026-01-01"}, [(TODAY, 3, 2, 3)]),
    "best": (
        {"run": "901"},
        [
            ("open", "l1/a.b.jpg", 0.875, 10.0, 10.0, 30.0, 20.0),
            ("spur", "l2/c.jpg", 0.5, 70.0, 30.0, 90.0, 40.0),
        ],
    ),
    "clean": ({"run": "901", "score": "0.5"}, [("l1/b.jpg", "L1")]),
    "beside": (
        {"run": "901", "board": "a.b"},
        [
            ("found", "spur", 0.25, 5.0, 5.0, 15.0, 15.0),
            ("found", "open", 0.875, 10.0, 10.0, 30.0, 20.0),
            ("found", "open", 0.75, 40.0, 10.0, 60.0, 20.0),
            ("labelled", "short", None, 80.0, 5.0, 95.0, 15.0),
        ],
    ),
}


def inspect(database: Database) -> dict[str, int]:
    """A run over three boards of two lots, of which two were reviewed; gives their numbers."""
    whole_home.fill(database)
    with database.write.begin() as session:
        project = catalogue.create(session, "lines", classes=["open", "spur", "short"]).id
        new = [NewImage(name, "c" * 64, 100, 50, group=lot) for name, lot in NAMES.items()]
        images.add(session, project, new, "ana")
        ids = images.ids(session, project, NAMES)
        # What an earlier run of the same day has seen is not counted again.
        findings.start(session, Run(RUN - 10, "v2", "yolo", types.now(), project))
        name = "l1/b.jpg"
        seen_before = RunImage(ids[name], name, "c" * 64, 100, 50, detections=FOUND["l2/c.jpg"])
        findings.record(session, RUN - 10, [seen_before])
        findings.start(session, Run(RUN, "v2", "yolo", types.now(), project))
        seen = [RunImage(ids[one], one, "c" * 64, 100, 50, detections=FOUND[one]) for one in NAMES]
        broken = RunImage(7_000, "l2/d.jpg", status="unreadable", error="It is no picture.")
        findings.record(session, RUN, [*seen, broken])
        findings.finish(session, RUN, 1.0, {})
    return ids


def review(database: Database, ids: dict[str, int]) -> None:
    """One detection refused, one accepted, one defect that was missed; two verdicts."""
    missed = Box(80, 5, 95, 15, "short", Origin.HUMAN)
    sheets = {
        "l1/a.b.jpg": decisions.Sheet(
            0, (missed,), State.DONE, run_id=RUN, rejected=(2,), accepted=(0,), review=True,
            verdict=Verdict.FAIL,
        ),
        "l1/b.jpg": decisions.Sheet(
            0, (), State.DONE, run_id=RUN, review=True, verdict=Verdict.PASS
        ),
    }  # fmt: skip
    for name, sheet in sheets.items():
        with database.write.begin() as session:
            decisions.save(session, ids[name], sheet, "ana")


def test_named_queries_and_views_say_what_stands(
    sqlite: Database, tmp_path: Path, place: Place
) -> None:
    house = warehouses.publishing(sqlite, tmp_path, place)
    ids = inspect(sqlite)
    review(sqlite, ids)
    house.load()
    with closing(opening.connect(place.address, tmp_path)) as warehouse:
        listed(warehouse)
        logged(warehouse, ids)
        for name, (given, expected) in ASKED.items():
            query = QUERIES[name]
            rows: Any = warehouse.ask(query.sql, query.values(given)).rows
            assert rows == [pytest.approx(row, nan_ok=True) for row in expected], name


def listed(warehouse: Warehouse) -> None:
    """Each picture has its list, empty ones too; names in lower case, as they were asked for."""
    answer = warehouse.ask(LISTED, {"run": RUN})
    assert list(answer.columns) == ["file_name", "result"]
    found = {name: _list(told) for name, told in answer.rows}
    assert set(found) == set(NAMES)
    assert found["l1/b.jpg"] == []
    assert [one["name"] for one in found["l1/a.b.jpg"]] == ["open", "open", "spur"]
    (spur,) = found["l2/c.jpg"]
    assert isinstance(spur.pop("class"), int)
    corners = {"x1": 70.0, "y1": 30.0, "x2": 90.0, "y2": 40.0}
    assert spur == {"name": "spur", "confidence": 0.5, "box": corners}


def _list(told: Any) -> Any:
    """PostgreSQL's driver reads JSON by itself."""
    return told if isinstance(told, list) else json.loads(told)


def logged(warehouse: Warehouse, ids: dict[str, int]) -> None:
    answer = warehouse.ask("SELECT * FROM defect_logs WHERE image_path = 'l2/c.jpg'", {})
    assert [name.upper() for name in answer.columns] == LOGGED
    ((id_, board, at, *rest),) = answer.rows
    assert (id_, board) == (f"{RUN}-{ids['l2/c.jpg']}-0", "c")
    assert str(at).startswith(TODAY)
    assert rest == ["spur", 0.5, 0.8, 0.7, 0.2, 0.2, "l2/c.jpg", "v2"]


def test_every_query_is_asked_and_says_what_it_needs() -> None:
    assert set(ASKED) == set(QUERIES)
    for given, query in ((ASKED[name][0], query) for name, query in QUERIES.items()):
        assert set(query.needs) == set(given)
        with pytest.raises(Invalid, match="loupe warehouse ask"):
            query.values({})
    with pytest.raises(Invalid, match="no number"):
        QUERIES["found"].values({"run": "'; DROP TABLE x; --"})
    with pytest.raises(NotFound, match="found, false_calls"):
        queries.find("nothing")


def test_what_somebody_has_built_on_our_views_outlives_an_upgrade(
    tmp_path: Path, postgres: str
) -> None:
    url = databases.new_postgres_database(postgres)
    place = warehouses.place("postgres", tmp_path, url)
    with closing(opening.connect(place.address, tmp_path)) as warehouse:
        warehouse.lay()
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("CREATE VIEW theirs AS SELECT board_id FROM defect_logs")
        connection.execute("GRANT SELECT ON defect_logs TO PUBLIC")
    with closing(opening.connect(place.address, tmp_path)) as warehouse:
        warehouse.lay()
    assert place.ask("SELECT count(*) FROM theirs") == [(0,)]
    everybody = "SELECT count(*) FROM pg_class, aclexplode(relacl) a WHERE a.grantee = 0"
    assert place.ask(f"{everybody} AND relname = 'defect_logs'") == [(1,)]


def test_what_is_somebody_elses_is_left_as_it_is(sqlite: Database, tmp_path: Path) -> None:
    place = warehouses.place("sqlite", tmp_path)
    with closing(sqlite3.connect(tmp_path / "results.db")) as lite:
        lite.execute("CREATE TABLE DEFECT_LOGS (theirs TEXT)")
        lite.execute("CREATE VIEW PCB_LABELED_DATA AS SELECT 'theirs' AS theirs")
    house = warehouses.publishing(sqlite, tmp_path, place)
    inspect(sqlite)
    house.load()
    assert place.ask("SELECT count(*) FROM DEFECT_LOGS") == [(0,)]
    assert place.ask("SELECT theirs FROM PCB_LABELED_DATA") == [("theirs",)]
    assert place.ask("SELECT count(*) FROM loupe_found WHERE run_id = 901") == [(4,)]
