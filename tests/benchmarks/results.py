"""Figures that benchmarks keep as data; `python -m tests.benchmarks.results` makes their page.

A benchmark that is asked to `--keep` writes `tests/benchmarks/results/NAME.json`.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / "results"
PAGE = HERE.parents[1] / "assets" / "guide" / "figures-data.md"
OPENING = """\
# Figures, as they were measured

Each table is what a benchmark kept in `tests/benchmarks/results`; the command above it measures
again. The figures hold for the machine and the sizes that stand over them: they say how things
compare, not what another machine will give.
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, how far it spreads, and when and how."""

    what: str
    value: float
    unit: str
    spread: str = ""
    when: str = ""
    how: str = ""


def keep(name: str, rows: Sequence[Figure], folder: Path = FOLDER) -> Path:
    """Write the figures of a benchmark; those that were measured in another way stay."""
    today = datetime.now(UTC).date().isoformat()
    fresh = [replace(row, when=row.when or today) for row in rows]
    measured = {row.how for row in fresh}
    stay = [row for row in read(name, folder) if row.how not in measured]
    path = folder / f"{name}.json"
    written = json.dumps([asdict(row) for row in (*stay, *fresh)], ensure_ascii=False, indent=1)
    path.write_text(written + "\n", encoding="utf-8")
    return path


def read(name: str, folder: Path = FOLDER) -> list[Figure]:
    """The figures of a benchmark that were kept."""
    path = folder / f"{name}.json"
    if not path.exists():
        return []
    return [Figure(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def wanted(options: Sequence[str]) -> bool:
    """Whether a benchmark without other options was asked to keep its figures."""
    return "--keep" in options


def machine() -> str:
    """What it was measured on."""
    cores = os.cpu_count() or 1
    return f"{cores} cores" if cores > 1 else "1 core"


def page() -> str:
    """All figures as one page, a table for each benchmark and each way of measuring."""
    names = sorted(path.stem for path in FOLDER.glob("*.json"))
    return "\n".join([OPENING, *(line for name in names for line in _tables(name))])


def _tables(name: str) -> Iterator[str]:
    (path,) = HERE.glob(f"*/{name}.py")
    command = f"python -m tests.benchmarks.{path.parent.name}.{name} --keep"
    yield f"## {name}\n\n{_purpose(path)}\n\n```\n{command}\n```\n"
    for (when, how), rows in groupby(read(name), key=lambda row: (row.when, row.how)):
        lines = [f"| {row.what} | {row.value:,g} {row.unit} | {row.spread} |" for row in rows]
        yield "\n".join([f"{when}, {how}:\n", "| what | value | spread |", "|---|---|---|", *lines])
        yield ""


def _purpose(path: Path) -> str:
    """The sentence that the benchmark opens with."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return told.split("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
