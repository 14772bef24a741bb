"""Add up runs as a whole, not part by part."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from backend.storage import types

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables; what they have is added up anew by the first overview."""
    for name in ("part_sum", "board_sum", "class_sum"):
        op.drop_table(name)
    op.execute("DELETE FROM board_mark")
    op.create_table(
        "part_sum",
        _key("run_id"),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("mark", sa.String(length=64), nullable=False),
        sa.Column("marked", sa.Boolean(), nullable=False),
        sa.Column("told", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "part"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "board_sum",
        _key("run_id"),
        sa.Column("group_name", sa.String(length=300), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        *_numbers("passed", "failed", "asked", "said", "labelled"),
        sa.PrimaryKeyConstraint("run_id", "group_name", "day"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "class_sum",
        _key("run_id"),
        sa.Column("group_name", sa.String(length=300), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        _key("class_id"),
        sa.Column("label", sa.String(length=200), nullable=False),
        *_numbers("defects", "boards", "found", "escapes", "false_calls"),
        sa.Column("spread", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "group_name", "day", "class_id", "label"),
        sqlite_with_rowid=False,
    )


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, types.Key, autoincrement=False, nullable=False)


def _numbers(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError
