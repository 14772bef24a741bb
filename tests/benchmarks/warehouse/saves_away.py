"""How long ten people's saves take while the warehouse is away, in every way that servers are.

`python -m tests.benchmarks.warehouse.saves_away [--rounds 3] [--seconds 20] [--postgres] [--keep]`
Each turn serves the site with its worker anew, without a warehouse and with each that is away, lets
it settle, and asks for what waits to be published while people save; that a load was tried is seen.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
from sqlalchemy import delete

from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import engine, schema
from backend.storage.tables import LoadRow
from tests import databases, fronts
from tests.benchmarks import results
from tests.benchmarks.site import crowd, nobody_waits
from tests.benchmarks.warehouse import warehouse_away

PEOPLE = 10
OWN = 20  # images of each person in each turn
SETTLE = 8  # seconds in which the site's worker starts
WAYS = [
    ("", ""),
    *((kind, way) for way in fronts.AWAY for kind in ("snowflake", "postgresql")),
]


@dataclass
class Filled:
    """The project that people save in, and the pictures that nobody has touched yet."""

    project: int
    images: Iterator[int]

    def own(self) -> list[list[int]]:
        """Each person's pictures for one turn."""
        return [[next(self.images) for _ in range(OWN)] for _ in range(PEOPLE)]


def main() -> None:
    """By turns, without a warehouse and with each that is away."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="loupe-away-", dir="/var/tmp"))
    home.chmod(0o755)
    try:
        with ExitStack() as held:
            if asked.postgres:
                server = held.enter_context(databases.postgres_server(home / "postgres"))
                os.environ["LOUPE_DATABASE_URL"] = databases.new_postgres_database(server)
            rows = measure(home / "home", asked.rounds, asked.seconds, asked.postgres)
        if asked.keep:
            results.keep("saves_away", rows)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def measure(home: Path, rounds: int, seconds: float, postgres: bool) -> list[results.Figure]:
    """What all saves of each way took, printed as it comes."""
    home.mkdir()
    filled = fill(home, rounds)
    met: dict[str, crowd.Waits] = {}
    for _ in range(rounds):
        for kind, way in WAYS:
            name = f"{kind}, {way}" if kind else warehouse_away.NONE
            saves = turn(home, filled, kind, way, seconds)
            print(f"{name:24}{saves.row()}", flush=True)
            met.setdefault(name, crowd.Waits()).add(saves)
    database = "PostgreSQL" if postgres else "SQLite"
    how = f"{database}, {PEOPLE} people, {rounds} turns of {seconds:g} s, {results.machine()}"
    return [saves.figure(f"a save, {name}", how) for name, saves in met.items()]


def turn(home: Path, filled: Filled, kind: str, way: str, seconds: float) -> crowd.Waits:
    """People save for so long on a site that publishes to such a warehouse, or to none."""
    with ExitStack() as held:
        url = ""
        if kind:
            url = warehouse_away.url(kind, held.enter_context(fronts.front(way=way)).port)
        os.environ.update(warehouse_away.pointing(home, url))
        site = held.enter_context(nobody_waits.served(home))
        time.sleep(SETTLE)
        with crowd.at_work(site, filled.project, filled.own()) as people:
            if kind:
                asked = httpx.post(f"{site}/api/warehouse", headers={"X-Loupe": "1"}, timeout=60)
                asked.raise_for_status()
            time.sleep(seconds)
    assert tried(home) is bool(kind)
    return people.saves


def tried(home: Path) -> bool:
    """Whether a load was begun since this was asked last."""
    database = engine.connect(Settings(home=home))
    with database.write.begin() as session:
        gone = session.execute(delete(LoadRow)).rowcount  # type: ignore[attr-defined]
    database.close()
    return bool(gone)


def fill(home: Path, rounds: int) -> Filled:
    """A project with as many pictures as all turns need."""
    database = engine.connect(Settings(home=home))
    schema.prepare(database)
    with database.write.begin() as session:
        project = catalogue.create(session, "large", classes=["scratch"])
    made: Sequence[int] = nobody_waits.pictures(
        database, project.id, rounds * len(WAYS) * PEOPLE * OWN
    )
    database.close()
    return Filled(project.id, iter(made))


if __name__ == "__main__":
    main()
