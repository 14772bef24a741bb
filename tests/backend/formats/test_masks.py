"""Masks beside pictures: never pictures themselves, and boxes where somebody wants them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.errors import Invalid
from backend.labels import imports
from backend.labels.imports import Into
from backend.settings import Settings
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

Laid = dict[str, bytes | str]
PARTS = ((4, 4, 10, 12, 1), (20, 8, 40, 30, 2), (50, 40, 60, 46, 1))  # x1, y1, x2, y2, value
RED, GREEN = (128, 0, 0), (0, 128, 0)
ALL = [(4.0, 4.0, 10.0, 12.0), (20.0, 8.0, 40.0, 30.0), (50.0, 40.0, 60.0, 46.0)]


def _photo(shade: int) -> bytes:
    noise = np.random.default_rng(shade).integers(0, 256, (48, 64, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, "JPEG")
    return out.getvalue()


def _mask(parts: Sequence[tuple[int, ...]] = PARTS, *, mode: str = "L", kind: str = "PNG") -> bytes:
    """Rectangles of a value each: as indices of a palette, as greys, in colour, black and white."""
    values = np.zeros((48, 64), np.uint8)
    for x1, y1, x2, y2, value in parts:
        values[y1:y2, x1:x2] = 255 if mode == "1" else value
    image = Image.fromarray(values)
    if mode in ("P", "RGB"):
        image.putpalette([0, 0, 0, *RED, *GREEN])
    out = io.BytesIO()
    (image.convert("RGB") if mode == "RGB" else image).save(out, kind)
    return out.getvalue()


LAYOUTS: dict[str, tuple[str, str]] = {
    "folders beside each other": ("images/a.jpg", "masks/a.png"),
    "Pascal VOC": ("JPEGImages/a.jpg", "SegmentationClass/a.png"),
    "ends of names": ("a.jpg", "a_mask.png"),
    "below splits": ("train/images/a.jpg", "train/masks/a.png"),
    "splits below": ("images/train/a.jpg", "annotations/train/a.png"),
}


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def _bring(house: House, source: Path, by: str = "", project: str = "line 3") -> imports.Imported:
    into = Into(house.database, house.files, project, "ana")
    return imports.run(into, source, Settings(home=house.home), masks_by=by)


def _corners(house: House) -> list[tuple[object, ...]]:
    return [box[:4] for boxes in house.boxes().values() for box in boxes]


def _kinds(house: House) -> list[object]:
    return [box[4] for boxes in house.boxes().values() for box in boxes]


@pytest.mark.parametrize(("picture", "mask"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_mask_is_no_picture_and_is_said(
    house: House, tmp_path: Path, picture: str, mask: str
) -> None:
    source = drawn.lay(tmp_path / "in", {picture: _photo(1), mask: _mask()})
    result = _bring(house, source)
    (told,) = map(str, result.problems)
    assert told.startswith(f"{mask}: no label was taken from it: it is a mask of a picture beside")
    assert (result.images, _corners(house)) == (1, [])
    again = _bring(house, source, "colour")
    assert (again.images, again.skipped, again.problems, _corners(house)) == (0, 1, (), ALL)


def test_masks_that_are_skipped_are_no_problem(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", {"images/a.jpg": _photo(1), "masks/a.png": _mask()})
    assert (_bring(house, source, "skip").problems, len(house.images())) == ((), 1)
    with pytest.raises(Invalid, match="Masks cannot be read by 'luck'; there are skip, instance"):
        _bring(house, source, "luck")


@pytest.mark.parametrize("mode", ["L", "P", "RGB"])
def test_by_instance_each_value_is_a_thing(house: House, tmp_path: Path, mode: str) -> None:
    laid: Laid = {"images/a.jpg": _photo(1), "masks/a.png": _mask(mode=mode)}
    _bring(house, drawn.lay(tmp_path / "in", laid), "instance")
    assert _corners(house) == [(4.0, 4.0, 60.0, 46.0), (20.0, 8.0, 40.0, 30.0)]
    assert _kinds(house) == ["object", "object"]


@pytest.mark.parametrize(
    ("mode", "names"),
    [("L", ["1", "2", "1"]), ("P", ["1", "2", "1"]), ("RGB", ["#800000", "#008000", "#800000"])],
)
def test_by_colour_each_colour_is_a_class(
    house: House, tmp_path: Path, mode: str, names: list[str]
) -> None:
    laid: Laid = {"images/a.jpg": _photo(1), "masks/a.png": _mask(mode=mode)}
    _bring(house, drawn.lay(tmp_path / "in", laid), "colour")
    assert (_corners(house), _kinds(house)) == (ALL, names)


@pytest.mark.parametrize("mode", ["P", "RGB"])
def test_a_label_map_names_the_colours(house: House, tmp_path: Path, mode: str) -> None:
    laid: Laid = {"JPEGImages/a.jpg": _photo(1), "SegmentationClass/a.png": _mask(mode=mode)}
    colours = "# label:color_rgb:parts:actions\nbackground:0,0,0::\ndent:128,0,0::\npit:0,128,0::\n"
    _bring(house, drawn.lay(tmp_path / "in", laid | {"labelmap.txt": colours}), "colour")
    assert _kinds(house) == ["dent", "pit", "dent"]


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("by", ["instance", "colour"])
def test_black_and_white_is_cut_into_its_parts(
    house: House, tmp_path: Path, by: str, kind: str
) -> None:
    mask = _mask(mode="1", kind=kind)
    laid: Laid = {"images/a.jpg": _photo(1), f"masks/a.{kind.lower()}": mask}
    _bring(house, drawn.lay(tmp_path / "in", laid), by)
    assert (_corners(house), set(_kinds(house))) == (ALL, {"object"})


def test_of_two_masks_things_or_classes_are_asked(house: House, tmp_path: Path) -> None:
    laid: Laid = {
        "JPEGImages/a.jpg": _photo(1),
        "SegmentationClass/a.png": _mask(mode="P"),
        "SegmentationObject/a.png": _mask([(1, 1, 9, 9, 1), (20, 20, 30, 30, 2)], mode="P"),
    }
    _bring(house, drawn.lay(tmp_path / "in", laid), "instance")
    assert _corners(house) == [(1.0, 1.0, 9.0, 9.0), (20.0, 20.0, 30.0, 30.0)]


MVTEC: Laid = {
    "train/good/000.png": drawn.picture(shade=1, kind="PNG"),
    "test/good/000.png": drawn.picture(shade=2, kind="PNG"),
    "test/crack/000.png": drawn.picture(shade=3, kind="PNG"),
    "ground_truth/crack/000_mask.png": _mask(mode="1"),
}


def test_the_folder_of_a_defect_is_the_class_of_its_parts(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", MVTEC)
    assert (_bring(house, source, "instance").images, set(_kinds(house))) == (3, {"crack"})
    assert _corners(house) == ALL
    assert {image.version for image in house.images().values()} == {1}
    bare = _bring(house, source, project="classes")
    assert (bare.images, len(bare.problems)) == (3, 1)
    assert {image.label for image in house.images("classes").values()} == {"good", "crack"}


QUIET: dict[str, Laid] = {
    "photos in a folder called mask": {"mask/a.jpg": _photo(1), "no_mask/a.jpg": _photo(2)},
    "photos called masks": {"images/a.jpg": _photo(1), "masks/a.jpg": _photo(2)},
    "masks of nothing": {"images/a.jpg": _photo(1), "masks/b.png": _mask()},
    "small copies": {"images/a.jpg": _photo(1), "thumbs/a.jpg": _photo(2)},
}


@pytest.mark.parametrize("laid", QUIET.values(), ids=QUIET)
def test_what_is_no_mask_comes_in(house: House, tmp_path: Path, laid: Laid) -> None:
    result = _bring(house, drawn.lay(tmp_path / "in", laid))
    assert (result.images, result.problems) == (2, ())


def test_masks_beside_labels_that_are_read_stay_without_a_word(
    house: House, tmp_path: Path
) -> None:
    labels = {"labels/a.txt": "0 .5 .5 .5 .5\n", "classes.txt": "dent\n"}
    laid: Laid = {"images/a.jpg": _photo(1), "masks/a.png": _mask(), **labels}
    result = _bring(house, drawn.lay(tmp_path / "in", laid), "")
    assert (result.images, result.boxes, result.problems) == (1, 1, ())
