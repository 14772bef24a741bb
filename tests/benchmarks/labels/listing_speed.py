"""How long a page of 100,000 images takes: `python -m tests.benchmarks.labels.listing_speed`.

With `--keep` the figures are written as data, too.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from backend.domain import Box, Split
from backend.labels import gallery, images
from backend.projects import catalogue
from backend.storage import engine
from tests.benchmarks import results

IMAGES, BOXES, PAGE, ROUNDS = 100_000, 5, 100, 40
NAMES = ("open", "short", "mousebite", "spur", "copper", "pin-hole")


def fill(database: engine.Database) -> int:
    """A project of 100,000 labelled images in 200 lots."""
    chance = random.Random(1)
    with database.write.begin() as session:
        project = catalogue.create(session, "line 3", classes=NAMES)
    for start in range(0, IMAGES, 5000):
        new = [_image(number, chance) for number in range(start, start + 5000)]
        with database.write.begin() as session:
            images.add(session, project.id, new, "ana")
    return project.id


def _image(number: int, chance: random.Random) -> images.NewImage:
    boxes = [
        Box(10 * i, 10, 10 * i + 9, 30, chance.choice(NAMES))
        for i in range(chance.randint(0, 2 * BOXES))
    ]
    return images.NewImage(
        f"board-{number:06}.png",
        f"{number:064x}",
        640,
        640,
        tuple(boxes),
        split=chance.choice(list(Split)),
        group=f"lot {number % 200}",
        labelled=number % 3 > 0,
    )


def show(what: str, call: Callable[[], object]) -> results.Figure:
    """Print p50 and p95 of a call, and its processor time, which a busy machine leaves alone."""
    taken, worked = [], []
    for _ in range(ROUNDS):
        began, at_work = time.perf_counter(), time.process_time()
        call()
        taken.append(1000 * (time.perf_counter() - began))
        worked.append(1000 * (time.process_time() - at_work))
    p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    processor = statistics.median(worked)
    print(f"{what:36} p50 {p50:7.1f}   p95 {p95:7.1f}   processor {processor:6.1f} ms")
    spread = f"p95 {p95:.1f}, processor {processor:.1f}; {ROUNDS} rounds"
    how = f"SQLite, {IMAGES:,} images, {results.machine()}"
    return results.Figure(what, round(p50, 1), "ms", spread, how=how)


def main() -> None:
    """Fill a database, then ask for pages."""
    with tempfile.TemporaryDirectory() as folder:
        database = engine.open_url(f"sqlite:///{Path(folder) / 'loupe.db'}")
        engine.create_tables(database)
        began = time.perf_counter()
        project_id = fill(database)
        seconds = time.perf_counter() - began
        print(f"{IMAGES:,} images written in {seconds:.0f} s ({IMAGES / seconds:,.0f}/s)")
        rows = []
        for name, chosen in {
            "by name": gallery.Filter(),
            "unlabelled": gallery.Filter(states=("new",)),
            "of one class": gallery.Filter(classes=("spur",)),
            "one lot, test split": gallery.Filter(groups=("lot 7",), splits=("test",)),
            "most boxes first": gallery.Filter(sort="boxes"),
            "text in the name": gallery.Filter(text="0999"),
        }.items():
            for offset in (0, 50_000, 99_000):
                rows.append(_ask(database, project_id, name, chosen, offset))
        with database.read() as session:
            counts = show(
                "counts of every filter",
                lambda: gallery.counts(session, project_id, gallery.Filter()),
            )
        database.close()
    if results.wanted(sys.argv):
        results.keep("listing_speed", [*rows, counts])


def _ask(
    database: engine.Database, project_id: int, name: str, chosen: gallery.Filter, offset: int
) -> results.Figure:
    def page() -> None:
        with database.read() as session:
            gallery.page(session, project_id, chosen, offset, PAGE)

    return show(f"{PAGE} {name}, from {offset:,}", page)


if __name__ == "__main__":
    main()
