from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from backend import matching
from tests.workers.engine import spots
from workers.engine import tiles
from workers.engine.tiles import Tiled
from workers.families.base import NOTHING, Detections, LoadedModel, Picture
from workers.runtimes import ModelSource, preparing


def _found(answer: object) -> Detections:
    assert isinstance(answer, np.ndarray)
    return answer


def _box(*corners: float, score: float = 0.9) -> Detections:
    return np.array([(*corners, score, 0)], np.float32)


@pytest.mark.parametrize(("width", "height"), [(3000, 2000), (6000, 640), (801, 900)])
def test_tiles_cover_a_picture_with_overlap_and_stay_inside(width: int, height: int) -> None:
    covered = np.zeros((height, width), int)
    for x1, y1, x2, y2 in tiles.cut(width, height, 640):
        assert 0 <= x1 < x2 <= width
        assert 0 <= y1 < y2 <= height
        covered[y1:y2, x1:x2] += 1
    assert covered.min() == 1
    assert covered.max() > 1


def test_a_picture_hardly_larger_than_a_tile_is_looked_at_whole() -> None:
    assert tiles.cut(800, 600, 640) == []


def test_a_thing_torn_by_an_edge_is_given_once_and_whole() -> None:
    left, right = (0, 0, 640, 640), (500, 0, 1140, 640)
    parts = [(left, _box(520, 10, 640, 60, score=0.95)), (right, _box(20, 10, 200, 60))]
    merged = tiles.merge(NOTHING, parts, 1140, 640)
    assert merged.tolist() == _box(520, 10, 700, 60).tolist()


def test_spots_on_a_large_picture_are_all_found_once() -> None:
    pixels = np.zeros((1500, 2000, 3), np.uint8)
    places = [(x, y) for x in range(20, 1980, 97) for y in range(20, 1480, 83)]
    for x, y in places:
        pixels[y : y + 9, x : x + 9] = 255
    found = _found(Tiled(spots.load(), 320).predict([Picture(pixels)])[0])
    assert sorted((x, y) for x, y in found[:, :2].astype(int).tolist()) == sorted(places)


def test_ordinary_photos_give_exactly_the_same_boxes(
    weights: Path, cocoval: Path, tmp_path: Path
) -> None:
    model = _yolo(weights, tmp_path)
    photos = [_photo(path) for path in sorted(cocoval.glob("*.jpg"))[:4]]
    plain, tiled = model.predict(photos), Tiled(model, 640).predict(photos)
    for first, second in zip(plain, tiled, strict=True):
        np.testing.assert_array_equal(_found(first), _found(second))


def test_tiles_find_on_a_wall_of_photos_what_a_look_at_the_whole_misses(
    weights: Path, cocoval: Path, tmp_path: Path
) -> None:
    model = _yolo(weights, tmp_path)
    paths = [path for path in sorted(cocoval.glob("*.jpg")) if _photo(path).pixels.shape[1] == 640]
    photos = [cv2.resize(_photo(path).pixels, (640, 480)) for path in paths[:16]]
    rows = [np.concatenate(photos[i : i + 4], 1) for i in range(0, 16, 4)]
    wall = Picture(np.asarray(np.concatenate(rows, 0), np.uint8))
    truth = []
    for i, photo in enumerate(photos):
        alone = _found(model.predict([Picture(np.asarray(photo, np.uint8))])[0])
        moved = alone + np.array([i % 4 * 640, i // 4 * 480] * 2 + [0, 0], np.float32)
        truth.append(moved[alone[:, 4] > 0.5])
    wanted = np.concatenate(truth)
    whole = _recall(_found(model.predict([wall])[0]), wanted)
    tiled = _recall(_found(Tiled(model, 640).predict([wall])[0]), wanted)
    assert whole < 0.6
    assert tiled > 0.85


def _recall(found: Detections, wanted: Detections) -> float:
    truths = np.concatenate([wanted[:, :4], wanted[:, 5:]], 1)
    return matching.match(found, truths, 0.5).found / len(wanted)


def _photo(path: Path) -> Picture:
    return Picture(np.asarray(cv2.imread(str(path)), np.uint8))


def _yolo(weights: Path, folder: Path) -> LoadedModel:
    source = ModelSource("yolo", weights / "yolo11n_recovered.pt")
    return preparing.load(preparing.prepare(source, folder / "cache", "torch"), 0.25)
