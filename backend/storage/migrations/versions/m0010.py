"""The figures of measurements, each by its job, model and class; none was written before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from backend.storage import types

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables."""
    op.drop_table("metric")
    op.create_table(
        "metric",
        sa.Column("job_id", types.Key, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("class_id", types.Key, autoincrement=False, nullable=False),
        sa.Column("model_id", types.Key, nullable=True),
        sa.Column("split", sa.String(length=10), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"]),
        sa.ForeignKeyConstraint(["model_id"], ["model.id"]),
        sa.PrimaryKeyConstraint("job_id", "name", "class_id"),
    )
    op.create_index("ix_metric_model_id", "metric", ["model_id"])


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError
