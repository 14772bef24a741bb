"""What a job needs of the machines that carry it out: cards or cores, how many, how much memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from backend.errors import Invalid
from backend.words import many

AUTO, CPU, GPU = "auto", "cpu", "gpu"
DEVICES = (AUTO, CPU, GPU)
MOST_WORKERS = 1024
MOST_MEMORY = 4096.0  # GB for each process
NAMES = {CPU: "core", GPU: "GPU"}


@dataclass(frozen=True, slots=True)
class Need:
    """So many processes, each with a card (`gpu`) or cores (`cpu`), and memory in GB.

    They stand alike on so many nodes; 0: as they fit.

    `auto` takes cards where there are any or where they can come, else cores; `share` is the part
    of a card that each takes.
    """

    device: str = AUTO
    count: int = 1
    memory_gb: float = 0.0
    cores: int = 1
    nodes: int = 0
    share: float = 1.0

    @property
    def bundle(self) -> dict[str, float]:
        """What one process takes, as Ray counts it; `auto` must be decided before."""
        card = {"GPU": self.share} if self.device == GPU else {}
        memory = {"memory": self.memory_gb * 1e9} if self.memory_gb else {}
        return {"CPU": float(self.cores), **card, **memory}

    def times(self, there: Mapping[str, float]) -> int:
        """How many such processes fit into what is there; five times .2 of a card are a card."""
        return min(int(there.get(name, 0) / each + 1e-6) for name, each in self.bundle.items())

    def __str__(self) -> str:
        each = f" with {self.memory_gb:g} GB{' each' if self.count > 1 else ''}"
        if self.device == GPU and self.share < 1:
            times = f"{self.count:,} × " if self.count > 1 else ""
            return f"{times}{self.share:g} of a GPU{each * bool(self.memory_gb)}{self._on}"
        name, cores = NAMES[self.device], self.cores if self.device == CPU else 1
        return f"{many(self.count * cores, name)}{each * bool(self.memory_gb)}{self._on}"

    @property
    def _on(self) -> str:
        return f" on {many(self.nodes, 'node')}" if self.nodes else ""


def problems(values: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the device, where one is named."""
    device = values.get("device", AUTO)
    if device not in DEVICES:
        yield f"There is no device {str(device)[:40]!r}; there are {', '.join(DEVICES)}."


def check(values: Mapping[str, Any]) -> None:
    """Refuse what no machine could be asked for: `device`, `workers` and `memory_gb`."""
    for problem in problems(values):
        raise Invalid(problem)
    workers, memory = values.get("workers", 1), values.get("memory_gb", 0)
    if not _is_number(workers) or not isinstance(workers, int) or not 1 <= workers <= MOST_WORKERS:
        raise Invalid(f"The workers must be a whole number from 1 to {MOST_WORKERS}.")
    if not _is_number(memory) or not 0 <= memory <= MOST_MEMORY:
        raise Invalid(f"The memory must be from 0 to {MOST_MEMORY:g} GB for each process.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
