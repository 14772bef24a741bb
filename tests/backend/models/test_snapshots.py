"""Snapshots: frozen, reproducible, split by image and by group."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from backend.domain import Box, Split
from backend.errors import Refused
from backend.labels import images, labelling
from backend.models import snapshots
from backend.projects import catalogue
from backend.storage.engine import Database

BOX = Box(1, 1, 5, 5, "open")


def labelled(session: Session, splits: dict[str, Split | None], groups: int = 0) -> int:
    project = catalogue.create(session, "line 3")
    new = [
        images.NewImage(
            name, f"{number:064x}", 64, 64, (BOX,), split=split, labelled=True,
            group=f"lot {number % groups}" if groups else "",
        )
        for number, (name, split) in enumerate(splits.items())
    ]  # fmt: skip
    images.add(session, project.id, new, "ana")
    return project.id


def frozen(session: Session, project_id: int, seed: int = 1) -> dict[str, Split]:
    snapshot = snapshots.freeze(session, project_id, seed, "ana")
    return {image.name: image.split for image in snapshots.images(session, snapshot.id)}


def test_the_same_seed_gives_the_same_splits(database: Database) -> None:
    with database.write.begin() as session:
        project_id = labelled(session, {f"{i}.png": None for i in range(200)})
        first, again = frozen(session, project_id), frozen(session, project_id)
        other = frozen(session, project_id, seed=2)
    assert first == again != other
    assert 110 < sum(split == Split.TRAIN for split in first.values()) < 175
    assert set(first.values()) == set(Split)


def test_a_group_is_never_torn(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        project_id = labelled(session, {f"{i}.png": None for i in range(60)}, groups=7)
        split = frozen(session, project_id)
    for lot in range(7):
        assert len({split[f"{i}.png"] for i in range(60) if i % 7 == lot}) == 1
    assert set(split.values()) == set(Split)


def test_an_official_split_is_kept_and_validation_comes_from_training(sqlite: Database) -> None:
    official = {f"{i}.png": Split.TEST if i >= 40 else Split.TRAIN for i in range(60)}
    with sqlite.write.begin() as session:
        split = frozen(session, labelled(session, dict(official)))
    assert all((split[name] == Split.TEST) == (official[name] == Split.TEST) for name in official)
    assert Split.VAL in split.values()


def test_three_images_fill_three_splits(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        split = frozen(session, labelled(session, {"a": None, "b": None, "c": None}))
    assert set(split.values()) == set(Split)


def test_a_later_edit_does_not_reach_a_snapshot(database: Database) -> None:
    with database.write.begin() as session:
        project_id = labelled(session, {"a.png": None})
        snapshot = snapshots.freeze(session, project_id, 1, "ana")
        image = images.find(session, project_id, "a.png")
        labelling.save(session, image.id, 1, [], "ben")
        images.put_away(session, [image.id])
        (kept,) = snapshots.images(session, snapshot.id)
    assert (kept.version, len(kept.boxes), kept.boxes[0].label) == (1, 1, "open")


def test_nothing_labelled_makes_no_snapshot(sqlite: Database) -> None:
    with pytest.raises(Refused, match="no labelled image"), sqlite.write.begin() as session:
        snapshots.freeze(session, catalogue.create(session, "empty").id, 1, "ana")


def test_some_images_come_with_their_labels_of_now_in_the_order_asked(database: Database) -> None:
    with database.write.begin() as session:
        project_id = labelled(session, {"a.png": None, "b.png": None, "c.png": None})
        known = images.ids(session, project_id, ["a.png", "b.png", "c.png"])
        labelling.save(session, known["b.png"], 1, [], "ben")
    asked = [known["c.png"], max(known.values()) + 1, known["b.png"], known["a.png"]]
    with database.read() as session:
        some = [(one.name, len(one.boxes)) for one in snapshots.some(session, asked)]
    assert some == [("c.png", 1), ("b.png", 0), ("a.png", 1)]
