"""What holds for every reader and writer, whatever the files say."""

from __future__ import annotations

import json
import math
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain import Box, Split
from backend.errors import LoupeError
from backend.formats import box_bounds, format_table, picture_names
from backend.formats.base import Classes, Item, Labelled, OutgoingPicture, Problem
from backend.formats.source import archives, json_stream, tree
from backend.safe_pictures import PictureHeader
from tests.backend.labels import drawn

CLASSES = ("dent", "Kratzer, tief", "<&>", "7")
SIDES = {"x": 64.0, "y": 48.0}
CONTENT = drawn.picture()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
NUMBERS = st.floats() | st.integers() | st.floats(-10, 100)
WORDS = st.sampled_from(["dent", "0", "1", "nan", "-1", "1e400", "0.5", "", "é", "\x00", "a.jpg"])


def _boxed(name: str) -> pytest.MarkDecorator:
    rows = [row for row in format_table.FORMATS.values() if row.boxes]
    return pytest.mark.parametrize(name, rows, ids=lambda row: row.name)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@st.composite
def spans(draw: st.DrawFn, side: float) -> tuple[float, float]:
    """Two coordinates inside a picture, the second one larger."""
    ticks = st.integers(0, int(side * 10_000))
    low, high = sorted(draw(st.tuples(ticks, ticks).filter(lambda pair: pair[0] != pair[1])))
    return low / 10_000, high / 10_000


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    """A box as the project keeps it."""
    (x1, x2), (y1, y2) = draw(spans(SIDES["x"])), draw(spans(SIDES["y"]))
    return Box(x1, y1, x2, y2, draw(st.sampled_from(CLASSES)))


@st.composite
def pictures(draw: st.DrawFn) -> list[OutgoingPicture]:
    """Pictures with boxes, their names from a small alphabet so that they nearly meet."""
    part = st.text("ab 1%é_.,-", min_size=1, max_size=4).map(lambda t: t.strip(" .") or "x")
    names = draw(
        st.lists(
            st.lists(part, min_size=1, max_size=3).map("/".join),
            unique_by=str.lower,
            max_size=5,
        )
    )
    return [
        OutgoingPicture(
            f"{name}!.jpg",
            lambda: CONTENT,
            64,
            48,
            tuple(draw(st.lists(boxes(), max_size=4))),
            labelled=True,
            split=draw(st.none() | st.sampled_from(Split)),
        )
        for name in names
    ]


@_boxed("row")
@settings(max_examples=25, deadline=None)
@given(made=pictures())
def test_every_box_comes_back(row: format_table.Format, made: list[OutgoingPicture]) -> None:
    with _folder() as folder:
        written = list(row.write(made, folder, CLASSES))
        found, problems = drawn.read_back(folder, row.name) if written else ({}, [])
    assert all("template" in problem.reason for problem in problems)
    wanted = sorted((str(one.split), drawn.corners(one.boxes)) for one in made)
    assert sorted((str(i.split), drawn.corners(i.boxes)) for i in found.values()) == wanted
    if row.name != "deeppcb":
        assert set(found) == {one.name for one in made}


def _label_files(row: format_table.Format, content: bytes) -> dict[str, bytes | str]:
    names = {
        "deeppcb": ("test.txt", "g_not/a.txt", "classes.txt"),
        "coco": ("annotations/instances_train.json",),
        "voc": ("Annotations/a.xml", "ImageSets/Main/train.txt"),
        "yolo": ("labels/a.txt", "data.yaml", "classes.txt", "train.txt"),
    }
    return {name: content for name in names[row.name]}


def _read_all(
    row: format_table.Format, files: dict[str, bytes | str]
) -> list[Item | Problem | Classes]:
    pictured = {"images/a.jpg": CONTENT, "g/a_test.jpg": CONTENT, "JPEGImages/a.jpg": CONTENT}
    with _folder() as folder:
        opened = drawn.opened(drawn.lay(folder, pictured | files))
        row.recognise(opened)
        return list(row.read(opened))


def _assert_sound(found: list[Item | Problem | Classes]) -> None:
    for one in found:
        if isinstance(one, Problem):
            assert one.reason.endswith(".")
            assert one.file
        elif isinstance(one, Item):
            kept, _ = box_bounds.fit(one, PictureHeader("JPEG", 64, 48, "L"))
            assert all(0 <= b.x1 < b.x2 <= 64 and 0 <= b.y1 < b.y2 <= 48 for b in kept)
    names = [one.name for one in found if isinstance(one, Item)]
    assert len(names) == len(set(names))


@_boxed("row")
@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode()))
def test_any_bytes_for_labels_are_read_without_a_fall(
    row: format_table.Format, content: bytes
) -> None:
    for name in _label_files(row, content):
        _assert_sound(_read_all(row, {name: content}))


LINES = st.lists(st.lists(WORDS | NUMBERS.map(str), max_size=7).map(" ".join), max_size=6)


