"""A run's COCO results fit the project's COCO export, whatever came and went in between."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from pycocotools.coco import COCO

from backend.domain import Detection, Run, RunImage, Split
from backend.labels import images
from backend.projects import catalogue, classes
from backend.review import reports
from backend.storage import findings, types
from backend.storage.engine import Database
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

RUN = 7
NAMES = [f"{letter}.png" for letter in "dbace"]


@pytest.fixture
def house(database: Database, files: Files, tmp_path: Path) -> House:
    """A run over five pictures, each with a detection whose corner tells its picture."""
    made = House(database, files, tmp_path / "home")
    lines = {f"{name[0]}.txt": "0 0.5 0.5 0.25 0.5\n" for name in NAMES}
    pictures = {one: drawn.picture(shade=n, kind="PNG") for n, one in enumerate(NAMES)}
    made.bring(drawn.lay(tmp_path / "in", {**pictures, **lines, "classes.txt": "dent\nscratch\n"}))
    with database.write.begin() as session:
        project = catalogue.find(session, "line 3")
        findings.start(session, Run(RUN, "v1", "yolo", types.now(), project.id))
        seen = [
            RunImage(one.id, name, detections=(Detection(ord(name[0]), 1, 200, 9, "dent", 0.9),))
            for name, one in made.images().items()
        ]
        findings.record(session, RUN, seen)
    return made


def exported(house: House, folder: Path) -> dict[str, Any]:
    """The COCO file of the project as it is now, whole or by split: its name → what it says."""
    house.take(folder, "coco")
    return {one.stem: str(one) for one in folder.glob("annotations/*.json")}


def results(house: House) -> list[dict[str, Any]]:
    with house.database.read.begin() as session:
        found: list[dict[str, Any]] = json.loads(b"".join(reports.write(session, RUN, "coco")))
    return found


def fit(file: str, found: list[dict[str, Any]]) -> set[str]:
    """The pictures to which pycocotools lays the results, each that which it was found in."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(file)
        here = [one for one in found if one["image_id"] in truth.imgs]
        laid = truth.loadRes(here)
    names = {note["image_id"]: truth.imgs[note["image_id"]]["file_name"] for note in here}
    assert all(names[one["image_id"]] == chr(int(one["bbox"][0])) + ".png" for one in here)
    assert all(laid.cats[one["category_id"]]["name"] == one["category"] for one in here)
    return set(names.values())


def test_results_fit_an_export_of_another_day(house: House, tmp_path: Path) -> None:
    with house.database.write.begin() as session:
        project = catalogue.find(session, "line 3")
        here = house.images()
        images.put_away(session, [here["b.png"].id])
        more = [images.NewImage(f"{n}.png", here["a.png"].sha256, 64, 48) for n in "0z"]
        images.add(session, project.id, more, "ana")
    [file] = exported(house, tmp_path / "out").values()
    assert fit(file, results(house)) == set(NAMES) - {"b.png"}


def test_results_fit_each_part_of_an_export(house: House, tmp_path: Path) -> None:
    here = house.images()
    with house.database.write.begin() as session:
        images.set_split(session, [here[name].id for name in ("a.png", "e.png")], Split.TEST)
        project = catalogue.find(session, "line 3")
        dent, scratch = classes.of(session, project.id)
        classes.reorder(session, project.id, [scratch.id, dent.id])
    files = exported(house, tmp_path / "out")
    found = {name: fit(file, results(house)) for name, file in files.items()}
    assert found["instances_test"] == {"a.png", "e.png"}
    assert found["instances_unassigned"] == {"b.png", "c.png", "d.png"}
