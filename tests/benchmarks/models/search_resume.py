"""How long a search of two thousand trials takes to go on: `python -m … [TRIALS]`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import insert

from backend.models import searches
from backend.storage.tables import TrialRow
from tests.workers.handlers import places
from workers import data
from workers.tuning.study import Study

EPOCHS, FIGURES = 20, 10


def main(count: int) -> None:
    """From the rows to the next trial, the pictures already laid out."""
    with tempfile.TemporaryDirectory() as folder:
        place = places.make(Path(folder) / "home")
        project = place.sample(12)
        with place.database.write.begin() as session:
            begun = searches.ask(session, project, "golden", trials=count + 1, seed=1)
            session.execute(insert(TrialRow), [_row(begun.search.id, at) for at in range(count)])
        context = place.context(place.claim())
        laid_out = data.lay_out(context, begun.search.snapshot_id)
        began, computed = time.perf_counter(), time.process_time()
        study = Study(context, begun.search, laid_out, None, "cpu")
        study.read()
        study.sweep()
        trial = study.next()
        seconds, of_core = time.perf_counter() - began, time.process_time() - computed
        place.database.close()
    print(
        f"{count:,} trials of {EPOCHS} epochs: trial {trial and trial.number} in {seconds:.2f} s, "
        f"{of_core:.2f} of them computing"
    )


def _row(search: int, number: int) -> dict[str, object]:
    figures = {f"figure_{at}": number / (at + 1) for at in range(FIGURES)}
    epochs = [{"epoch": each, "map50": 0.5, **figures} for each in range(1, EPOCHS + 1)]
    values = {"tolerance": 0.5 + number / 1e5} if number else {}
    return {
        "search_id": search, "number": number, "state": "done", "value": 0.5, "epochs": epochs,
        "parameters": values, "seconds": 1.0,
    }  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
