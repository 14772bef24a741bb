"""Keep what a table of boards says of pictures, and sum up by it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from backend.storage import types

revision = "0036"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables; sums are added up anew by the first overview."""
    op.add_column("image", sa.Column("facts", sa.Text(), server_default="", nullable=False))
    facet = sa.Column("facet", sa.String(length=1000), server_default="", nullable=False)
    op.add_column("image", facet)
    for name in ("board_sum", "class_sum"):
        op.drop_table(name)
    for name in ("part_sum", "board_mark"):
        op.execute(f"DELETE FROM {name}")
    op.create_table(
        "board_sum",
        _key("run_id"),
        *_names(group_name=300, day=10, facet=1000),
        *_numbers("passed", "failed", "asked", "said", "labelled"),
        sa.PrimaryKeyConstraint("run_id", "group_name", "day", "facet"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "class_sum",
        _key("run_id"),
        *_names(group_name=300, day=10),
        _key("class_id"),
        *_names(label=200, facet=1000),
        *_numbers("defects", "boards", "found", "escapes", "false_calls"),
        sa.Column("spread", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "group_name", "day", "class_id", "label", "facet"),
        sqlite_with_rowid=False,
    )


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, types.Key, autoincrement=False, nullable=False)


def _names(**longest: int) -> list[sa.Column[Any]]:
    return [
        sa.Column(name, sa.String(length=most), nullable=False) for name, most in longest.items()
    ]


def _numbers(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError
