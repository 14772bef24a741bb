"""What every row of FORMATS must do."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from backend.domain import Split
from backend.errors import Invalid
from backend.formats import folders, format_table, goldens, voc, yolo
from backend.formats.base import Classes, OutgoingPicture, Problem, Written
from tests.backend.labels import drawn

CLASSES = ("scratch", "déchirure & <pli>", "open")
GOLDEN = drawn.written("boards/clean.png", is_golden=True, labelled=False, shade=7)
PICTURES = (
    GOLDEN,
    drawn.written(
        "a/one.jpg",
        (1, 2, 30, 40, "scratch"),
        (0.25, 0.3333, 64, 48, "open"),
        split=Split.TRAIN,
        golden=GOLDEN,
        group="lot 7",
    ),
    drawn.written("b/one.jpg", (5, 6, 7, 8, "open"), split=Split.VAL, golden=GOLDEN, shade=3),
    drawn.written("b/two words.png", (0, 0, 0.0001, 48, CLASSES[1]), golden=GOLDEN),
    drawn.written("b/clean.png", split=Split.TEST, golden=GOLDEN, shade=9),
    drawn.written("c/nobody looked.jpg", labelled=False, golden=GOLDEN, shade=11),
)
LABELLED = (
    drawn.written("a/1.jpg", label="open", split=Split.TRAIN),
    drawn.written("2.png", label=CLASSES[1], split=Split.VAL),
    drawn.written("odd/a.._/3.png", label="scratch"),
    drawn.written("4.png", labelled=False),
)


@pytest.fixture(params=format_table.FORMATS.values(), ids=lambda row: row.name)
def row(request: pytest.FixtureRequest) -> format_table.Format:
    found = request.param
    assert isinstance(found, format_table.Format)
    return found


def _write(
    row: format_table.Format, pictures: tuple[OutgoingPicture, ...], out: Path
) -> list[Written]:
    done = list(row.write(pictures, out, CLASSES if row.boxes else ()))
    return [one for one in done if isinstance(one, Written)]


def test_what_is_written_is_read_back_equal(row: format_table.Format, tmp_path: Path) -> None:
    _write(row, PICTURES, tmp_path)
    found, problems = drawn.read_back(tmp_path, row.name)
    assert not problems
    boards = {item.read(): item for item in found.values() if not item.is_golden}
    assert len(boards) == len(PICTURES) - 1
    for picture in PICTURES[1:]:
        item = boards[picture.read()]
        if row.boxes:
            assert drawn.corners(item.boxes) == drawn.corners(picture.boxes)
            assert (item.split, item.labelled) == (picture.split, picture.labelled)
        if row.name != "deeppcb":  # which adds _test to every name
            assert (item.name, item.group) == (picture.name, picture.group)


def test_goldens_come_back_before_their_pictures(row: format_table.Format, tmp_path: Path) -> None:
    _write(row, PICTURES, tmp_path)
    seen: dict[str, bytes] = {}
    for part in format_table.parts(drawn.opened(tmp_path), row.name):
        for item in part.format.read(part.tree):
            assert not isinstance(item, Problem)
            if isinstance(item, Classes):
                continue
            if item.is_golden:
                seen[item.name] = item.read()
            else:
                assert seen[item.golden] == GOLDEN.read()


@pytest.mark.parametrize("row", [row for row in format_table.FORMATS.values() if row.labels])
def test_labels_of_images_come_back(row: format_table.Format, tmp_path: Path) -> None:
    list(row.write(LABELLED, tmp_path, CLASSES))
    found, problems = drawn.read_back(tmp_path)
    assert not problems
    wanted = {one.name: (one.label, one.split, one.labelled) for one in LABELLED}
    assert {n: (one.label, one.split, one.labelled) for n, one in found.items()} == wanted


def test_splits_come_back(row: format_table.Format, tmp_path: Path) -> None:
    _write(row, PICTURES, tmp_path)
    found, _ = drawn.read_back(tmp_path)
    splits = {one.read(): one.split for one in found.values() if not one.is_golden}
    assert splits == {one.read(): one.split for one in PICTURES[1:]}


def test_its_own_export_is_recognised(row: format_table.Format, tmp_path: Path) -> None:
    _write(row, PICTURES, tmp_path)
    assert [part.format.name for part in format_table.parts(drawn.opened(tmp_path))] == [row.name]


def test_what_is_written_is_counted(row: format_table.Format, tmp_path: Path) -> None:
    done = _write(row, PICTURES, tmp_path)
    assert sum(not one.is_golden for one in done) == len(PICTURES) - 1
    assert any(one.is_golden for one in done)
    assert sum(one.boxes for one in done) == (4 if row.boxes else 0)


def test_nothing_to_write_is_no_error(row: format_table.Format, tmp_path: Path) -> None:
    assert _write(row, (), tmp_path) == []


def test_a_name_that_leads_out_is_not_written(row: format_table.Format, tmp_path: Path) -> None:
    bad = drawn.written("../../out.jpg")
    with pytest.raises(Invalid, match="cannot be the name"):
        _write(row, (bad,), tmp_path / "in" / "here")
    assert not (tmp_path / "out.jpg").exists()


@pytest.mark.parametrize("module", [voc, yolo, folders], ids=lambda module: module.__name__)
def test_exports_of_pictures_in_folders_are_still_read(module: ModuleType, tmp_path: Path) -> None:
    pictures = PICTURES if module is not folders else LABELLED
    list(goldens.write_with(module.write, pictures, tmp_path, CLASSES))
    found, problems = drawn.read_back(tmp_path)
    assert not problems
    for picture in pictures:
        item = found[picture.name]
        assert drawn.corners(item.boxes) == drawn.corners(picture.boxes)
        assert (item.split, item.label, item.golden) == (
            picture.split,
            picture.label,
            picture.golden,
        )


def test_pictures_that_would_share_a_flat_name_keep_their_own(
    row: format_table.Format, tmp_path: Path
) -> None:
    names = ("a/b c.jpg", "a b/c.jpg", "a_b_c.jpg", "a/b c.png")
    pictures = tuple(
        drawn.written(name, (n, 0, 40, 40, "open"), shade=n, golden=GOLDEN)
        for n, name in enumerate(names)
    )
    _write(row, (GOLDEN, *pictures), tmp_path)
    found, problems = drawn.read_back(tmp_path, row.name)
    assert not problems
    by_bytes = {item.read(): item for item in found.values()}
    for picture in pictures:
        item = by_bytes[picture.read()]
        assert not row.boxes or drawn.corners(item.boxes) == drawn.corners(picture.boxes)
        if row.name != "deeppcb":  # which adds _test to every name
            assert item.name == picture.name
