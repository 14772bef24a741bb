"""A process that takes the next job of a home and carries it out: `python -m … HOME`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.workers.handlers import places
from tests.workers.tuning import curves
from workers import handlers, runner


def main(home: Path) -> None:
    """As a worker's runner does it, with the family of these tests."""
    curves.prepare()
    place = places.make(home)
    job = place.claim()
    runner.carry_out(place.database, job, lambda: handlers.find(job.kind).run(place.context(job)))
    place.database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
