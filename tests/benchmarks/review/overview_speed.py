"""How quick an overview of 100,000 boards, 1,000,000 detections and 200 lots is, on both databases.

`python -m tests.benchmarks.review.overview_speed [--images N --mixed --table --keep]`: with
`--mixed` the pictures of all lots came in turns, and not one lot after the other; with `--table` a
table of boards says which side each of them shows.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlalchemy import case, update

from backend.domain import Box
from backend.labels import facts, labelling
from backend.projects import catalogue
from backend.review import agenda
from backend.review.agenda import Choice
from backend.review.behind import Behind
from backend.review.overview import keeping, reading
from backend.review.overview.reading import Narrowed
from backend.storage import engine, findings
from backend.storage.engine import Database
from backend.storage.tables import ImageRow
from tests import databases
from tests.benchmarks import results
from tests.benchmarks.review import review_speed
from tests.benchmarks.review.review_speed import A_PICTURE, RUN, say

LOTS, DAYS = 200, 20
SIDES = ("top", "bottom")
FIRST = date(2026, 10, 1)
Told = tuple[str, float, float, float]


def lay(database: Database, count: int, mixed: bool, table: bool) -> None:
    """Give the boards their lots and days, and perhaps their sides, and end the run."""
    first = datetime(2026, 10, 1, tzinfo=UTC)
    with database.write.begin() as session:
        if not mixed:
            for lot in range(LOTS):
                low, high = 1 + count * lot // LOTS, count * (lot + 1) // LOTS
                of_lot = update(ImageRow).where(ImageRow.id.between(low, high))
                session.execute(of_lot.values(group=f"lot-{lot:03}"))
        for day in range(DAYS):
            low, high = 1 + count * day // DAYS, count * (day + 1) // DAYS
            of_day = update(ImageRow).where(ImageRow.id.between(low, high))
            session.execute(of_day.values(added=first + timedelta(days=day)))
        for at, side in enumerate(SIDES if table else ()):
            said = facts.written({"side": side})
            of_side = update(ImageRow).where(ImageRow.id % len(SIDES) == at)
            session.execute(of_side.values(facts=said, facet=said))
        # Fill says that images are done which have no labels; here half of these have one.
        labelled = (ImageRow.id % 20 == 0, "done")
        session.execute(update(ImageRow).values(state=case(labelled, else_="new")))
        findings.finish(session, RUN, 1.0, {})


def clocked(what: str, work: Callable[[], object], wanted: str) -> Told:
    """Some turns by the clock and by our own processor: a busy machine's clock says little."""
    spent = []

    def turn() -> None:
        start = time.process_time()
        work()
        spent.append(1000 * (time.process_time() - start))

    told = say(what, turn, wanted)
    print(f"  {'':44} processor of who asks {statistics.median(spent):.1f} ms")
    return *told, statistics.median(spent)


def open_(database: Database, project_id: int, chosen: Narrowed, seconds: float = 0.0) -> int:
    """What the route does."""
    with database.read.begin() as session:
        project = catalogue.get(session, project_id)
        run_ids = reading.runs(session, project_id)
    left = keeping.refresh(database.read.begin, database.write.begin, run_ids, seconds)
    with database.read.begin() as session:
        reading.read(session, project, run_ids, chosen, left)
    return left


def measure(database: Database, project_id: int, boards: int, table: bool) -> Iterator[Told]:
    """Add up once, open, filter, save and open, and look behind marks."""
    start, spent = time.perf_counter(), time.process_time()
    assert keeping.refresh(database.read.begin, database.write.begin, [RUN]) == 0
    taken = 1000 * (time.perf_counter() - start)
    spent = 1000 * (time.process_time() - spent)
    print(f"  added up in {taken / 1000:.1f} s, {spent / 1000:.1f} s of the processor")
    yield "everything is added up, once", taken, taken, spent

    def told(what: str, chosen: Narrowed, wanted: str = "300") -> Told:
        return clocked(what, lambda: open_(database, project_id, chosen), wanted)

    yield told("open", Narrowed(), "500")
    yield told("filter by lot", Narrowed(groups=("lot-007",)))
    yield told("filter by days", Narrowed(since=FIRST, until=FIRST + timedelta(days=4)))
    yield told("filter by class", Narrowed(labels=("spur",)))
    yield told("filter by lot and class", Narrowed(groups=("lot-007",), labels=("spur",)))
    if table:
        yield told("filter by a column of a table", Narrowed(said=(("side", "top"),)))
    saves = iter(range(1, 10_000))

    def save() -> None:
        image = 640 * next(saves) % boards + 1
        with database.write.begin() as session:
            version = labelling.version_of(session, image)
            labelling.save(session, image, version, [Box(1, 1, 9, 9, "spur")], "ana")
        assert open_(database, project_id, Narrowed(), 0.1) == 0

    yield clocked("save, add the part up anew, open", save, "–")
    for what, behind in (
        ("boards of a class", Behind(defects=("spur",))),
        ("boards of a place", Behind(mark="place-17")),
        ("boards of a day", Behind(since=FIRST, until=FIRST)),
    ):
        yield clocked(what, lambda behind=behind: count(database, behind), "–")  # type: ignore[misc]


def count(database: Database, behind: Behind) -> None:
    """What a click on a mark asks for."""
    with database.read.begin() as session:
        choice = Choice(sort="name", behind=behind)
        agenda.ids(session, RUN, choice, 60)
        agenda.counts(session, RUN, choice)


def main() -> None:
    """Measure on each database there is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    rows = list(_everywhere(given.images, given.mixed, given.table))
    if given.keep:
        results.keep("overview_speed", rows)


def _everywhere(count: int, mixed: bool, table: bool) -> Iterator[results.Figure]:
    with tempfile.TemporaryDirectory(prefix="loupe-") as folder:
        yield from _on("SQLite", f"sqlite:///{folder}/loupe.db", count, mixed, table)
    with (
        tempfile.TemporaryDirectory(prefix="loupe-postgres-") as folder,
        databases.postgres_server(Path(folder)) as server,
    ):
        yield from _on("PostgreSQL", databases.new_postgres_database(server), count, mixed, table)


def _on(name: str, url: str, count: int, mixed: bool, table: bool) -> Iterator[results.Figure]:
    database = engine.open_url(url)
    engine.create_tables(database)
    project_id = review_speed.fill(database, count)
    lay(database, count, mixed, table)
    laid = "lots in turns" if mixed else "lot after lot"
    laid += ", two sides by a table" if table else ""
    print(f"{name}: {count:,} boards, {A_PICTURE * count:,} detections, {LOTS} lots, {laid}")
    how = f"{name}, {count:,} boards, {A_PICTURE * count:,} detections, {LOTS} lots, {laid}, "
    for what, low, high, spent in measure(database, project_id, count, table):
        spread = f"p95 {high:.1f}, processor of who asks {spent:.1f}"
        yield results.Figure(
            f"{what}: p50", round(low, 1), "ms", spread, how=how + results.machine()
        )
    database.close()


if __name__ == "__main__":
    main()
