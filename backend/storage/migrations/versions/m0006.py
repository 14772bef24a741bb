"""On SQLite the number of what was removed is never given again."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = ("project", "class", "image", "snapshot", "model", "job", "decision", "selection")
NUMBERED = "id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"


def upgrade() -> None:
    """Make the tables anew, as SQLite keeps their highest number only where it is told so."""
    if op.get_bind().dialect.name == "sqlite":
        for table in TABLES:
            _numbered(table)


def _numbered(table: str) -> None:
    bind = op.get_bind()
    written = text("SELECT sql FROM sqlite_master WHERE type = :type AND tbl_name = :table")
    (made,) = bind.scalars(written, {"type": "table", "table": table})
    indexes = [sql for sql in bind.scalars(written, {"type": "index", "table": table}) if sql]
    columns, _, keys = made.partition("PRIMARY KEY (id)")
    body = columns.replace("id INTEGER NOT NULL", NUMBERED, 1).rstrip().removesuffix(",")
    _, _, body = body.partition("(")
    new = f'CREATE TABLE "new {table}" ({body}{keys}'
    for statement in (
        new,
        f'INSERT INTO "new {table}" SELECT * FROM "{table}"',
        f'DROP TABLE "{table}"',
        f'ALTER TABLE "new {table}" RENAME TO "{table}"',
        *indexes,
    ):
        bind.exec_driver_sql(statement)


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError
