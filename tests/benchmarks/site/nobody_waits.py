"""Ten people save while the largest changes are made at once: nobody waits, and none is refused.

    python -m tests.benchmarks.site.nobody_waits [--images 200000] [--boxes 1000000]
        [--classes 5000] [--people 10] [--postgres] [--keep]

An import of so many classes, a state set for so many images, a merge of two classes with so many
boxes, an export and a detection, asked for over HTTP as pages ask. The database is filled directly.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from backend.domain import FINAL, Origin
from backend.labels import images
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import engine, files, schema
from backend.storage.engine import Database
from backend.storage.tables import BoxRow, ImageRow, RevisionRow
from backend.storage.types import now
from tests import databases
from tests.benchmarks import results
from tests.benchmarks.site import crowd
from tests.homes import many
from tests.journeys import conftest

OWN = 20  # images of each person
PART = 5_000  # images of one request, as the page has it
SMALL = 300  # images of the project that is exported and detected in


@dataclass
class Sizes:
    """How much there is of each."""

    images: int
    boxes: int
    classes: int
    people: int

    def __str__(self) -> str:
        return (
            f"{self.images:,} images, {self.boxes:,} boxes, {self.classes:,} classes, "
            f"{self.people} people"
        )


@dataclass
class Filled:
    """What stands in the database: the numbers of its projects, classes and images."""

    project: int
    small: int
    source: int
    target: int
    ids: list[int]
    done: dict[str, float] = field(default_factory=dict)


def main() -> None:
    """Print one table."""
    options = argparse.ArgumentParser()
    for name, size in (("images", 200_000), ("boxes", 1_000_000), ("classes", 5_000)):
        options.add_argument(f"--{name}", type=int, default=size)
    options.add_argument("--people", type=int, default=10)
    options.add_argument("--postgres", action="store_true")
    options.add_argument("--keep", action="store_true", help="write the figures as data, too")
    chosen = options.parse_args()
    sizes = Sizes(chosen.images, chosen.boxes, chosen.classes, chosen.people)
    home = Path(tempfile.mkdtemp(prefix="loupe-nobody-"))
    home.chmod(0o755)
    try:
        with ExitStack() as held:
            if chosen.postgres:
                server = held.enter_context(databases.postgres_server(home / "postgres"))
                os.environ["LOUPE_DATABASE_URL"] = databases.new_postgres_database(server)
            rows = measure(home / "home", sizes, "PostgreSQL" if chosen.postgres else "SQLite")
            if chosen.keep:
                results.keep("nobody_waits", rows)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def measure(home: Path, sizes: Sizes, database: str) -> list[results.Figure]:
    """Fill, serve, ask for everything at once, and print what everybody met."""
    began = time.perf_counter()
    filled = fill(home, sizes)
    source = classes_to_import(home / "source", sizes.classes)
    print(f"filled in {time.perf_counter() - began:.0f} s", flush=True)
    own = [filled.ids[n * OWN : (n + 1) * OWN] for n in range(2 * sizes.people)]
    with served(home) as url:
        with crowd.at_work(url, filled.project, own[: sizes.people]) as quiet:
            time.sleep(10)
        with crowd.at_work(url, filled.project, own[sizes.people :]) as busy:
            everything(url, filled, source, filled.ids[len(own) * OWN :])
    how = f"{database}, {sizes}, {results.machine()}"
    rows = []
    for words, met in (("nothing else goes on", quiet), ("all of it at once", busy)):
        print(f"{words}\n  saves {met.saves.row()}\n  reads {met.reads.row()}")
        for name, waits in (("a save", met.saves), ("a read", met.reads)):
            rows.append(waits.figure(f"{name}, {words}", how))
    for name, seconds in filled.done.items():
        print(f"  {name}: {seconds:.1f} s")
        rows.append(results.Figure(name, round(seconds, 1), "s", how=how))
    return rows


def everything(url: str, filled: Filled, source: Path, ids: Sequence[int]) -> None:
    """The five long changes, each in a thread, until all have ended."""
    base, small = f"{url}/api/projects/{filled.project}", f"{url}/api/projects/{filled.small}"
    merge = f"{base}/classes/{filled.source}/merge"
    works: dict[str, Callable[[httpx.Client], Any]] = {
        "import": lambda client: follow(client, url, f"{base}/import", path=str(source)),
        "state": lambda client: [
            asked(client, f"{base}/images/change", action="state", value="skipped", images=part)
            for part in engine.batches(ids, PART)
        ],
        "merge": lambda client: asked(client, merge, into=filled.target),
        "export": lambda client: follow(
            client, url, f"{small}/export", format="coco", states=["all"]
        ),
        "detection": lambda client: follow(client, url, f"{small}/detect", model="golden"),
    }

    def carry_out(name: str) -> None:
        began = time.perf_counter()
        with httpx.Client(timeout=600, headers={"X-Loupe": "1"}) as client:
            works[name](client)
        filled.done[name] = time.perf_counter() - began

    threads = [threading.Thread(target=carry_out, args=(name,)) for name in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def asked(client: httpx.Client, address: str, **body: Any) -> Any:
    """The answer to a request that must be carried out."""
    answer = client.post(address, json=body)
    assert answer.status_code < 300, answer.text
    assert not answer.json().get("error"), answer.text
    return answer.json()


def follow(client: httpx.Client, url: str, address: str, **body: Any) -> None:
    """Ask for a job and wait for its end."""
    job = asked(client, address, **body)
    while job["state"] not in FINAL:
        time.sleep(0.5)
        with suppress(httpx.HTTPError):  # a connection that stood idle may be closed
            job = client.get(f"{url}/api/jobs/{job['id']}").json()
    assert job["state"] == "done", job["error"]


@contextmanager
def served(home: Path) -> Iterator[str]:
    """The site with its worker."""
    url, process = conftest.start(home)
    try:
        yield url
    finally:
        conftest.stop(process)


def fill(home: Path, sizes: Sizes) -> Filled:
    """A large project without files, its boxes all of one class, and a small one with files."""
    settings = Settings(home=home)
    database, store = engine.connect(settings), files.connect(settings)
    schema.prepare(database)
    with database.write.begin() as session:
        project = catalogue.create(session, "large", classes=["scratch", "Scratch"])
    source, target = (kind.id for kind in project.classes)
    ids = pictures(database, project.id, sizes.images + 2 * sizes.people * OWN)
    labelled = ids[2 * sizes.people * OWN :]
    boxes(database, labelled, source, sizes.boxes)
    small = many.boards(database, store, "small", SMALL)
    database.close()
    return Filled(project.id, small, source, target, ids)


def pictures(database: Database, project: int, count: int) -> list[int]:
    """Images that nobody has labelled; gives their numbers."""
    for part in engine.batches(range(count)):
        new = [images.NewImage(f"{n:07}.png", f"{n:064x}", 640, 640) for n in part]
        with database.write.begin() as session:
            images.add(session, project, new, "")
    with database.read.begin() as session:
        names = [f"{n:07}.png" for n in range(count)]
        return sorted(images.ids(session, project, names).values())


def boxes(database: Database, ids: Sequence[int], kind: int, count: int) -> None:
    """Boxes of one class, evenly over the images, with the revision that tells of them."""
    each = max(1, count // len(ids))
    for part in engine.batches(ids, 5_000):
        with database.write.begin() as session:
            made = {id_: [_box(id_, n, kind) for n in range(each)] for id_ in part}
            rows = [_revision(id_, own) for id_, own in made.items()]
            engine.bulk_insert(session, RevisionRow, rows)
            engine.bulk_insert(session, BoxRow, [box for own in made.values() for box in own])
            query = ImageRow.__table__.update().where(ImageRow.id.in_(part))  # type: ignore[attr-defined]
            session.execute(query.values(version=1, state="done", box_count=each))


def _box(image: int, number: int, kind: int) -> dict[str, Any]:
    at = 10.0 * (number % 60)
    corners = {"x1": at, "y1": at, "x2": at + 8, "y2": at + 8}
    root = {"run_id": None, "run_image_id": None, "run_idx": None}
    who = {"origin": Origin.HUMAN, "author": "ann"}
    return {"image_id": image, "id": f"{number:08x}", "class_id": kind, **corners, **who, **root}


def _revision(image: int, own: Sequence[dict[str, Any]]) -> dict[str, Any]:
    said = [
        {
            "id": box["id"],
            "class": box["class_id"],
            "at": [box["x1"], box["y1"], box["x2"], box["y2"]],
            "origin": box["origin"],
            "author": "ann",
        }
        for box in own
    ]
    return {
        "image_id": image,
        "version": 1,
        "author": "ann",
        "at": now(),
        "action": "import",
        "state": "done",
        "label_id": None,
        "comment": "",
        "boxes": said,
    }


def classes_to_import(folder: Path, count: int) -> Path:
    """A COCO set of a few pictures and many classes."""
    folder.mkdir(parents=True)
    for number in range(40):
        many.photo(folder / f"{number:02}.png", number)
    kinds = [{"id": n, "name": f"kind {n}"} for n in range(1, count + 1)]
    shown = [{"id": n, "file_name": f"{n:02}.png", "width": 640, "height": 480} for n in range(40)]
    found = [
        {"id": n, "image_id": n % 40, "category_id": n, "bbox": [9, 9, 20, 20]}
        for n in range(1, count + 1)
    ]
    document = {"images": shown, "annotations": found, "categories": kinds}
    (folder / "instances.json").write_text(json.dumps(document))
    return folder


if __name__ == "__main__":
    main()
