"""Upgrading a database: complete, backed up, safe to kill, safe to start twice."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event, inspect, text

from backend.errors import Unavailable
from backend.projects import catalogue
from backend.storage import engine, schema, table_version
from backend.storage.tables import Base
from tests import databases

NEXT_STEP = '''
"""Adds a column, in more than one statement."""
import sqlalchemy as sa
from alembic import op

revision = "next"
down_revision = "{head}"

def upgrade():
    with op.batch_alter_table("project") as batch:
        batch.add_column(sa.Column("note", sa.Text(), nullable=True))
    op.execute("UPDATE project SET note = 'seen'")
    op.create_index("project_by_note", "project", ["note"])
'''


@pytest.fixture(params=["sqlite", "postgres"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[engine.Database]:
    """A database without any table."""
    url = f"sqlite:///{tmp_path / 'loupe.db'}"
    if request.param == "postgres":
        url = databases.new_postgres_database(request.getfixturevalue("postgres"))
    opened = engine.open_url(url)
    yield opened
    opened.close()


def newer(folder: Path) -> Path:
    """The migrations, with one more step."""
    head = table_version.newest()
    shutil.copytree(table_version.MIGRATIONS, folder / "migrations")
    (folder / "migrations/versions/next.py").write_text(NEXT_STEP.format(head=head))
    return folder / "migrations"


def test_migrations_with_two_ends_are_named(tmp_path: Path) -> None:
    steps = newer(tmp_path)
    last = (steps / "versions/next.py").read_text()
    (steps / "versions/beside.py").write_text(last.replace('"next"', '"beside"'))
    with pytest.raises(ValueError, match="end in beside and in next: one has to follow"):
        table_version.newest(steps)


def test_the_migrations_make_exactly_the_tables_of_the_code(bare: engine.Database) -> None:
    schema.prepare(bare)
    with bare.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_no_table_of_sqlite_gives_a_number_again(tmp_path: Path) -> None:
    upgraded, made = (engine.open_url(f"sqlite:///{tmp_path / one}.db") for one in "ab")
    schema.prepare(upgraded)
    engine.create_tables(made)
    counting = {
        table.name
        for table in Base.metadata.sorted_tables
        if table.autoincrement_column is not None
    }
    written = text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'")
    for opened in (upgraded, made):
        with opened.read.begin() as session:
            assert set(session.scalars(written)) == counting
        opened.close()


def test_preparing_twice_changes_nothing(bare: engine.Database) -> None:
    schema.prepare(bare)
    with bare.write.begin() as session:
        catalogue.create(session, "line 3")
    schema.prepare(bare)
    with bare.read() as session:
        assert catalogue.find(session, "line 3").name == "line 3"


def test_all_rows_are_copied_before_the_tables_change(
    bare: engine.Database, tmp_path: Path
) -> None:
    schema.prepare(bare)
    with bare.write.begin() as session:
        catalogue.create(session, "line 3")
    schema.prepare(bare, newer(tmp_path), copies=tmp_path)
    (backup,) = tmp_path.glob("*.before-*.db")
    assert backup.stat().st_mode & 0o777 == 0o600
    old = engine.open_url(f"sqlite:///{backup}")
    with old.read() as session:
        assert catalogue.find(session, "line 3").name == "line 3"
    assert "note" not in {column["name"] for column in inspect(old.engine).get_columns("project")}
    old.close()


def _upgrade_and_die(url: str, migrations: Path, statement: int) -> None:
    opened = engine.open_url(url)
    seen = 0

    def count(*_: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(opened.engine, "after_cursor_execute", count)
    schema.prepare(opened, migrations)


def _upgrade(url: str, migrations: Path) -> None:
    opened = engine.open_url(url)
    schema.prepare(opened, migrations)
    opened.close()


def test_an_upgrade_killed_at_any_statement_can_be_done_again(tmp_path: Path) -> None:
    url, migrations = f"sqlite:///{tmp_path / 'loupe.db'}", newer(tmp_path)
    spawn = multiprocessing.get_context("spawn")
    for statement in (3, 15, 30, 40):
        child = spawn.Process(target=_upgrade_and_die, args=(url, migrations, statement))
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL
    opened = engine.open_url(url)
    schema.prepare(opened, migrations)
    with opened.engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        assert connection.scalars(text("SELECT version_num FROM alembic_version")).all() == ["next"]
        assert "project_by_note" in {i["name"] for i in inspect(connection).get_indexes("project")}
    opened.close()


def test_four_starts_at_once_upgrade_once(bare: engine.Database, tmp_path: Path) -> None:
    url = bare.engine.url.render_as_string(hide_password=False)
    spawn = multiprocessing.get_context("spawn")
    starts = [spawn.Process(target=_upgrade, args=(url, newer(tmp_path))) for _ in range(1)]
    starts += [
        spawn.Process(target=_upgrade, args=(url, tmp_path / "migrations")) for _ in range(3)
    ]
    for child in starts:
        child.start()
    for child in starts:
        child.join()
    assert [child.exitcode for child in starts] == [0, 0, 0, 0]


def test_a_database_of_a_newer_loupe_is_left_alone(bare: engine.Database, tmp_path: Path) -> None:
    schema.prepare(bare, newer(tmp_path))
    with pytest.raises(Unavailable, match="newer Loupe"):
        schema.prepare(bare)
