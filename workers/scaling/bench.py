"""What all turns of a cluster benchmark share: its plan, its pictures, what a turn is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend import version
from backend.domain import Split
from backend.jobs import kinds, needs
from backend.models.scaling import scaling_plan
from backend.models.scaling.scaling_plan import WEAK, Configuration, Plan
from workers.context import Context
from workers.data import LaidOut
from workers.demand import reservation
from workers.evaluation.appraisal import Appraisal
from workers.families.base import TrainingSet
from workers.training import places

MOST_JUDGED = 192


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
