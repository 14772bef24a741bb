"""For administrators: whether all is allowed that a load does, the SQL for it, and a rehearsal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL

from backend.errors import Invalid, Refused
from backend.warehouse import address as addresses
from backend.warehouse.address import Address
from backend.warehouse.dialects import opening
from backend.warehouse.inside import trial, versions
from backend.warehouse.queries import Answer, Query

if TYPE_CHECKING:
    from backend.warehouse.dialects.account import Tried

LOG_MODEL, SERVICE = "log_model", "service"
# How long a name may be.
LONGEST = {"snowflake": 255, "postgresql": 63}
UNITS = {"snowflake": "characters", "postgresql": "bytes"}


def check(address: Address, scratch: Path) -> dict[str, Any]:
    """Connect, and say who asks, where, of which version, and what is missing."""
    warehouse = opening.connect(address, scratch)
    try:
        return warehouse.check()
    finally:
        warehouse.close()


def apply(address: Address, scratch: Path, admin: str) -> Iterator[str]:
    """Run the script as a connection of connections.toml; gives each statement that was run.

    What it makes need not be there yet, so that the loader's own connection cannot run it.
    """
    if address.dialect != "snowflake":
        raise Refused("Only Snowflake is prepared so; here an administrator runs what is printed.")
    if not admin:
        raise Refused(
            "Databases, roles and rights are made by an administrator: name a connection of "
            "connections.toml with --admin, whose role may make them."
        )
    options = {addresses.NAMED: admin}
    url = URL.create("snowflake", query=options)
    warehouse = opening.connect(replace(address, url=url, options=options, secrets={}), scratch)
    try:
        for statement in script(address):
            warehouse.ask(statement, {})
            yield statement
    finally:
        warehouse.close()


def rehearse(address: Address, scratch: Path, pool: str = "") -> Iterator[Tried]:
    """What only a real account can show, tried in a schema that goes again.

    A service is tried where somebody names a compute pool for it, as it costs while it starts.
    """
    if address.dialect != "snowflake":
        raise Refused("Only an account of Snowflake is tried so; loupe warehouse check does here.")
    from backend.warehouse.dialects import account

    more: dict[str, account.Elsewhere] = {LOG_MODEL: _log_model}
    if pool:
        versions.check(address, "", pool)
        more[SERVICE] = lambda inner: trial.service(inner, pool)
    return account.attempt(address, scratch, more)


def _log_model(address: Address) -> str:
    from backend.warehouse.dialects import account

    try:
        versions.check_installed()
    except Refused as error:
        raise account.NotHere(str(error)) from None
    return trial.log_model(address)


def ask(address: Address, scratch: Path, query: Query, given: Mapping[str, str]) -> Answer:
    """The answer of the warehouse to one of the named queries."""
    values = query.values(given)
    warehouse = opening.connect(address, scratch)
    try:
        return warehouse.ask(query.sql, values)
    finally:
        warehouse.close()


def script(address: Address) -> list[str]:
    """What is needed and nothing more."""
    if address.dialect == "sqlite":
        return []
    if address.dialect == "postgresql":
        name, user = (
            quoted(one, "postgresql") for one in (address.url.database, address.url.username)
        )
        said = addresses.schema(address)
        schema = quoted(said, "postgresql") if said else "public"
        return [
            f"CREATE DATABASE {name};",
            *([f"CREATE SCHEMA IF NOT EXISTS {schema};"] if said else []),
            f"GRANT CREATE, USAGE ON SCHEMA {schema} TO {user};",
        ]
    options = addresses.named(address)
    database, schema = quoted(options.get("database")), quoted(options.get("schema"))
    house, role = quoted(options.get("warehouse")), quoted(options.get("role"))
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
        f"GRANT ROLE {role} TO USER {quoted(options.get('user'))};",
    ]


def quoted(name: Any, dialect: str = "snowflake") -> str:
    """A name as SQL writes it; what nobody has named is called loupe."""
    text = str(name or "LOUPE")
    size = len(text) if dialect == "snowflake" else len(text.encode())
    if size > LONGEST[dialect] or "\0" in text:
        raise Invalid(
            f"{text[:40]!r} is no name in the warehouse, where one has at most {LONGEST[dialect]} "
            f"{UNITS[dialect]}: see {addresses.SETTING} and the connection that it names."
        )
    plain = text.isidentifier() and text.isascii()
    if dialect == "postgresql" and name and text != text.lower():  # it would be made small
        plain = False
    return text if plain else '"' + text.replace('"', '""') + '"'
