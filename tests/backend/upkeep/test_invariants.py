"""Each rule of `loupe check` finds the damage that it is for, and mends what it can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.storage import engine
from backend.storage.tables import Base
from backend.upkeep.invariants import RULES, leading
from backend.upkeep.invariants.leading import Reference
from backend.upkeep.invariants.rule import Rule
from tests import databases
from tests.homes import whole_home

OLD = "'2001-01-01 00:00:00'"
FIRST = "WHERE id = (SELECT MIN(id) FROM {})"
FIRST_SEEN = "WHERE image_id = (SELECT MIN(image_id) FROM detection)"
# What breaks each rule; references are broken by `astray`.
DAMAGE = {
    "versions": f"UPDATE image SET version = version + 1 {FIRST.format('image')}",
    "boxes": "UPDATE box SET x1 = x1 / 2",
    "champion": "UPDATE model SET champion = (1 = 1)",
    "champion-is-ready": "UPDATE model SET state = 'failed'",
    "order-of-classes": 'UPDATE class SET "index" = 0',
    "merged-twice": "UPDATE class SET merged_into_id = (SELECT MAX(id) FROM class "
    "WHERE merged_into_id IS NOT NULL) WHERE merged_into_id IS NULL",
    "boxes-of-merged-class": "UPDATE box SET class_id = "
    "(SELECT id FROM class WHERE merged_into_id IS NOT NULL)",
    "boxes-of-removed-class": f"UPDATE class SET retired = {OLD}",
    "images-of-merged-class": "UPDATE image SET label_id = "
    "(SELECT id FROM class WHERE merged_into_id IS NOT NULL)",
    "names-of-merged-class": "UPDATE class_name SET class_id = "
    "(SELECT id FROM class WHERE merged_into_id IS NOT NULL)",
    "one-project": "UPDATE class SET project_id = (SELECT MIN(id) FROM project)",
    "undone": "UPDATE decision SET idx = 0 WHERE undoes IS NOT NULL",
    "undone-once": "UPDATE decision SET undoes = (SELECT MIN(undoes) FROM decision)",
    "classes-of-revision": "UPDATE revision SET boxes = "
    """REPLACE(boxes, '"class":', '"class": 9')""",
    "detections-of-revision": "UPDATE revision SET boxes = "
    """REPLACE(boxes, '"detection":[', '"detection":[9')""",
    "classes-in-lists": "UPDATE model SET class_ids = '[987654]'",
    "requests-of-jobs": """UPDATE job SET request = '{"model_id": 987654}'""",
    "state-of-image": "UPDATE image SET state = 'skipped' WHERE version > 0",
    "new-is-bare": "UPDATE image SET state = 'done' WHERE version = 0",
    "boxes-of-image": "UPDATE image SET box_count = 77",
    "doubt-of-image": "UPDATE image SET doubt = 0.123",
    "detections-of-image": "UPDATE run_image SET detection_count = 77",
    "order-of-review": f"UPDATE detection SET score = 0.51, x1 = x1 + 3 {FIRST_SEEN}",
    "counts-of-run": "UPDATE run SET images = 77",
    "events-of-job": "UPDATE job SET event_count = 0",
    "end-of-job": "UPDATE job SET state = 'done', finished = NULL",
    "stale-lease": f"UPDATE lease SET until = {OLD}",
}
BY_NAME = pytest.mark.parametrize("rule", RULES, ids=[one.name for one in RULES])


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[engine.Database]:
    """A database in which every table has rows."""
    url = f"sqlite:///{tmp_path_factory.mktemp('home') / 'loupe.db'}"
    if request.param == "postgres":
        url = databases.new_postgres_database(request.getfixturevalue("postgres"))
    opened = engine.open_url(url)
    engine.create_tables(opened)
    whole_home.fill(opened)
    yield opened
    opened.close()


@contextmanager
def hurt(home: engine.Database) -> Iterator[Session]:
    """A session that no foreign key stops, and of which nothing stays."""
    with home.engine.connect() as connection:
        raw = connection.connection.cursor()
        sqlite = home.engine.dialect.name == "sqlite"
        raw.execute(
            "PRAGMA foreign_keys=OFF" if sqlite else "SET session_replication_role = replica"
        )
        raw.connection.commit()
        try:
            with Session(connection) as session:
                session.execute(text("DROP INDEX model_champion"))
                yield session
                session.rollback()
        finally:
            connection.invalidate()


def astray(one: Reference) -> str:
    """Leads one row elsewhere, by the last of its columns."""
    key = [column.name for column in Base.metadata.tables[one.table].primary_key.columns]
    there = " AND ".join(f'"{name}" IS NOT NULL' for name in one.columns)
    where = [f'"{name}" = (SELECT "{name}" FROM "{one.table}" WHERE {there} ORDER BY '
             f'{", ".join(key)} LIMIT 1)' for name in key]  # fmt: skip
    return f'UPDATE "{one.table}" SET "{one.columns[-1]}" = 987654 WHERE {" AND ".join(where)}'


def damage(rule: Rule) -> str:
    by_reference = {
        made.name: astray(one)
        for made, one in zip(leading.rules(), leading.references(), strict=True)
    }
    return (DAMAGE | by_reference)[rule.name]


def told(rule: Rule, session: Session) -> list[str]:
    return [rule.sentence.format(**row) for row in rule.breaches(session)]


@BY_NAME
def test_a_rule_finds_its_damage_and_mends_it_where_it_can(
    home: engine.Database, rule: Rule
) -> None:
    with hurt(home) as session:
        assert told(rule, session) == []
        session.execute(text(damage(rule)))
        found = told(rule, session)
        assert found
        assert all(sentence.endswith(".") and "{" not in sentence for sentence in found)
        rule.mend(session)
        assert (told(rule, session) == []) is (rule.repair is not None)


@BY_NAME
def test_a_repair_changes_nothing_where_nothing_is_amiss(home: engine.Database, rule: Rule) -> None:
    with hurt(home) as session:
        before = whole_home.rows(session)
        rule.mend(session)
        assert whole_home.rows(session) == before


def test_each_column_that_names_a_row_is_watched() -> None:
    """A new table's references are rules, too."""
    watched = {f"{one.table}.{name}" for one in leading.references() for name in one.columns}
    named = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if column.name.endswith(("_id", "_idx")) or column.name in ("idx", "undoes", "version")
    }
    own = {"detection.idx", "image.version", "load.version", "revision.version"}
    own |= {"tracked_run.version"}  # the store's
    # A crop outlives its source, with the box and the class that it had there.
    own |= {"crop.source_id", "crop.box_id", "crop.class_id"}
    # What was added up is added up anew once what it names is gone.
    own |= {"class_sum.class_id", "board_mark.class_id", "board_mark.image_id"}
    assert named - watched - own == set()


def test_a_whole_home_has_rows_in_each_table(home: engine.Database) -> None:
    with home.read() as session:
        rows = whole_home.rows(session)
    assert {name for name, found in rows.items() if not found} == {"setting", "worker"}
