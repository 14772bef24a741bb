"""Whether a SQLite file is still the one that was opened: of a replaced one nobody would know.

SQLite goes on with the file that it has open, also when another one has its name: each save would
be answered, and gone with the process.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from backend.errors import Unavailable


def watch(engine: Engine, path: Path) -> None:
    """From now on no transaction begins on a file that has another's name, or none."""
    opened = _identity(path)

    def check(*_: Any) -> None:
        if opened is not None and _identity(path) != opened:
            raise Unavailable(
                f"The database {path} was replaced or removed while Loupe has the old file open. "
                "Nothing more is saved, as it would be lost: put it back, or start Loupe anew."
            )

    event.listen(engine, "checkout", check)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
