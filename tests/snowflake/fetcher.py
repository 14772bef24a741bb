"""An import as a process of its own: `python -m tests.snowflake.fetcher PROJECT SOURCE [FORMAT]`.

Snowflake's connector reads where its connections are once a process.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from backend import settings
from backend.errors import LoupeError
from backend.formats import format_table
from backend.incoming import places
from backend.incoming.places import Wanted
from backend.labels.imports import Into
from backend.storage import engine, files, schema


def main(project: str, source: str, form: str = format_table.AUTO) -> dict[str, Any]:
    """Import, and say what came of it."""
    chosen = settings.current()
    settings.make_home(chosen)
    database = engine.connect(chosen)
    schema.prepare(database)
    into = Into(database, files.connect(chosen), project, "ana")
    try:
        return places.import_(into, source, chosen, Wanted(form)).as_json()
    except LoupeError as error:
        return {"refused": str(error)}
    finally:
        database.close()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])))
