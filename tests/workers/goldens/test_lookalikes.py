"""The golden of a picture is found among many, by look alone, also where the board lies askew."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.runs import detection
from backend.runs.detection import Target
from tests.workers.families.golden import boards
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers.goldens import lookalikes
from workers.goldens.lookalikes import Lookalikes

MANY = 30


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return places.make(tmp_path_factory.mktemp("lookalikes") / "home")


@pytest.fixture(scope="module")
def goldens(place: Place) -> list[Target]:
    return [Target(n, f"{n}.png", _stored(place, boards.golden(n))) for n in range(MANY)]


def _stored(place: Place, pixels: boards.Pixels) -> str:
    return place.files.put(cv2.imencode(".png", pixels)[1].tobytes())


def _found(alike: Lookalikes, board: boards.Pixels, goldens: Sequence[Target]) -> int | None:
    best = alike.best(lookalikes.small(board), goldens)
    return best.image_id if best else None


@pytest.mark.parametrize("angle", [0.0, 2.0, 90.0, 180.0])
def test_each_board_finds_its_own_golden(place: Place, goldens: list[Target], angle: float) -> None:
    alike = Lookalikes(place.files, place.settings)
    shown = range(0, MANY, 7)
    found = [_found(alike, boards.moved(boards.golden(n), angle, x=3), goldens) for n in shown]
    assert found == list(shown)


def test_a_board_of_no_product_finds_none(place: Place, goldens: list[Target]) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (320, 320), np.uint8)
    assert _found(Lookalikes(place.files, place.settings), noise, goldens) is None


def test_signatures_are_kept_so_that_no_golden_is_opened_twice(
    place: Place, goldens: list[Target]
) -> None:
    Lookalikes(place.files, place.settings).learn(goldens)
    nowhere = places.make(place.settings.home / "nowhere").files
    again = Lookalikes(nowhere, place.settings)
    board = lookalikes.small(boards.golden(5))
    assert again.closest(board, goldens)[0].image_id == 5


def test_a_tried_board_is_compared_with_its_golden_however_old_that_is(tmp_path: Path) -> None:
    place = places.make(tmp_path / "home")
    board = tmp_path / "board.png"
    cv2.imwrite(str(board), _defective(boards.golden(0)))
    with place.database.write.begin() as session:
        project = catalogue.create(session, "line", classes=["open"]).id
        for n in range(12):
            new = NewImage(f"{n}.png", _stored(place, boards.golden(n)), 320, 320, is_golden=True)
            images.add(session, project, [new], "ann")
        detection.try_one(session, project, "golden", board)
    assert place.carry_out(place.claim())["model"] == "golden"  # not refused
    place.database.close()


def _defective(golden: boards.Pixels) -> boards.Pixels:
    board = golden.copy()
    boards.DEFECTS["copper"](board)
    return board
