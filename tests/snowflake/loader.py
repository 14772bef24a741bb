"""A loader as a process, that ends when all is published: `python -m tests.snowflake.loader`.

Given a step and the number of a signal, it sends that to itself once the step is in the ledger.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from sqlalchemy import event

from backend import settings
from backend.storage import engine
from backend.storage.engine import Database
from backend.warehouse import loading


def stop_at(database: Database, step: str, number: int) -> None:
    """End or freeze right after the transaction that says so."""
    told: list[bool] = []

    def executed(_: Any, __: Any, statement: str, values: Any, *___: Any) -> None:
        if statement.startswith("UPDATE load") and any(_begins(one, step) for one in values):
            told.append(True)

    def given_back(*_: Any) -> None:
        if told:
            told.clear()
            os.kill(os.getpid(), number)

    event.listen(database.engine, "after_cursor_execute", executed)
    event.listen(database.engine, "checkin", given_back)


def _begins(value: object, step: str) -> bool:
    return isinstance(value, str) and value.startswith(step)


if __name__ == "__main__":
    database = engine.connect(settings.current())
    if sys.argv[1:]:
        stop_at(database, sys.argv[1], int(sys.argv[2]))
    sys.exit(0 if loading.run(database, settings.current()) else 1)
