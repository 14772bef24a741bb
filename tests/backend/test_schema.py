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
from sqlalchemy import MetaData, event, inspect, text

from backend.errors import Unavailable
from backend.services import projects
from backend.storage import engine, schema
from backend.storage.tables import OperationalBase, WarehouseBase
from tests import databases

SECOND_STEP = '''
"""Adds a column, in more than one statement."""
import sqlalchemy as sa
from alembic import op

revision, down_revision = "0002", "0001"

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
    opened = engine.open_urls(url)
    yield opened
    opened.close()


def newer(folder: Path) -> Path:
    """The migrations, with one more step."""
    shutil.copytree(schema.MIGRATIONS, folder / "migrations")
    (folder / "migrations/versions/m0002.py").write_text(SECOND_STEP)
    return folder / "migrations"


def test_the_migrations_make_exactly_the_tables_of_the_code(bare: engine.Database) -> None:
    schema.prepare(bare)
    both = MetaData()
    for base in (OperationalBase, WarehouseBase):
        for table in base.metadata.sorted_tables:
            table.to_metadata(both)
    with bare.operational.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), both) == []


def test_preparing_twice_changes_nothing(bare: engine.Database) -> None:
    schema.prepare(bare)
    with bare.write.begin() as session:
        projects.create(session, "line 3")
    schema.prepare(bare)
    with bare.read() as session:
        assert projects.find(session, "line 3").name == "line 3"


def test_a_sqlite_file_is_backed_up_before_it_changes(tmp_path: Path) -> None:
    opened = engine.open_urls(f"sqlite:///{tmp_path / 'loupe.db'}")
    schema.prepare(opened)
    with opened.write.begin() as session:
        projects.create(session, "line 3")
    schema.prepare(opened, newer(tmp_path))
    opened.close()
    (backup,) = tmp_path.glob("loupe.before-0001-*.db")
    assert backup.stat().st_mode & 0o777 == 0o600
    old = engine.open_urls(f"sqlite:///{backup}")
    with old.read() as session:
        assert projects.find(session, "line 3").name == "line 3"
    assert "note" not in {
        column["name"] for column in inspect(old.operational).get_columns("project")
    }
    old.close()


def _upgrade_and_die(url: str, migrations: Path, statement: int) -> None:
    opened = engine.open_urls(url)
    seen = 0

    def count(*_: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(opened.operational, "after_cursor_execute", count)
    schema.prepare(opened, migrations)


def _upgrade(url: str, migrations: Path) -> None:
    opened = engine.open_urls(url)
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
    opened = engine.open_urls(url)
    schema.prepare(opened, migrations)
    with opened.operational.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        assert connection.scalars(text("SELECT version_num FROM alembic_version")).all() == ["0002"]
        assert "project_by_note" in {i["name"] for i in inspect(connection).get_indexes("project")}
    opened.close()


def test_four_starts_at_once_upgrade_once(bare: engine.Database, tmp_path: Path) -> None:
    url = bare.operational.url.render_as_string(hide_password=False)
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
