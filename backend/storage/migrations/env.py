"""Run by alembic: migrate over the one connection, and so in the one transaction, it was given."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from backend.storage.tables import Base


def main() -> None:
    """Migrate."""
    connection: Connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        user_module_prefix="types.",
    )
    with context.begin_transaction():
        context.run_migrations()


main()
