"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from backend.storage import types

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError
