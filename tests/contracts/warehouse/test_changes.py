"""Whatever changes is found in every warehouse: over all that is published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text, update

from backend.domain import Box, Detection, Run, RunImage, State
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.models import measurements, registry
from backend.projects import catalogue, classes
from backend.review.deciding import decisions
from backend.storage import findings, tables, types
from backend.storage.engine import Database
from backend.upkeep import removal
from backend.warehouse.tables import KINDS
from tests import warehouses
from tests.homes import whole_home
from tests.warehouses import Place, Publishing

# What stands of each kind, asked of our own tables, and the same of the warehouse's view.
STANDING = {
    "project": ("SELECT id, name FROM project WHERE removed IS NULL", "id, name"),
    "class": ("SELECT id, name, merged_into_id FROM class", "id, name, merged_into_id"),
    "image": (
        "SELECT id, name, state, version, box_count, group_name FROM image WHERE deleted IS NULL",
        "id, name, state, revision, boxes, lot",
    ),
    "picture": ("SELECT image_id, sha256 FROM picture", "image_id, sha256"),
    "label": (
        "SELECT b.image_id, b.id, b.class_id, b.x1, b.y2, b.run_idx FROM box b "
        "JOIN image i ON i.id = b.image_id WHERE i.deleted IS NULL",
        "image_id, box, class_id, x1, y2, run_idx",
    ),
    "model": (
        "SELECT id, number, family, state, champion FROM model",
        "id, model_number, family, state, champion",
    ),
    "run": ("SELECT id, model, images, seconds FROM run", "id, model, images, seconds"),
    "run_image": (
        "SELECT run_id, image_id, name, status, detection_count FROM run_image",
        "run_id, image_id, name, status, detections",
    ),
    "detection": (
        "SELECT d.run_id, d.image_id, d.idx, d.label, d.score, d.x1, "
        "coalesce(c.merged_into_id, d.class_id) "
        "FROM detection d LEFT JOIN class c ON c.id = d.class_id",
        "run_id, image_id, idx, label, score, x1, class_id",
    ),
    "metric": (
        "SELECT job_id, name, class_id, value FROM metric",
        "job_id, name, class_id, value",
    ),
    "decision": (
        "SELECT id, run_id, idx, verdict, author, undoes FROM decision",
        "id, run_id, idx, verdict, author, undoes",
    ),
}
NAME = 'a\'; DROP TABLE x; --\n"é" %s ?'
CLASS = NAME.replace("\n", " ")


def image(database: Database, name: str) -> int:
    with database.read() as session:
        found = session.scalar(select(tables.ImageRow.id).filter_by(name=name))
    assert found is not None
    return found


def add_images(database: Database, project: int) -> None:
    with database.write.begin() as session:
        new = [NewImage(name, "b" * 64, 50, 50, group="lot 7") for name in ("new", NAME)]
        images.add(session, project, new, "ana")


def put_away(database: Database, project: int) -> None:  # noqa: ARG001
    with database.write.begin() as session:
        images.put_away(session, [image(database, "b")])


def bring_back(database: Database, project: int) -> None:
    with database.write.begin() as session:
        removal.bring_back(session, project)


def save_boxes(database: Database, project: int) -> None:  # noqa: ARG001
    at = image(database, "b")
    for version, boxes in enumerate(([Box(1, 2, 30, 40, "open"), Box(5, 5, 9, 9, "spur")], [])):
        with database.write.begin() as session:
            labelling.save(session, at, version, boxes, "bo", state=State.DONE)


def rename(database: Database, project: int) -> None:
    with database.write.begin() as session:
        found = classes.find(session, project, "open")
        assert found is not None
        classes.edit(session, found.id, name=CLASS)


def merge(database: Database, project: int) -> None:
    with database.write.begin() as session:
        found = [classes.find(session, project, name) for name in ("spur", CLASS)]
        assert found[0]
        assert found[1]
        classes.merge(session, found[0].id, found[1].id)


def start_run(database: Database, project: int) -> None:
    with database.write.begin() as session:
        findings.start(session, Run(901, "v2", "yolo", types.now(), project))


def record(database: Database, project: int) -> None:  # noqa: ARG001
    found = tuple(Detection(i, 1, i + 5, 9, "x", 0.5, i) for i in range(3))
    seen = [RunImage(number, str(number), detections=found) for number in (1, 2, 999, 1000, 2500)]
    with database.write.begin() as session:
        findings.record(session, 901, seen)


def finish_run(database: Database, project: int) -> None:  # noqa: ARG001
    with database.write.begin() as session:
        findings.finish(session, 901, 2.5, {})


def undo(database: Database, project: int) -> None:  # noqa: ARG001
    at = image(database, "a")
    with database.write.begin() as session:
        version, boxes = labelling.version_of(session, at), labelling.boxes_of(session, [at])[at]
        sheet = decisions.Sheet(version, boxes, State.DONE, run_id=whole_home.RUN, review=True)
        decisions.save(session, at, sheet, "bo")


def promote(database: Database, project: int) -> None:
    with database.write.begin() as session:
        other = next(one for one in registry.models(session, project) if not one.champion)
        registry.promote(session, other.id)


def measure(database: Database, project: int) -> None:  # noqa: ARG001
    with database.write.begin() as session:
        measurements.keep(session, 1, None, {"split": "test", "map50": 0.75})


def mend(database: Database, project: int) -> None:
    """What no room has written: a repair, in the database's own words."""
    with database.write.begin() as session:
        session.execute(text("UPDATE image SET box_count = 7 WHERE name = 'c'"))
        session.execute(update(tables.ProjectRow).filter_by(id=project).values(name="other"))


def purge(database: Database, project: int) -> None:
    put_away(database, project)
    removal.purge(database, project)


def remove(database: Database, project: int) -> None:
    with database.write.begin() as session:
        removal.begin(session, project, catalogue.get(session, project).name, "ana")
    removal.finish(database, project)


CHANGES: tuple[Callable[[Database, int], None], ...] = (
    add_images,
    put_away,
    bring_back,
    save_boxes,
    rename,
    merge,
    start_run,
    record,
    finish_run,
    undo,
    promote,
    measure,
    mend,
    purge,
    remove,
)


@pytest.fixture
def house(sqlite: Database, tmp_path: Path, place: Place) -> Publishing:
    return warehouses.publishing(sqlite, tmp_path, place)


@pytest.fixture
def small(database: Database, tmp_path: Path) -> Publishing:
    """On each of our databases, published into a file."""
    return warehouses.publishing(database, tmp_path, warehouses.place("sqlite", tmp_path))


def plain(rows: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in rows), key=repr)


def check(house: Publishing) -> None:
    with house.database.read() as session:
        for name, kind in KINDS.items():
            ours, theirs = STANDING[name]
            there = plain(house.place.ask(f"SELECT {theirs} FROM {kind.view}"))
            assert there == plain(session.execute(text(ours))), name


def test_all_that_is_published_is_asked_for() -> None:
    assert set(STANDING) == set(KINDS)


def test_every_change_is_in_the_warehouse_after_a_load(small: Publishing) -> None:
    project = whole_home.fill(small.database)
    small.load()
    check(small)
    for change in CHANGES:
        change(small.database, project)
        small.load()
        check(small)


def test_many_changes_are_in_every_warehouse_after_one_load(house: Publishing) -> None:
    project = whole_home.fill(house.database)
    house.load()
    check(house)
    for change in CHANGES[:-1]:
        change(house.database, project)
    house.load()
    check(house)
    CHANGES[-1](house.database, project)
    house.load()
    check(house)
    assert house.place.ask("SELECT count(*) FROM loupe_detection WHERE deleted")[0][0] > 0
