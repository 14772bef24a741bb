"""A number that stands for a text in sums that a database makes, so that rows need no grouping."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, func
from sqlalchemy.orm import Session

BITS = 30  # so that 256 of them, each times 2^24, are a number that both databases have
NAME = "loupe_fingerprint"
MOST_KEPT = 10_000


def of(session: Session, column: Any) -> ColumnElement[int]:
    """The fingerprint of a column's text, as the database makes it itself."""
    if session.get_bind().dialect.name == "sqlite":
        return func.loupe_fingerprint(column, type_=BigInteger)
    whole = func.hashtextextended(column, 0, type_=BigInteger)
    return whole.bitwise_and((1 << BITS) - 1)


def install(connection: Any) -> None:
    """Teach a connection of SQLite, which knows no such function, to make fingerprints."""
    connection.create_function(NAME, 1, _Known().__getitem__, deterministic=True)


class _Known(dict[str, int]):
    """Those made before: a connection asks for few texts, and for each many times."""

    def __missing__(self, text: str) -> int:
        if len(self) >= MOST_KEPT:
            self.clear()
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        self[text] = int.from_bytes(digest) >> 64 - BITS
        return self[text]
