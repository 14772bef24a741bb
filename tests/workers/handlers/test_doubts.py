"""Labels that are wrong are found by models that did not learn from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from backend.domain import Box, State, Task
from backend.errors import Refused
from backend.jobs import kinds
from backend.labels import gallery, images, labelling
from backend.projects import catalogue
from backend.review.doubts import asking, inbox
from backend.review.doubts.asking import Wanted
from backend.review.doubts.inbox import Held
from backend.review.doubts.scoring import Kind
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers.handlers.review import folds

DAMAGED = 4


@pytest.fixture
def place(tmp_path: Path, shared_cache: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home", shared_cache)
    yield made
    made.database.close()


def labelled(place: Place, project: int) -> dict[int, tuple[Box, ...]]:
    """The labels of the images that are done and have some, by image."""
    with place.database.read() as session:
        ids = gallery.ids(session, project, gallery.parse([("state", State.DONE)]))
        return {id_: boxes for id_, boxes in labelling.boxes_of(session, ids).items() if boxes}


def damage(place: Place, project: int) -> dict[int, Kind]:
    """One label is removed, one moved, one gets another class, and one is invented."""
    boards = labelled(place, project)
    names = sorted({box.label for boxes in boards.values() for box in boxes})
    done: dict[int, Kind] = {}
    for kind, (image_id, boxes) in zip(Kind, list(boards.items())[:DAMAGED], strict=True):
        one, rest = boxes[0], boxes[1:]
        away, wide = one.x2 - one.x1, one.x2
        other = names[names.index(one.label) - 1]
        wrong = {
            Kind.MISSING: rest,
            Kind.SPURIOUS: (*boxes, replace(one, id="", x1=3, x2=23, y1=3, y2=23)),
            Kind.CLASS: (replace(one, label=other, class_id=None), *rest),
            Kind.LOOSE: (replace(one, x1=one.x1 - away / 2, x2=wide - away / 2), *rest),
        }
        with place.database.write.begin() as session:
            version = labelling.version_of(session, image_id)
            labelling.save(session, image_id, version, wrong[kind], "ana")
        done[image_id] = kind
    return done


def search(place: Place, project: int, **wanted: object) -> list[Held]:
    with place.database.write.begin() as session:
        asking.ask(session, project, Wanted(**wanted), "ana")  # type: ignore[arg-type]
    place.carry_out(place.claim())
    with place.database.read() as session:
        return inbox.window(session, project, 50)


def test_models_that_are_trained_in_turns_tell_of_damaged_labels(place: Place) -> None:
    project = place.sample(14)
    wrong = damage(place, project)
    found = search(place, project, folds=2)
    told = {(one.image.id, one.kind) for one in found[: 2 * DAMAGED]}
    assert len(told & wrong.items()) >= DAMAGED - 1  # ten boards teach little
    assert not any((place.settings.home / "jobs").glob("*/parts/part ?"))


@pytest.mark.siege
def test_a_search_that_was_killed_keeps_the_parts_that_are_done(place: Place) -> None:
    project = place.sample(8)
    tiny = {"epochs": 1, "image_size": 64, "batch": 2}
    with place.database.write.begin() as session:
        asking.ask(session, project, Wanted("yolo", folds=2, parameters=tiny), "ana")
    context = place.context(place.claim())
    request = cast("kinds.Doubts", context.request)
    first = folds.found(context, request)
    parts = context.folder / "parts"
    kept = {file: file.stat().st_mtime_ns for file in parts.glob("part*")}
    assert sorted(file.name for file in kept) == ["part 0.npz", "part 1.npz"]
    again = folds.found(context, request)
    assert {file: file.stat().st_mtime_ns for file in parts.glob("part*")} == kept
    assert again.keys() == first.keys() >= labelled(place, project).keys()
    assert all(np.array_equal(again[one], first[one]) for one in first)


def test_what_another_program_found_tells_of_damaged_labels(place: Place) -> None:
    project = place.sample(14)
    before = labelled(place, project)
    wrong = damage(place, project)
    with place.database.read() as session:
        names = {id_: images.get(session, id_).name for id_ in before}
    rows = [
        f"{names[id_]},{box.label},0.9,{box.x1},{box.y1},{box.x2},{box.y2}"
        for id_, boxes in before.items()
        for box in boxes
    ]
    file = place.files.put("\n".join(["name,label,score,x1,y1,x2,y2", *rows]).encode())
    found = search(place, project, file=file, name="theirs.csv")
    assert {one.image.id: one.kind for one in found[:DAMAGED]} == wrong


def test_a_run_tells_of_labels_that_its_model_did_not_learn_from(place: Place) -> None:
    project = place.sample(14)
    wrong = damage(place, project)
    run = place.detect(project, options={"confidence": 0.05})["run"]
    found = search(place, project, run_id=run)
    assert set(wrong) <= {one.image.id for one in found[: 2 * DAMAGED]}


def test_a_project_of_classified_pictures_is_told_why_not(place: Place) -> None:
    with place.database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, ["good", "bad"]).id
    with place.database.write.begin() as session, pytest.raises(Refused, match="one class each"):
        asking.ask(session, project, Wanted())


def test_pictures_of_one_lot_stay_in_one_part() -> None:
    keys = ["a"] * 5 + ["b"] * 3 + ["c"] * 2
    parts = folds.in_parts(keys, 2)
    assert [parts[0]] * 5 == parts[:5]
    assert sorted({parts[5], parts[8]}) == [1 - parts[0]]


def test_fewer_lots_than_parts_are_taken_apart() -> None:
    assert set(folds.in_parts(["a"] * 6, 3)) == {0, 1, 2}
