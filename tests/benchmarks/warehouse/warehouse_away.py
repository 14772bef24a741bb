"""How long `loupe images` takes while the warehouse is away, in every way that servers are.

`python -m tests.benchmarks.warehouse.warehouse_away [--rounds 9] [--keep]`
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import fronts
from tests.benchmarks import results

COMMAND = [sys.executable, "-W", "ignore", "-c", "from app import cli; cli.main()"]
NONE = "no warehouse"


def main() -> None:
    """By turns, without a warehouse and with each that is away."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        home = Path(made)
        ask(home, "", "sample", "demo", "--images", "20")
        rows = measure(home, asked.rounds)
    for one in rows:
        print(f"{one.what}: {one.value:g} {one.unit} ({one.spread})")
    if asked.keep:
        results.keep("warehouse_away", rows)


def measure(home: Path, rounds: int) -> list[results.Figure]:
    """The medians, and those of the same round compared."""
    seen: dict[str, list[float]] = {NONE: []}
    for _ in range(rounds):
        seen[NONE].append(timed(home, ""))
        for way in fronts.AWAY:
            for dialect in ("snowflake", "postgresql"):
                with fronts.front(way=way) as front:
                    name = f"{dialect}, {way}"
                    seen.setdefault(name, []).append(timed(home, url(dialect, front.port)))
    how = f"{rounds} rounds, {results.machine()}, load of the machine {os.getloadavg()[0]:.1f}"
    alone = statistics.median(seen[NONE])
    return [
        results.Figure(name, round(statistics.median(found), 3), "s", told(found, alone), how=how)
        for name, found in seen.items()
    ]


def told(found: list[float], alone: float) -> str:
    """How a median compares."""
    return f"{statistics.median(found) / alone:.3f} x, {min(found):.2f} to {max(found):.2f}"


def timed(home: Path, warehouse: str) -> float:
    """Seconds of the command, with its process."""
    began = time.perf_counter()
    ask(home, warehouse, "images", "demo")
    return time.perf_counter() - began


def ask(home: Path, warehouse: str, *words: str) -> None:
    """A command of Loupe."""
    beside = pointing(home, warehouse)
    subprocess.run(
        [*COMMAND, *words], env={**os.environ, **beside}, check=True, capture_output=True
    )


def pointing(home: Path, warehouse: str) -> dict[str, str]:
    """The settings of who publishes there; Snowflake's stand in a file of their own."""
    folder = home / "snowflake"
    folder.mkdir(exist_ok=True)
    if warehouse.startswith("snowflake"):
        port = warehouse.rpartition("=")[2]
        file = folder / "connections.toml"
        file.write_text(
            f'[away{port}]\naccount = "a"\nuser = "u"\npassword = "p"\nhost = "127.0.0.1"\n'
            f'port = {port}\nprotocol = "http"\n'
        )
        file.chmod(0o600)
        warehouse = f"snowflake://?connection_name=away{port}"
    return {
        "LOUPE_HOME": str(home),
        "LOUPE_WAREHOUSE_URL": warehouse,
        "SNOWFLAKE_HOME": str(folder),
    }


def url(dialect: str, port: int) -> str:
    """A warehouse at that port."""
    if dialect == "snowflake":
        return f"snowflake://?port={port}"
    return f"postgresql://u:p@127.0.0.1:{port}/x"


if __name__ == "__main__":
    main()
