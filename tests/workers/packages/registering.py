"""Carries out the registration of a model, as a worker would; prints what came of each time.

The second time it is there; before the third it is left as by a worker that was killed right after
it was made.

It has a process of its own, as Snowflake's connector reads its connections when it is imported.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing

from backend.errors import LoupeError
from backend.jobs import claims, kinds, queue
from backend.settings import Settings
from backend.storage import engine, files
from backend.warehouse import address as addresses
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection
from tests.workers.handlers.places import Place


def carried_out(place: Place, request: kinds.Request) -> str:
    """The result as JSON, or why there is none."""
    with place.database.write.begin() as session:
        queue.enqueue(session, request)
    job = place.claim()
    try:
        return json.dumps(place.carry_out(job))
    except LoupeError as error:
        with place.database.write.begin() as session:
            claims.fail(session, job, str(error))
        return str(error)


def break_off(settings: Settings, version: str) -> None:
    """Take away all that is said of a version once it is made."""
    address = addresses.of(settings)
    assert address is not None
    with closing(SnowflakeConnection(address)) as connection:
        for said in ("COMMENT=$$$$", "METADATA=$${}$$"):
            connection.ask(f"ALTER MODEL {version} SET {said}")


if __name__ == "__main__":
    settings = Settings()
    place = Place(settings, engine.connect(settings), files.connect(settings))
    request = kinds.decode("register", json.loads(sys.argv[1]))
    answers = [carried_out(place, request) for _ in range(2)]
    break_off(settings, f"{json.loads(answers[0])['registered']} MODIFY VERSION V1")
    answers.append(carried_out(place, request))
    sys.stdout.write("\n" + json.dumps(answers))
