"""Find the jobs of the last day by their end."""

from __future__ import annotations

from alembic import op

revision = "0032"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables."""
    op.create_index("job_by_end", "job", ["finished"])


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError
