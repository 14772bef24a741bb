"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, Text
from sqlalchemy.types import TypeDecorator

# SQLite numbers rows by itself only for a column declared INTEGER.
Key = BigInteger().with_variant(Integer(), "sqlite")


LARGEST_KEY = 2**63 - 1
# Made once: for each value anew it takes as long as the value itself.
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


class Json(TypeDecorator[Any]):
    """JSON kept as text, equal values as equal text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        return ENCODER.encode(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        if value == "{}":  # what most say, a hundred thousand times
            return {}
        return None if value is None else json.loads(value)


class Moment(TypeDecorator[datetime]):
    """A moment in UTC, stored without its zone."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002
    ) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.replace(tzinfo=UTC)


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)
