"""A cluster benchmark while its job goes on: what is measured, turn by turn, and kept as rows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.errors import Cancelled, LoupeError, Refused, Unavailable
from backend.models.scaling import scalings
from backend.models.scaling.scaling_plan import TRAIN, Turn
from workers import cluster
from workers.scaling import learning, looking, nested
from workers.scaling.bench import Bench

MOST_TRIES = 4  # of a turn that ends its process each time
TRIES = "tries.txt"
DIED = (
    f"The process that measured it ended {MOST_TRIES} times before it was done, perhaps for want "
    "of memory."
)
FAILURES = (Refused, Unavailable, MemoryError, RuntimeError)


def run(bench: Bench) -> None:
    """Every turn that was not measured yet; one that fails is told, and the others go on."""
    context, turns = bench.context, list(bench.plan.turns)
    with context.database.read() as session:
        known = {one.number: one for one in scalings.measured(session, context.job.id)}
    bench.weights = next((str(one.figures["weights"]) for one in known.values()
                          if "weights" in one.figures), "")  # fmt: skip
    for turn in turns:
        if turn.number not in known:
            _measure(bench, turn, len(turns))


def _measure(bench: Bench, turn: Turn, turns: int) -> None:
    context, one = bench.context, turn.configuration
    shutil.rmtree(bench.folder, ignore_errors=True)
    bench.folder.mkdir(parents=True)
    nested.begin(bench, turn)

    def tell(part: float | None, text: str) -> None:
        whole = (turn.number + (part or 0.0)) / turns
        context.progress(whole, f"Turn {turn.number + 1} of {turns} ({one.name}): {text}")

    measure = learning.measure if one.work == TRAIN else looking.measure
    figures: Mapping[str, Any] = {}
    error = ""
    try:
        _count(context.folder / TRIES, turn)
        figures = measure(bench, turn, tell)
    except Cancelled:
        (context.folder / TRIES).unlink(missing_ok=True)  # which says nothing of the turn
        raise
    except FAILURES as reason:
        if not cluster.stands():
            raise  # which says nothing of the configuration: it is measured by the next attempt
        error = _why(reason)
        context.log(f"{one.name.capitalize()} could not be measured: {error}")
    shutil.rmtree(bench.folder, ignore_errors=True)
    with context.database.write.begin() as session:
        context.fence(session)
        scalings.keep(session, context.job.id, turn, figures, error)
        nested.tell(session, bench, turn, figures, error)


def _count(note: Path, turn: Turn) -> None:
    """Refuse a turn that too many processes have died of; they leave nothing but this note."""
    begun = note.read_text().split() if note.is_file() else []
    again = len(begun) == 2 and begun[0] == str(turn.number)
    tries = int(begun[1]) + 1 if again else 1
    note.write_text(f"{turn.number} {tries}")
    if tries > MOST_TRIES:
        raise Refused(DIED)


def _why(reason: Exception) -> str:
    """Why a configuration could not be measured, for people."""
    said = str(reason).strip()
    if isinstance(reason, LoupeError) and said:
        return said
    first = f": {said.splitlines()[0][:300]}" if said else ""
    return f"It stopped with {type(reason).__name__}{first}."
