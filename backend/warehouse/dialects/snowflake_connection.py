"""One connection to Snowflake: bounded patience, no telemetry, refusals as sentences."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from backend.errors import Unavailable
from backend.warehouse import address as addresses
from backend.warehouse.address import Address
from backend.warehouse.dialects import complaints

# The connector reads this when it is imported, and asks clouds' own addresses without it.
os.environ["SNOWFLAKE_DISABLE_PLATFORM_DETECTION"] = "true"

# The connector's own patience has no end. In seconds. A statement may be silent for longer than a
# login: an answer that is not there yet is held back for up to 45 seconds.
PATIENCE = {"login_timeout": 10, "network_timeout": 120, "socket_timeout": 10}
SILENT = 60
STATEMENT = 900
PAGE = 1000  # rows that are held at once


class SnowflakeConnection:
    """An open connection; values are bound by the connector, never written into a statement."""

    def __init__(self, address: Address) -> None:
        self._hidden = addresses.hidden(address)
        self._open = opened(address, self._hidden)

    def ask(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement."""
        with _told(self._hidden), self._open.cursor() as cursor:
            done = cursor.execute(sql, tuple(values) or None, timeout=STATEMENT)
            rows: list[tuple[Any, ...]] = done.fetchall()
            return rows

    def table(self, sql: str, values: Mapping[str, Any]) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of a query's columns and its rows; values are bound by their names."""
        with _told(self._hidden), self._open.cursor() as cursor:
            done = cursor.execute(sql, dict(values) or None, timeout=STATEMENT)
            return [one[0] for one in cursor.description], done.fetchall()

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, one after another."""
        with _told(self._hidden), self._open.cursor() as cursor:
            cursor.execute(sql, tuple(values) or None, timeout=STATEMENT)
            while rows := cursor.fetchmany(PAGE):
                yield from rows

    def close(self) -> None:
        """Let go of it."""
        self._open.close()


def opened(address: Address, hidden: Sequence[str]) -> Any:
    """A connection of Snowflake's own connector that reports to nobody."""
    import snowflake.connector

    logging.getLogger("snowflake").setLevel(logging.ERROR)
    secrets = {name: one.get_secret_value() for name, one in address.secrets.items()}
    with _told(hidden):
        connection = snowflake.connector.connect(
            **{**address.options, **secrets, **PATIENCE},
            session_parameters={
                "CLIENT_TELEMETRY_ENABLED": False,
                "STATEMENT_TIMEOUT_IN_SECONDS": STATEMENT,
                "QUERY_TAG": "loupe",
                "TIMEZONE": "UTC",
            },
            platform_detection_timeout_seconds=0.0,
            log_imported_packages_in_telemetry=False,
            client_session_keep_alive=False,
        )
    connection.telemetry_enabled = False
    connection._socket_timeout = SILENT
    return connection


@contextmanager
def _told(hidden: Sequence[str]) -> Iterator[None]:
    import snowflake.connector

    try:
        yield
    except snowflake.connector.Error as error:
        raise Unavailable(complaints.sentence(error, hidden)) from None
