"""Run by alembic: migrate over the one connection, and so in the one transaction, it was given."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, MetaData

from backend.storage.tables import OperationalBase, WarehouseBase


def both() -> MetaData:
    """All tables of both bases, which live in one database by default."""
    metadata = MetaData()
    for base in (OperationalBase, WarehouseBase):
        for table in base.metadata.sorted_tables:
            table.to_metadata(metadata)
    return metadata


def main() -> None:
    """Migrate."""
    connection: Connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=both(),
        render_as_batch=True,
        user_module_prefix="types.",
    )
    with context.begin_transaction():
        context.run_migrations()


main()
