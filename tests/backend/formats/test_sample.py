"""Drawn sample projects."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest

from backend import sample
from backend.domain import Split
from backend.errors import Invalid
from backend.sample import Drawn, changes, defects, ground, panels

SOURCES = [("pcb", "binary"), ("pcb", "colour"), ("mask", "binary")]


def boards(look: str = "binary", images: int = 24, seed: int = 4) -> list[Drawn]:
    return list(sample.draw("pcb", images, seed, look))


@pytest.mark.parametrize(("kind", "look"), SOURCES)
def test_a_seed_draws_the_same_pictures_again(kind: str, look: str) -> None:
    first, again = (list(sample.draw(kind, 7, 3, look)) for _ in range(2))
    assert [(d.name, d.boxes, d.split) for d in first] == [
        (d.name, d.boxes, d.split) for d in again
    ]
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize(("kind", "look"), SOURCES)
def test_another_seed_draws_other_pictures(kind: str, look: str) -> None:
    first, other = (next(iter(sample.draw(kind, 1, seed, look))) for seed in (3, 4))
    assert first.pixels.shape != other.pixels.shape or (first.pixels != other.pixels).any()


def test_asking_for_more_boards_leaves_the_first_as_they_were() -> None:
    few, many = boards(images=6), boards(images=12)
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(few, many, strict=False))


@pytest.mark.parametrize(("kind", "look"), SOURCES)
def test_boxes_lie_inside_the_picture_and_name_known_classes(kind: str, look: str) -> None:
    for drawn in sample.draw(kind, 12, 1, look):
        height, width = drawn.pixels.shape[:2]
        for box in drawn.boxes:
            assert 0 <= box.x1 < box.x2 <= width
            assert 0 <= box.y1 < box.y2 <= height
            assert box.label in sample.CLASSES[kind]


@pytest.mark.parametrize("kind", sample.CLASSES)
def test_every_class_occurs_in_every_split_of_sixty_pictures(kind: str) -> None:
    found = {(d.split, box.label) for d in sample.draw(kind, 60) for box in d.boxes}
    assert found == set(itertools.product(Split, sample.CLASSES[kind]))


@pytest.mark.parametrize("kind", sample.CLASSES)
def test_a_group_lies_in_one_split_and_names_are_unique(kind: str) -> None:
    drawn = list(sample.draw(kind, 60))
    groups = {d.group for d in drawn}
    assert len({(d.group, d.split) for d in drawn}) == len(groups)
    assert len({d.name for d in drawn}) == len(drawn)


def test_each_board_comes_after_its_golden_and_resembles_it() -> None:
    seen: dict[str, Drawn] = {}
    for drawn in boards():
        if drawn.is_golden:
            seen[drawn.name] = drawn
            continue
        golden = seen[drawn.golden]
        assert golden.boxes == ()
        assert (golden.pixels != drawn.pixels).mean() < 0.1


def test_board_and_golden_differ_only_in_the_boxes_apart_from_edges() -> None:
    goldens = {d.name: d.pixels for d in boards() if d.is_golden}
    for board in boards():
        if not board.is_golden:
            assert _differing(board.pixels, goldens[board.golden], board) == 0


def test_each_box_holds_a_difference() -> None:
    goldens = {d.name: d.pixels for d in boards() if d.is_golden}
    for board in boards():
        for box in board.boxes:
            spot = np.s_[int(box.y1) : int(box.y2), int(box.x1) : int(box.x2)]
            changed = board.pixels[spot] != goldens[board.golden][spot]
            assert np.count_nonzero(changed) >= 16, (board.name, box)


def test_boxes_of_a_board_overlap_little() -> None:
    for board in boards(images=48):
        for a, b in itertools.combinations(board.boxes, 2):
            wide, high = min(a.x2, b.x2) - max(a.x1, b.x1), min(a.y2, b.y2) - max(a.y1, b.y1)
            assert min(wide, high) <= 4, (board.name, a, b)


def test_defects_do_to_the_copper_what_their_names_say() -> None:
    rng = np.random.default_rng(5)
    clean = panels.lay_out(rng).copper[:656, :656]
    view = ground.survey(clean, np.zeros_like(clean))
    for defect in defects.inject(rng, view, 18):
        harmed = clean.copy()
        defect.apply(harmed)
        assert np.array_equal(harmed < clean, harmed != clean) == defect.kind.removes
        assert defect.kind.holds(changes.PlacedPatch(view, defect.patch))


def test_a_short_joins_two_pieces_and_an_open_parts_one() -> None:
    clean = np.zeros((300, 300), np.uint8)
    clean[140:150], clean[166:176] = 255, 255
    view = ground.survey(clean, np.zeros_like(clean))
    found = {d.kind.name: d for d in defects.inject(np.random.default_rng(1), view, 12)}
    assert _pieces_after(clean, found["short"]) == 1
    assert _pieces_after(clean, found["open"]) == 3


def test_an_unknown_kind_or_look_is_refused_by_name() -> None:
    with pytest.raises(Invalid, match="'teapot'; there are pcb, mask"):
        sample.draw("teapot", 1)
    with pytest.raises(Invalid, match="'sepia'; there are binary, colour"):
        sample.draw("pcb", 1, look="sepia")
    with pytest.raises(Invalid, match="-1 pictures"):
        sample.draw("mask", -1)


def _differing(pixels: np.ndarray, golden: np.ndarray, board: Drawn) -> int:
    """Pixels outside the boxes whose tone does not occur within four pixels in the golden."""
    window = np.ones((9, 9), np.uint8)
    differs = (pixels > cv2.dilate(golden, window)) | (pixels < cv2.erode(golden, window))
    for box in board.boxes:
        differs[int(box.y1) : int(box.y2), int(box.x1) : int(box.x2)] = False
    solid = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    return int(np.count_nonzero(solid[8:-8, 8:-8]))


def _pieces_after(copper: np.ndarray, defect: defects.Defect) -> int:
    harmed = copper.copy()
    defect.apply(harmed)
    return int(cv2.connectedComponents(harmed, connectivity=4)[0]) - 1
