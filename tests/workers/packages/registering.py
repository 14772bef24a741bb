"""Carries out the registration of a model twice, as a worker would; prints what came of each.

It has a process of its own, as Snowflake's connector reads its connections when it is imported.
"""

from __future__ import annotations

import json
import sys

from backend.errors import LoupeError
from backend.jobs import claims, kinds, queue
from backend.settings import Settings
from backend.storage import engine, files
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


if __name__ == "__main__":
    settings = Settings()
    place = Place(settings, engine.connect(settings), files.connect(settings))
    request = kinds.decode("register", json.loads(sys.argv[1]))
    answers = [carried_out(place, request) for _ in range(2)]
    sys.stdout.write("\n" + json.dumps(answers))
