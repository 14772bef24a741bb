"""Begins to try an account, says what it has tried first, and waits there.

`python -m tests.backend.warehouse.trying PORT DATABASE FOLDER`
"""

from __future__ import annotations

import sys
from pathlib import Path

from backend.warehouse.dialects import account
from tests.warehouses import Place

if __name__ == "__main__":
    port, database, folder = sys.argv[1:]
    place = Place("snowflake://?connection_name=here", {}, int(port), database)
    for one in account.attempt(place.address, Path(folder), {}):
        sys.stdout.write(f"{one.name}\n")
        sys.stdout.flush()
        sys.stdin.read()
