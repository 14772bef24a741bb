"""Which images an export holds, and the splits that it gives them; on both databases."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sqlalchemy.orm import Session

from backend.domain import Image, Split, State
from backend.errors import Invalid
from backend.labels import export_choice, gallery, images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage.engine import Database

LOTS, EACH = 20, 5


@pytest.fixture
def project(database: Database) -> int:
    """A hundred images of twenty lots, two in three of them done, and one golden each of two."""
    with database.write.begin() as session:
        made = catalogue.create(session, "boards", classes=["dent"])
        goldens = [_new(f"golden{n}", 1000 + n, is_golden=True) for n in range(2)]
        boards = [
            _new(f"{lot:02}-{n}", lot * EACH + n, f"lot {lot}", golden=f"golden{lot % 2}.png")
            for lot in range(LOTS)
            for n in range(EACH)
        ]
        images.add(session, made.id, [*goldens, *boards], "ana")
        for at, image in enumerate(_all(session, made.id)):
            if at % 3:
                labelling.save(session, image.id, 0, (), "ana", state=State.DONE)
        return made.id


def _new(name: str, number: int, group: str = "", **more: Any) -> NewImage:
    return NewImage(f"{name}.png", f"{number:064x}", 64, 48, group=group, **more)


def _all(session: Session, project: int) -> list[Image]:
    items = gallery.every(session, project, gallery.Filter())
    return [item.image for item in items]


def _leaving(
    database: Database, project: int, shares: tuple[int, ...] = (), seed: int = 0, **source: Any
) -> tuple[export_choice.Leaving, dict[str, Split | None]]:
    with database.read.begin() as session:
        found = export_choice.choose(session, project, export_choice.asked(source, shares, seed))
        chosen = gallery.every(session, project, found.asked.chosen)
        images_ = [one.image for one in chosen if found.takes(one.image)]
        return found, {image.name: found.split(image) for image in images_}


SOURCES: list[tuple[dict[str, Any], int, int]] = [
    ({}, 66, 34),
    ({"states": ["all"]}, 100, 0),
    ({"states": ["new"]}, 34, 66),
    ({"states": ["new", "done"]}, 100, 0),
    ({"filter": "group=lot 3&group=lot%204"}, 6, 4),
    ({"filter": "?state=new&text=1"}, 21, 43),
    ({"filter": "state=new", "states": ["all"]}, 34, 66),
    ({"splits": ["val"]}, 0, 0),
    ({"splits": ["none"]}, 66, 34),
]


@pytest.mark.parametrize(("source", "leave", "stay"), SOURCES)
def test_what_is_asked_for_leaves_and_the_rest_is_counted(
    database: Database, project: int, source: dict[str, Any], leave: int, stay: int
) -> None:
    found, chosen = _leaving(database, project, **source)
    assert (found.total, found.stay.total(), len(chosen)) == (leave, stay, leave)


def test_chosen_images_leave_with_the_goldens_that_they_name(
    database: Database, project: int
) -> None:
    with database.read.begin() as session:
        wanted = [image for image in _all(session, project) if image.group == "lot 4"]
    found, chosen = _leaving(database, project, images=[image.id for image in wanted])
    assert set(chosen) == {image.name for image in wanted if image.state == State.DONE}
    assert found.goldens == {wanted[0].golden_id}


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_kept_and_no_group_is_torn(database: Database, project: int, seed: int) -> None:
    found, chosen = _leaving(database, project, (80, 10, 10), seed, states=["all"])
    assert found.splits == {"train": 80, "val": 10, "test": 10}
    assert Counter(chosen.values()) == {Split.TRAIN: 80, Split.VAL: 10, Split.TEST: 10}
    lots = {(name[:2], split) for name, split in chosen.items()}
    assert len(lots) == LOTS
    assert _leaving(database, project, (80, 10, 10), seed, states=["all"])[1] == chosen
    assert _leaving(database, project, (80, 10, 10), seed + 9, states=["all"])[1] != chosen


def test_what_a_person_has_assigned_stands_and_takes_its_group_along(
    database: Database, project: int
) -> None:
    with database.write.begin() as session:
        first = _all(session, project)[0]
        images.set_split(session, [first.id], Split.TEST)
    _, chosen = _leaving(database, project, (1, 1), states=["all"])
    assert {split for name, split in chosen.items() if name < "01"} == {Split.TEST}
    assert {split for name, split in chosen.items() if name > "01"} == {Split.TRAIN, Split.VAL}


def test_one_picture_under_two_names_is_in_one_split(database: Database) -> None:
    with database.write.begin() as session:
        made = catalogue.create(session, "twins")
        images.add(session, made.id, [_new(f"{n}", n // 2) for n in range(40)], "ana")
    _, chosen = _leaving(database, made.id, (50, 50), states=["all"])
    assert all(chosen[f"{n}.png"] == chosen[f"{n + 1}.png"] for n in range(0, 40, 2))


@pytest.mark.parametrize(
    ("source", "shares", "words"),
    [
        ({"filter": "clas=dent"}, (), "'clas' is no filter; write name=value"),
        ({"filter": "dent"}, (), "'dent' is no filter"),
        ({"filter": "text=a%00b"}, (), "'text' is no filter"),
        ({"filter": "text=\ud800"}, (), "'text' is no filter"),
        ({"filter": "sort=luck"}, (), "cannot be sorted by 'luck'"),
        ({"states": ["finished"]}, (), "There is no state 'finished'"),
        ({"splits": ["tests"]}, (), "There is no split 'tests'"),
        ({"path": "/etc"}, (), "cannot be asked for by 'path'"),
        ({}, (100,), "two or three whole numbers"),
        ({}, (0, 0), "two or three whole numbers"),
        ({}, (-1, 2), "two or three whole numbers"),
        ({}, (0.8, 0.2), "two or three whole numbers"),
    ],
)
def test_what_cannot_be_asked_is_said(source: dict[str, Any], shares: Any, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        export_choice.asked(source, shares)
