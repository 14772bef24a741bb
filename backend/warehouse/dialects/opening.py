"""Opens the warehouse that an address names."""

from __future__ import annotations

from pathlib import Path

from backend.warehouse.address import Address
from backend.warehouse.dialects.base import Warehouse


def connect(address: Address, scratch: Path) -> Warehouse:
    """Open it; its driver is imported now and not before. `scratch` takes files on their way."""
    if address.dialect == "sqlite":
        from backend.warehouse.dialects.sqlite import Sqlite

        return Sqlite(address)
    if address.dialect == "postgresql":
        from backend.warehouse.dialects.postgresql import Postgresql

        return Postgresql(address)
    from backend.warehouse.dialects.snowflake import Snowflake

    return Snowflake(address, scratch)
