"""Classes of whole pictures, in and out again: folders, lists and tables, clear and odd ones."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from backend.domain import Split, State, Task
from backend.labels import state_marks
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

TRAIN, VAL, TEST = Split.TRAIN, Split.VAL, Split.TEST
Said = dict[str, tuple[str, Split | None]]
Laid = dict[str, str]
LONG = "x" * 201
BESIDE = "it lies beside the folders of classes, and has no class."


@dataclass(frozen=True)
class Layout:
    """Pictures at paths (and texts), what is to come of each, and what is to be said."""

    name: str
    pictures: tuple[str, ...]
    said: Said
    told: tuple[str, ...] = ()
    texts: Laid | None = None
    classes: tuple[str, ...] | None = None


def _of(*names: str) -> tuple[str, ...]:
    return names


LAYOUTS = (
    Layout("one name in two splits", _of("train/a/1.jpg", "test/a/1.jpg"), {
        "train/a/1.jpg": ("a", TRAIN), "test/a/1.jpg": ("a", TEST),
    }),
    Layout("one name in two splits, with a list", _of("train/a/1.jpg", "test/a/1.jpg"), {
        "train/a/1.jpg": ("a", TRAIN), "test/a/1.jpg": ("a", TEST),
    }, texts={"classes.txt": "b\na\n"}, classes=("b", "a")),
    Layout("one split of one class", _of("train/a/1.jpg", "train/a/2.jpg"), {
        "a/1.jpg": ("a", TRAIN), "a/2.jpg": ("a", TRAIN),
    }),
    Layout("one folder is no class", _of("a/1.jpg", "a/2.jpg"), {
        "1.jpg": ("", None), "2.jpg": ("", None),
    }, classes=()),
    Layout("one folder that a list names", _of("a/1.jpg", "a/2.jpg"), {
        "a/1.jpg": ("a", None), "a/2.jpg": ("a", None),
    }, texts={"classes.txt": "a\n"}),
    Layout("a class without pictures", _of("a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, texts={"classes.txt": "a\nempty\nb\n"}, classes=("a", "empty", "b")),
    Layout("wrapped", _of("set/train/a/1.jpg", "set/test/b/1.jpg"), {
        "a/1.jpg": ("a", TRAIN), "b/1.jpg": ("b", TEST),
    }),
    Layout("wrapped twice", _of("x/y/a/1.jpg", "x/y/b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }),
    Layout("pictures between split and class", _of("train/images/a/1.jpg", "val/images/b/1.jpg"), {
        "a/1.jpg": ("a", TRAIN), "b/1.jpg": ("b", VAL),
    }),
    Layout("splits in capitals", _of("Train/a/1.jpg", "TEST/b/1.jpg"), {
        "a/1.jpg": ("a", TRAIN), "b/1.jpg": ("b", TEST),
    }),
    Layout("two words for one split", _of("train/a/1.jpg", "training/a/1.jpg"), {
        "train/a/1.jpg": ("a", TRAIN), "training/a/1.jpg": ("a", TRAIN),
    }),
    Layout("nested", _of("train/animal/cat/1.jpg", "train/animal/dog/2.jpg", "test/car/3.jpg"), {
        "animal/cat/1.jpg": ("animal/cat", TRAIN), "animal/dog/2.jpg": ("animal/dog", TRAIN),
        "car/3.jpg": ("car", TEST),
    }),
    Layout("nested in a class that has pictures", _of("train/cat/1.jpg", "train/cat/big/2.jpg"), {
        "cat/1.jpg": ("cat", TRAIN), "cat/big/2.jpg": ("cat/big", TRAIN),
    }),
    Layout("nested without splits", _of("animal/cat/1.jpg", "animal/dog/2.jpg", "car/3.jpg"), {
        "animal/cat/1.jpg": ("", None), "animal/dog/2.jpg": ("", None), "car/3.jpg": ("", None),
    }, classes=()),
    Layout("nested, named by a list", _of("animal/cat/1.jpg", "animal/dog/2.jpg", "car/3.jpg"), {
        "animal/cat/1.jpg": ("animal/cat", None), "animal/dog/2.jpg": ("animal/dog", None),
        "car/3.jpg": ("car", None),
    }, texts={"classes.txt": "car\nanimal/cat\nanimal/dog\n"},
        classes=("car", "animal/cat", "animal/dog")),
    Layout("a class that the list forgot", _of("train/a/1.jpg", "train/b/2.jpg"), {
        "1.jpg": ("a", TRAIN), "2.jpg": ("b", TRAIN),
    }, texts={"classes.txt": "a\n"}, classes=("a", "b")),
    Layout("a list of no class that is there", _of("a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("", None), "b/1.jpg": ("", None),
    }, texts={"classes.txt": "z\n"}, classes=("z",)),
    Layout("a list that is no text", _of("a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, ("classes.txt: it is not UTF-8 text: invalid start byte at byte 0.",),
        texts={"classes.txt": "\udcff"}),
    Layout("a picture beside the classes", _of("a/1.jpg", "b/1.jpg", "stray.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None), "stray.jpg": ("", None),
    }, (f"stray.jpg: {BESIDE}",)),
    Layout("a picture beside the splits", _of("train/a/1.jpg", "test/b/1.jpg", "stray.jpg"), {
        "a/1.jpg": ("a", TRAIN), "b/1.jpg": ("b", TEST), "stray.jpg": ("", None),
    }, (f"stray.jpg: {BESIDE}",)),
    Layout("many beside", _of("train/a/1.jpg", "train/1.jpg", "train/2.jpg", "train/3.jpg"), {
        "a/1.jpg": ("a", TRAIN), "1.jpg": ("", TRAIN), "2.jpg": ("", TRAIN), "3.jpg": ("", TRAIN),
    }, ("train/1.jpg: it lies beside the folders of classes, as do 2 more, and has no class.",)),
    Layout("a test set without classes", _of("test/0.jpg", "train/a/1.jpg", "train/b/2.jpg"), {
        "0.jpg": ("", TEST), "a/1.jpg": ("a", TRAIN), "b/2.jpg": ("b", TRAIN),
    }, (f"test/0.jpg: {BESIDE}",)),
    Layout("a folder that is no split", _of("train/a/1.jpg", "val/a/2.jpg", "unlabeled/3.jpg"), {
        "a/1.jpg": ("a", TRAIN), "a/2.jpg": ("a", VAL), "unlabeled/3.jpg": ("", None),
    }, (f"unlabeled/3.jpg: {BESIDE}",)),
    Layout("more beside the splits", _of("test/a/1.jpg", "test/b/2.jpg", *(
        f"more/{n}.jpg" for n in range(3, 9)
    )), {
        "a/1.jpg": ("a", TEST), "b/2.jpg": ("b", TEST),
        **{f"more/{n}.jpg": ("", None) for n in range(3, 9)},
    }, ("more/3.jpg: it lies beside the folders of classes, as do 5 more, and has no class.",)),
    Layout("more beside the splits, with a list", _of("train/a/1.jpg", "train/b/2.jpg", *(
        f"{n}.jpg" for n in range(3, 9)
    )), {
        "1.jpg": ("a", TRAIN), "2.jpg": ("b", TRAIN),
        **{f"{n}.jpg": ("", None) for n in range(3, 9)},
    }, ("3.jpg: it lies beside the folders of classes, as do 5 more, and has no class.",),
        texts={"classes.txt": "b\na\n"}, classes=("b", "a")),
    Layout("lots beside a split of lots", _of("test/l1/1.jpg", "test/l2/2.jpg", *(
        f"2024/l{n}/{n}.jpg" for n in range(3, 9)
    )), {
        "test/l1/1.jpg": ("", None), "test/l2/2.jpg": ("", None),
        **{f"2024/l{n}/{n}.jpg": ("", None) for n in range(3, 9)},
    }, classes=()),
    Layout("a class called as a split", _of("train/train/1.jpg", "test/test/2.jpg"), {
        "train/1.jpg": ("train", TRAIN), "test/2.jpg": ("test", TEST),
    }),
    Layout("a class called as what is none", _of("_/1.jpg", "b/1.jpg"), {
        "_/1.jpg": ("_", None), "b/1.jpg": ("b", None),
    }),
    Layout("classes that computers write", _of("%2E%2E/1.jpg", "=1+1/1.jpg", "a;b/1.jpg"), {
        "%2E%2E/1.jpg": ("%2E%2E", None), "=1+1/1.jpg": ("=1+1", None), "a;b/1.jpg": ("a;b", None),
    }),
    Layout("classes of all the world", _of("écaillé ñ/1.jpg", "割れ/1.jpg", "Δ∅/1.jpg"), {
        "écaillé ñ/1.jpg": ("écaillé ñ", None), "割れ/1.jpg": ("割れ", None),
        "Δ∅/1.jpg": ("Δ∅", None),
    }),
    Layout("classes that differ by their case", _of("A/1.jpg", "a/1.jpg"), {
        "A/1.jpg": ("A", None), "a/1.jpg": ("a", None),
    }),
    Layout("spaces around", _of(" a/1.jpg", "b/1.jpg"), {
        " a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, classes=("a", "b")),
    Layout("a class too long", _of(f"{LONG}/1.jpg", "b/1.jpg"), {
        f"{LONG}/1.jpg": ("", None), "b/1.jpg": ("b", None),
    }, (f"{LONG}/1.jpg: '{LONG[:40]}' cannot be the name of a class: 1 to 200 printable "
        "characters.",)),
    Layout("the background", _of("background/1.jpg", "b/1.jpg"), {
        "background/1.jpg": ("", None), "b/1.jpg": ("b", None),
    }, ("background/1.jpg: 'background' is the background, not a class.",)),
    Layout("a class of a space", _of(" /1.jpg", "b/1.jpg"), {
        " /1.jpg": ("", None), "b/1.jpg": ("b", None),
    }, (" /1.jpg: ' ' cannot be the name of a class: 1 to 200 printable characters.",)),
    Layout("a line that cannot be read", _of("a\nb/1.jpg", "a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, ("a\N{REPLACEMENT CHARACTER}b: its name is not readable text.",)),
    Layout("a table", _of("1.jpg", "2.jpg"), {
        "1.jpg": ("a", TRAIN), "2.jpg": ("b", TEST),
    }, texts={"labels.csv": "name,class,split\n1.jpg,a,train\n2.jpg,b,test\n"}),
    Layout("a table of semicolons, by stems", _of("images/1.jpg", "images/2.jpg"), {
        "1.jpg": ("b", None), "2.jpg": ("a", None),
    }, texts={"x.csv": "Image;Label\n1;b\n2;a\n"}, classes=("b", "a")),
    Layout("a table of some", _of("1.jpg", "2.jpg", "3.jpg"), {
        "1.jpg": ("", None), "2.jpg": ("", None), "3.jpg": ("a", None),
    }, texts={"labels.csv": "file,class\n3.jpg,a\n2.jpg,\n"}),
    Layout("a table with two classes of a picture", _of("1.jpg", "2.jpg"), {
        "1.jpg": ("a", None), "2.jpg": ("b", None),
    }, ("labels.csv, line 3: '1.jpg' has a line already, with the class 'a'.",),
        texts={"labels.csv": "name,class\n1.jpg,a\n1.jpg,b\n2.jpg,b\n2.jpg,b\n"}),
    Layout("a table of what is not there", _of("1.jpg"), {"1.jpg": ("a", None)}, (
        "labels.csv, line 3: its picture '9.jpg' is not in the source, or is there more than once.",
    ), texts={"labels.csv": "name,class\n1.jpg,a\n9.jpg,b\n"}),
    Layout("a table with a strange split", _of("1.jpg"), {"1.jpg": ("a", None)}, (
        "labels.csv, line 2: 'holdout' is no split: there are train, val, test.",
    ), texts={"labels.csv": "name,class,split\n1.jpg,a,holdout\n"}),
    Layout("a table against the folders", _of("a/1.jpg", "b/2.jpg"), {
        "a/1.jpg": ("b", None), "b/2.jpg": ("b", None),
    }, ("a/1.jpg: it lies in the folder of 'a', but its table says the class 'b', which counts.",),
        texts={"labels.csv": "name,class\na/1.jpg,b\nb/2.jpg,b\n"}, classes=("b",)),
    Layout("a table whose names mean two", _of("a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, ("labels.csv, line 2: its picture '1.jpg' is not in the source, or is there more than "
        "once.",), texts={"labels.csv": "name,class\n1.jpg,b\n"}),
)  # fmt: skip


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def _lay(folder: Path, layout: Layout) -> Path:
    shades = itertools.count(1)
    texts = {name: os.fsencode(text) for name, text in (layout.texts or {}).items()}
    pictures = {name: drawn.picture(shade=next(shades)) for name in layout.pictures}
    return drawn.lay(folder, {**pictures, **texts})


def _said(house: House, project: str = "line 3") -> Said:
    return {name: (one.label, one.split) for name, one in house.images(project).items()}


def _task(house: House, project: str = "line 3") -> Task:
    with house.database.read.begin() as session:
        return catalogue.find(session, project).task


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_of_classes_is_read_and_nothing_lost(
    house: House, tmp_path: Path, layout: Layout
) -> None:
    result = house.bring(_lay(tmp_path / "in", layout))
    assert sorted(str(one) for one in result.problems) == sorted(layout.told)
    assert _said(house) == layout.said
    wanted = layout.classes
    if wanted is None:
        wanted = tuple(sorted({label for label, _ in layout.said.values() if label}))
        assert tuple(sorted(house.classes())) == wanted
    else:
        assert tuple(house.classes()) == wanted
    labelled = any(label for label, _ in layout.said.values())
    assert _task(house) == (Task.CLASSIFY if labelled else Task.DETECT)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_what_came_in_goes_out_and_comes_in_equal(
    house: House, tmp_path: Path, layout: Layout
) -> None:
    house.bring(_lay(tmp_path / "in", layout))
    house.take(tmp_path / "out", "folders")
    assert house.bring(tmp_path / "out", "again").problems == ()
    assert _said(house, "again") == _said(house)
    if _task(house) == Task.CLASSIFY:
        assert house.classes("again") == house.classes()
        assert _task(house, "again") == Task.CLASSIFY


def test_classes_with_the_oddest_names_come_back(house: House, tmp_path: Path) -> None:
    odd = (
        "..",
        ".",
        ".a",
        "_",
        "a/b",
        "a\\b",
        "con:",
        "x.",
        "(none)",
        "割" * 200,
        "割" * 199 + "れ",
        "%41",
    )
    table = "".join(f'{n}.jpg,"{name}"\n' for n, name in enumerate(odd))
    pictures = {f"{n}.jpg": drawn.picture(shade=n) for n in range(len(odd))}
    house.bring(drawn.lay(tmp_path / "in", pictures | {"t.csv": f"name,class\n{table}".encode()}))
    assert {label for label, _ in _said(house).values()} == set(odd)
    house.take(tmp_path / "out", "folders")
    assert house.bring(tmp_path / "out", "again").problems == ()
    assert _said(house, "again") == _said(house)
    assert house.classes("again") == house.classes()


def test_what_is_none_of_the_classes_comes_back_as_that(house: House, tmp_path: Path) -> None:
    source = {f"{label}/{n}.jpg": drawn.picture(shade=n) for n, label in enumerate("aabb")}
    house.bring(drawn.lay(tmp_path / "in", source))
    with house.database.write.begin() as session:
        state_marks.name(session, [house.images()["a/0.jpg"].id], None, "ana")
    house.take(tmp_path / "out", "folders")
    assert house.bring(tmp_path / "out", "again").problems == ()
    stood = {name: (one.label, one.state) for name, one in house.images("again").items()}
    assert stood["a/0.jpg"] == ("", State.DONE)
    assert stood["a/1.jpg"] == ("a", State.DONE)


def test_what_is_of_no_class_is_no_board_without_defects(house: House, tmp_path: Path) -> None:
    source = {f"{label}/{n}.jpg": drawn.picture(shade=n) for n, label in enumerate("aabb")}
    house.bring(drawn.lay(tmp_path / "in", source))
    with house.database.write.begin() as session:
        state_marks.name(session, [house.images()["a/0.jpg"].id], None, "ana")
        catalogue.create(session, "boxes", Task.DETECT)
    house.take(tmp_path / "out", "folders")
    house.bring(tmp_path / "out", "boxes")
    assert {one.state for one in house.images("boxes").values()} == {State.NEW}


@pytest.mark.parametrize("home", ["", "train/"])
def test_a_class_whose_folder_is_empty_is_a_class(house: House, tmp_path: Path, home: str) -> None:
    source = {f"{home}{label}/1.jpg": drawn.picture(shade=ord(label)) for label in "ac"}
    drawn.lay(tmp_path / "in", source)
    (tmp_path / "in" / home / "b").mkdir()
    assert house.bring(tmp_path / "in").problems == ()
    assert sorted(house.classes()) == ["a", "b", "c"]


def test_an_empty_folder_beside_plain_pictures_is_no_class(house: House, tmp_path: Path) -> None:
    drawn.lay(tmp_path / "in", {"1.jpg": drawn.picture()})
    (tmp_path / "in" / "later").mkdir()
    house.bring(tmp_path / "in")
    assert house.classes() == []


def test_who_sorts_pictures_is_told_of_folders_that_are_no_classes(
    house: House, tmp_path: Path
) -> None:
    sorted_ = {f"{label}/1.jpg": drawn.picture(shade=ord(label)) for label in "ac"}
    house.bring(drawn.lay(tmp_path / "in", sorted_))
    nested = {f"x/{label}/2.jpg": drawn.picture(shade=ord(label) + 9) for label in "ac"}
    nested["y/3.jpg"] = drawn.picture(shade=7)
    (problem,) = house.bring(drawn.lay(tmp_path / "deep", nested)).problems
    assert problem.file == "x/a/2.jpg"
    assert "only below train/, val/ or test/" in problem.reason


def test_a_picture_in_two_classes_is_two_and_is_counted(house: House, tmp_path: Path) -> None:
    one = drawn.picture()
    result = house.bring(drawn.lay(tmp_path / "in", {"a/1.jpg": one, "b/1.jpg": one}))
    assert (result.images, result.duplicates) == (2, 1)


def test_hundreds_without_a_class_before_the_first_hide_no_class(
    house: House, tmp_path: Path
) -> None:
    bare = {f"test/{n}.png": drawn.numbered(n) for n in range(300)}
    source = drawn.lay(tmp_path / "in", bare | {"train/a/x.png": drawn.numbered(999)})
    (problem,) = house.bring(source).problems
    assert "as do 299 more" in problem.reason
    assert _task(house) == Task.CLASSIFY
    assert house.images()["a/x.png"].label == "a"


def test_two_thousand_of_cifar_come_in_go_out_and_come_in_equal(
    house: House, tmp_path: Path, cifar10: Path
) -> None:
    for folder in sorted(cifar10.glob("t*/*")):
        place = tmp_path / "in" / folder.relative_to(cifar10)
        place.mkdir(parents=True)
        for picture in sorted(folder.iterdir())[:100]:
            (place / picture.name).symlink_to(picture)
    result = house.bring(tmp_path / "in")
    assert (result.images, result.problems) == (2000, ())
    said = _said(house)
    assert said["test/cat/0000.jpg"] == ("cat", TEST)
    assert said["train/cat/0000.jpg"] == ("cat", TRAIN)
    house.take(tmp_path / "out", "folders")
    again = house.bring(tmp_path / "out", "again")
    assert (again.images, again.problems) == (2000, ())
    assert _said(house, "again") == said
    bytes_of = {name: one.sha256 for name, one in house.images().items()}
    assert {name: one.sha256 for name, one in house.images("again").items()} == bytes_of
