"""Labels in doubt, and doubts that people dismissed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from backend.storage import types

revision = "0034"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables."""
    op.create_table(
        "dismissal",
        sa.Column("id", types.Key, nullable=False),
        sa.Column("project_id", types.Key, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("label", types.Json(), nullable=False),
        sa.Column("found", types.Json(), nullable=False),
        sa.Column("author", sa.String(length=100), nullable=False),
        sa.Column("at", types.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["project.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("dismissal", schema=None) as batch_op:
        batch_op.create_index("dismissal_by_bytes", ["project_id", "sha256"], unique=False)

    op.create_table(
        "doubt",
        sa.Column("id", types.Key, nullable=False),
        sa.Column("project_id", types.Key, nullable=False),
        sa.Column("image_id", types.Key, nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("certainty", sa.Float(), nullable=False),
        sa.Column("label", types.Json(), nullable=False),
        sa.Column("found", types.Json(), nullable=False),
        sa.Column("answer", sa.String(length=10), nullable=False),
        sa.Column("author", sa.String(length=100), nullable=False),
        sa.Column("answered", types.Moment(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["image_id"],
            ["image.id"],
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["project.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("doubt", schema=None) as batch_op:
        batch_op.create_index(
            "doubt_by_certainty", ["project_id", "answer", "certainty"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_doubt_image_id"), ["image_id"], unique=False)


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError
