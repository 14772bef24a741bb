"""No project has two champions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables."""
    # The newest stays where an earlier version has let two in.
    op.execute(
        "UPDATE model SET champion = (1 = 0) WHERE champion AND id < (SELECT MAX(o.id) "
        "FROM model o WHERE o.champion AND o.project_id = model.project_id)"
    )
    with op.batch_alter_table("model", schema=None) as batch_op:
        batch_op.create_index(
            "model_champion",
            ["project_id"],
            unique=True,
            sqlite_where=sa.text("champion"),
            postgresql_where=sa.text("champion"),
        )


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError
