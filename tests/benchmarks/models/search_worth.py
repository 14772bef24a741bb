"""What a search brings on a drawn sample: `python -m … FAMILY [TRIALS] [IMAGES] [EPOCHS]`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from backend.models import searches, trials
from tests.workers.handlers import places

SMALL = {"image_size": 320, "batch": 4}


def main(family: str, count: int = 8, images: int = 48, epochs: int = 6) -> None:
    """One search; prints a line a trial, and what the held-out images say."""
    with tempfile.TemporaryDirectory() as folder:
        place = places.make(Path(folder) / "home")
        project = place.sample(images)
        given = {} if family == "golden" else {**SMALL, "epochs": epochs}
        with place.database.write.begin() as session:
            begun = searches.ask(session, project, family, trials=count, seed=1, parameters=given)
        began = time.monotonic()
        result = place.carry_out(place.claim())
        seconds = time.monotonic() - began
        with place.database.read() as session:
            found = trials.of_search(session, begun.search.id)
        place.database.close()
    for one in found:
        worth = max((each.get(result["figure"], 0.0) for each in one.epochs), default=0.0)
        print(
            one.number, one.state, len(one.epochs), f"{worth:.3f}", dict(one.parameters), one.error
        )
    whole = len(found) * (1 if family == "golden" else epochs)
    done = sum(len(one.epochs) for one in found)
    print(f"{family}: {done} of {whole} epochs, {seconds:.0f} s; best {result['best']}")
    print(
        f"validation: trial 0 {found[0].value:.3f}, best {result['value']:.3f}. {result['verdict']}"
    )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