@_boxed("row")
@settings(max_examples=40, deadline=None)
@given(lines=LINES, comma=st.booleans())
def test_any_lines_are_read_without_a_fall(
    row: format_table.Format, lines: list[str], comma: bool
) -> None:
    content = "\r\n".join(lines).replace(" ", "," if comma else " ").encode()
    files = _label_files(row, content)
    if row.name == "deeppcb":
        files["test.txt"] = "g/a.jpg g_not/a.txt"
    _assert_sound(_read_all(row, files))


@settings(max_examples=80, deadline=None)
@given(value=JSON, bbox=st.lists(NUMBERS | st.text(max_size=2), max_size=5), key=JSON)
def test_any_json_is_read_as_coco_without_a_fall(value: Any, bbox: list[Any], key: Any) -> None:
    whole = {
        "images": [{"id": key, "file_name": "a.jpg", "width": value}, value],
        "annotations": [{"image_id": key, "category_id": 1, "bbox": bbox}, value],
        "categories": [{"id": 1, "name": "dent"}, {"id": value, "name": value}],
    }
    found = _read_all(format_table.FORMATS["coco"], {"all.json": json.dumps(whole)})
    _assert_sound(found)


@settings(max_examples=80, deadline=None)
@given(words=st.tuples(*[WORDS | NUMBERS.map(str)] * 7), tag=st.sampled_from(["object", "size"]))
def test_any_numbers_in_xml_are_read_without_a_fall(words: tuple[str, ...], tag: str) -> None:
    name, x1, y1, x2, y2, width, height = (word.replace("\x00", "") for word in words)
    xml = (
        f"<annotation><size><width>{width}</width><height>{height}</height></size><{tag}>"
        f"<name>{name}</name><bndbox><xmin>{x1}</xmin><ymin>{y1}</ymin><xmax>{x2}</xmax>"
        f"<ymax>{y2}</ymax></bndbox></{tag}></annotation>"
    )
    found = _read_all(format_table.FORMATS["voc"], {"Annotations/a.xml": xml})
    _assert_sound(found)
    assert any(isinstance(one, Item) and one.labelled for one in found)


@settings(deadline=None)
@given(
    value=JSON.filter(lambda v: not isinstance(v, list)),
    items=st.lists(JSON),
    size=st.integers(1, 9),
)
def test_json_is_read_piece_by_piece_as_in_one(value: Any, items: list[Any], size: int) -> None:
    document = {"one": value, "many": items, "two": value}
    with _folder() as folder:
        path = folder / "x.json"
        path.write_text(json.dumps(document, indent=size % 3 or None))
        found = [(key, got) for key, got, _ in json_stream.elements(path, "x.json", size)]
    assert found == [("one", value), *(("many", item) for item in items), ("two", value)]


@settings(deadline=None)
@given(*[NUMBERS] * 4, st.sampled_from(["dent", "", "background", "\n", "x" * 201]))
def test_a_box_is_fitted_or_told(x1: float, y1: float, x2: float, y2: float, label: str) -> None:
    item = Item("a", bytes, (Labelled(x1, y1, x2, y2, label, 3),), True)
    kept, problems = box_bounds.fit(item, PictureHeader("JPEG", 64, 48, "L"))
    assert kept or problems
    for box in kept:
        corners = (box.x1, box.y1, box.x2, box.y2)
        assert all(map(math.isfinite, corners))
        assert 0 <= box.x1 < box.x2 <= 64
        assert 0 <= box.y1 < box.y2 <= 48


PATHS = st.lists(
    st.sampled_from(["images", "train", "val", "a", "b", "JPEGImages", "unassigned"]),
    min_size=1,
    max_size=4,
).map("/".join)


@settings(deadline=None)
@given(paths=st.sets(PATHS), splits=st.booleans())
def test_no_two_pictures_get_one_name(paths: set[str], splits: bool) -> None:
    names = picture_names.PictureNames(paths, splits=splits)
    assert len({names[path] for path in paths}) == len(paths)


@settings(max_examples=60, deadline=None)
@given(names=st.lists(st.text("ab./\\:~é", min_size=1, max_size=12), unique=True, max_size=5))
def test_no_member_of_an_archive_leaves_its_folder(names: list[str]) -> None:
    with _folder() as folder:
        packed = folder / "x.zip"
        with zipfile.ZipFile(packed, "w") as out:
            for name in names:
                out.writestr(zipfile.ZipInfo(name), b"x")
        unpacked = archives.unpack(packed, folder / "in", 10**6)
        assert {path.name for path in folder.iterdir()} == {"x.zip", "in"}
        assert {path.name for path in (folder / "in").iterdir()} >= set(unpacked.files.values())
    assert not any(".." in name.split("/") for name in unpacked.files)


@settings(deadline=None)
@given(name=st.text(max_size=20))
def test_a_name_is_safe_or_refused(name: str) -> None:
    try:
        path = picture_names.safe(name)
    except LoupeError:
        return
    assert Path("/in").joinpath(path).resolve().is_relative_to("/in")
    assert tree.suffix(name) == tree.suffix(str(path)) or name.endswith(("/", "/."))
