"""What an administrator is told: whether all is allowed that a load does, and the SQL for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.warehouse.address import Address
from backend.warehouse.dialects import opening
from backend.warehouse.queries import Answer, Query


def check(address: Address, scratch: Path) -> dict[str, Any]:
    """Connect, and say who asks, where, of which version, and what is missing."""
    warehouse = opening.connect(address, scratch)
    try:
        return warehouse.check()
    finally:
        warehouse.close()


def ask(address: Address, scratch: Path, query: Query, given: Mapping[str, str]) -> Answer:
    """The answer of the warehouse to one of the named queries."""
    values = query.values(given)
    warehouse = opening.connect(address, scratch)
    try:
        return warehouse.ask(query.sql, values)
    finally:
        warehouse.close()


def script(address: Address) -> list[str]:
    """What is needed and nothing more; it is printed, and run by an administrator alone."""
    if address.dialect == "sqlite":
        return []
    if address.dialect == "postgresql":
        name, user = _quoted(address.url.database), _quoted(address.url.username)
        return [f"CREATE DATABASE {name};", f"GRANT CREATE, USAGE ON SCHEMA public TO {user};"]
    options = address.options
    database, schema = _quoted(options.get("database")), _quoted(options.get("schema"))
    house, role = _quoted(options.get("warehouse")), _quoted(options.get("role"))
    place = f"{database}.{schema}"
    return [
        f"CREATE DATABASE IF NOT EXISTS {database};",
        f"CREATE SCHEMA IF NOT EXISTS {place};",
        f"CREATE WAREHOUSE IF NOT EXISTS {house} WAREHOUSE_SIZE = XSMALL AUTO_SUSPEND = 60 "
        "AUTO_RESUME = TRUE INITIALLY_SUSPENDED = TRUE;",
        f"CREATE ROLE IF NOT EXISTS {role};",
        f"GRANT USAGE ON WAREHOUSE {house} TO ROLE {role};",
        f"GRANT USAGE ON DATABASE {database} TO ROLE {role};",
        f"GRANT USAGE, CREATE TABLE, CREATE VIEW ON SCHEMA {place} TO ROLE {role};",
        f"GRANT ROLE {role} TO USER {_quoted(options.get('user'))};",
    ]


def _quoted(name: Any) -> str:
    """A name as SQL writes it; what nobody has named is called loupe."""
    text = str(name or "LOUPE")
    plain = text.isidentifier() and text.isascii()
    return text if plain else '"' + text.replace('"', '""') + '"'
