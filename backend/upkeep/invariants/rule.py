"""What must be true of every home: a rule is a question that finds where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """`query` finds the breaches; `sentence` says one, filled in with its columns.

    `repair` mends all of them and loses nothing; a rule without one only tells.
    """

    name: str
    sentence: str
    query: str | Callable[[Session], Iterator[Row]]
    repair: str | Callable[[Session], None] | None = None

    def breaches(self, session: Session) -> Iterator[Row]:
        """Where the rule does not hold."""
        if callable(self.query):
            return self.query(session)
        return (dict(row) for row in session.execute(text(self.query)).mappings())

    def mend(self, session: Session) -> None:
        """Make it hold again."""
        if callable(self.repair):
            self.repair(session)
        elif self.repair is not None:
            session.execute(text(self.repair))
