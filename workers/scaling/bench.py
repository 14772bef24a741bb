"""A cluster benchmark while its job goes on: what is measured, turn by turn, and kept as rows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend import version
from backend.domain import Split
from backend.errors import Cancelled, LoupeError, Refused, Unavailable
from backend.jobs import kinds, needs
from backend.models.scaling import scaling_plan, scalings
from backend.models.scaling.scaling_plan import TRAIN, WEAK, Configuration, Plan, Turn
from workers import cluster
from workers.context import Context
from workers.data import LaidOut
from workers.demand import reservation
from workers.evaluation.appraisal import Appraisal
from workers.families.base import TrainingSet
from workers.scaling import learning, looking, nested
from workers.training import places

MOST_JUDGED = 192
MOST_TRIES = 4  # of a turn that ends its process each time
TRIES = "tries.txt"
DIED = (
    f"The process that measured it ended {MOST_TRIES} times before it was done, perhaps for want "
    "of memory."
)
FAILURES = (Refused, Unavailable, MemoryError, RuntimeError)


@dataclass(slots=True)
class Bench:
    """What all turns share; `weights` are those that the first one has trained."""

    context: Context
    request: kinds.Scale
    laid_out: LaidOut
    start: Path | None
    ray: Any
    plan: Plan = field(init=False)
    device: str = field(init=False)
    weights: str = ""
    seen: Appraisal | None = None

    def __post_init__(self) -> None:
        plan = scaling_plan.read(self.request.plan)
        best = needs.GPU if reservation.cards(self.ray) else needs.CPU
        self.plan, self.device = plan, best if plan.device == needs.AUTO else plan.device

    @property
    def folder(self) -> Path:
        """Where a turn trains: empty at its begin."""
        return self.context.folder / "turn"

    def cores(self) -> int:
        """Of each process: as many as the fullest node can give to all; beside a card one."""
        if self.plan.cores:
            return self.plan.cores
        if self.device == needs.GPU:
            return 1
        most = max(one.processes // one.nodes for one in self.plan.configurations)
        nodes = [node["Resources"].get("CPU", 0) for node in self.ray.nodes() if node["Alive"]]
        return max(1, int(max(nodes, default=0) // most))

    def parameters(self, one: Configuration) -> dict[str, Any]:
        """What a training of so many processes is told."""
        given = dict(self.request.parameters)
        batch = int(given["batch"]) * (one.processes if self.plan.scaling == WEAK else 1)
        where = {"workers": one.processes, "nodes": one.nodes, "cores": self.cores()}
        return {**given, **where, "batch": batch, "device": self.device}

    def learned_from(self, one: Configuration) -> TrainingSet:
        """All images, or where each process does as much as one, its processes' share of them."""
        whole = self.laid_out.set
        if self.plan.scaling != WEAK:
            return whole
        train = whole.of(Split.TRAIN)
        share = len(train) * one.processes // max(self.plan.workers)
        return TrainingSet(whole.classes, (*train[:share], *whole.of(Split.VAL)))

    def judged_by(self) -> TrainingSet:
        """The validation images, so that the test split is used for no choice."""
        return TrainingSet(self.laid_out.set.classes, self.laid_out.set.of(Split.VAL)[:MOST_JUDGED])

    def about(self, processes: int) -> dict[str, str]:
        """On which machines, with which release: what earlier benchmarks may differ in."""
        told = places.about(self.ray, processes) | {"code": version.code()}
        return {name: str(value) for name, value in told.items()}


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
