"""Pictures and labels on their way into a project."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from PIL import Image

from backend.domain import Box, Split, State, Task
from backend.errors import Cancelled, Invalid, NotFound, Refused
from backend.jobs import holder
from backend.labels import images, imports, labelling
from backend.previews import previews
from backend.previews.first_look import FirstLook
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

YAML = "train: images/train\nval: images/val\nnames: [scratch, dent]\n"
YOLO: dict[str, bytes | str] = {
    "data.yaml": YAML,
    "images/train/a.jpg": drawn.picture(shade=1),
    "images/train/b.jpg": drawn.picture(shade=2),
    "images/val/c.jpg": drawn.picture(shade=3),
    "labels/train/a.txt": "0 0.5 0.5 0.25 0.5\n1 0.25 0.25 0.25 0.25\n",
    "labels/val/c.txt": "",
}


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def test_a_source_comes_in_with_labels_and_splits(house: House, tmp_path: Path) -> None:
    result = house.bring(drawn.lay(tmp_path / "in", YOLO))
    assert (result.images, result.boxes, result.problems) == (3, 2, ())
    found = house.images()
    assert {name: (one.split, one.state) for name, one in found.items()} == {
        "a.jpg": (Split.TRAIN, State.DONE),
        "b.jpg": (Split.TRAIN, State.NEW),
        "c.jpg": (Split.VAL, State.DONE),
    }
    assert house.boxes()["a.jpg"] == [(8, 6, 24, 18, "dent"), (24, 12, 40, 36, "scratch")]
    assert house.classes() == ["scratch", "dent"]


def test_it_works_on_every_database(
    database: engine.Database, files: Files, tmp_path: Path
) -> None:
    house = House(database, files, tmp_path / "home")
    source = drawn.lay(tmp_path / "in", YOLO)
    first, second = house.bring(source), house.bring(source)
    assert (first.images, first.boxes, first.skipped) == (3, 2, 0)
    assert (second.images, second.boxes, second.skipped) == (0, 0, 3)


@pytest.mark.parametrize("kind", ["zip", "tar", "xztar", "gztar"])
def test_an_archive_is_the_same_as_its_folder(house: House, tmp_path: Path, kind: str) -> None:
    source = drawn.lay(tmp_path / "in" / "wrapped", YOLO)
    packed = shutil.make_archive(str(tmp_path / "packed"), kind, source.parent)
    assert house.bring(Path(packed)).images == 3
    assert house.bring(source).skipped == 3
    assert not any((tmp_path / "home" / "cache" / "unpacked").iterdir())


def test_a_second_import_adds_nothing_even_after_edits(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", YOLO)
    house.bring(source)
    image = house.images()["a.jpg"]
    with house.database.write.begin() as session:
        labelling.save(session, image.id, image.version, [Box(1, 1, 9, 9, "dent")], "bo")
    again = house.bring(source)
    assert (again.images, again.boxes, again.skipped, again.problems) == (0, 0, 3, ())
    assert house.boxes()["a.jpg"] == [(1, 1, 9, 9, "dent")]


def test_labels_that_come_later_reach_their_images(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", {"images/a.jpg": drawn.picture(shade=1)})
    house.bring(source)
    assert house.boxes() == {"a.jpg": []}
    drawn.lay(source, {"labels/a.txt": "0 0.5 0.5 0.25 0.5\n", "classes.txt": "scratch"})
    assert house.bring(source).skipped == 1
    assert house.boxes() == {"a.jpg": [(24, 12, 40, 36, "scratch")]}
    assert house.images()["a.jpg"].state == State.DONE


def test_labels_of_a_picture_put_away_are_told_and_end_nothing(
    house: House, tmp_path: Path
) -> None:
    house.bring(drawn.lay(tmp_path / "bare", {"a.jpg": YOLO["images/train/a.jpg"]}))
    with house.database.write.begin() as session:
        images.put_away(session, [house.images()["a.jpg"].id])
    result = house.bring(drawn.lay(tmp_path / "in", YOLO))
    assert (result.images, result.skipped) == (2, 1)
    (problem,) = result.problems
    assert (problem.file, "stays so" in problem.reason) == ("a.jpg", True)
    assert house.boxes()["a.jpg"] == []


def test_a_format_that_does_not_fit_is_refused(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", YOLO)
    with pytest.raises(Refused, match="does not look like COCO JSON"):
        house.bring(source, name="coco")


def test_another_picture_of_a_known_name_is_told_not_taken(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", YOLO)
    house.bring(source)
    before = house.images()["b.jpg"]
    drawn.lay(source, {"images/train/b.jpg": drawn.picture(shade=77)})
    (problem,) = house.bring(source).problems
    assert problem.file == "b.jpg"
    assert "another picture of this name" in problem.reason
    assert house.images()["b.jpg"] == before


def test_one_bad_picture_does_not_end_an_import(house: House, tmp_path: Path) -> None:
    broken = drawn.picture(shade=5)[:200]
    source = drawn.lay(tmp_path / "in", YOLO | {"images/train/bad.jpg": broken})
    result = house.bring(source)
    assert result.images == 3
    assert [problem.file for problem in result.problems] == ["images/train/bad.jpg"]


def test_equal_bytes_are_kept_once_and_counted(house: House, tmp_path: Path) -> None:
    same = drawn.picture(shade=8)
    source = drawn.lay(tmp_path / "in", {f"{n}.jpg": same for n in "abc"})
    result = house.bring(source)
    assert (result.images, result.duplicates) == (3, 2)
    kept = [path for path in (tmp_path / "files").rglob("*") if path.is_file()]
    assert len(kept) == 1


def test_pictures_of_one_name_in_two_folders_both_come(house: House, tmp_path: Path) -> None:
    source = drawn.lay(
        tmp_path / "in",
        {"images/a/1.jpg": drawn.picture(shade=1), "images/b/1.jpg": drawn.picture(shade=2)},
    )
    house.bring(source)
    assert set(house.images()) == {"a/1.jpg", "b/1.jpg"}


def test_class_folders_make_a_project_of_classes(house: House, tmp_path: Path) -> None:
    source = drawn.lay(
        tmp_path / "in",
        {f"train/{k}/{n}.jpg": drawn.picture(shade=n) for k in ("ok", "bad") for n in (1, 2)},
    )
    assert house.bring(source).images == 4
    assert house.images()["ok/1.jpg"].label == "ok"
    assert house.images()["bad/2.jpg"].split == Split.TRAIN
    with house.database.read.begin() as session:
        assert catalogue.find(session, "line 3").task == Task.CLASSIFY


def test_class_folders_in_a_project_of_boxes_are_told(house: House, tmp_path: Path) -> None:
    house.bring(drawn.lay(tmp_path / "boxes", YOLO))
    pictures = {f"{k}/1.jpg": drawn.picture(shade=n) for n, k in enumerate(("bad", "ok"), 50)}
    result = house.bring(drawn.lay(tmp_path / "in", pictures))
    assert [str(problem) for problem in result.problems] == [
        f"{k}/1.jpg: its class '{k}' is left out, because the project is one of boxes."
        for k in ("bad", "ok")
    ]
    assert (result.images, house.images()["bad/1.jpg"].label) == (2, "")


def test_one_golden_serves_all_pictures_of_a_folder(house: House, tmp_path: Path) -> None:
    pictures = {f"{n}.png": drawn.picture(shade=n, kind="PNG") for n in range(3)}
    source = drawn.lay(tmp_path / "in", pictures | {"goldens/clean.png": drawn.picture(shade=9)})
    result = house.bring(source)
    assert (result.images, result.goldens) == (3, 1)
    found = house.images()
    assert {found[name].golden_id for name in pictures} == {found["clean.png"].id}


def test_progress_ends_at_the_end_and_can_cancel(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", YOLO)
    told: list[tuple[int, int]] = []
    house.bring(source, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)

    def cancel(_done: int, _total: int) -> None:
        raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        house.bring(source, project="other", progress=cancel)


def test_nothing_to_import_makes_no_project(house: House, tmp_path: Path) -> None:
    empty = drawn.lay(tmp_path / "in", {"readme.txt": "hello"})
    with pytest.raises(Refused, match="no pictures"):
        house.bring(empty)
    with pytest.raises(NotFound, match="no file or folder"):
        house.bring(tmp_path / "nowhere")
    with pytest.raises(Invalid, match="no format 'xml'"):
        house.bring(empty, name="xml")
    with pytest.raises(Refused, match="The name of a project"):
        house.bring(empty, project=" ")
    with house.database.read.begin() as session:
        assert catalogue.summaries(session) == []


def test_what_a_killed_import_unpacked_is_cleared(house: House, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as killed:
        dead = holder.name(killed.pid)
        killed.kill()
    unpacked = tmp_path / "home" / "cache" / "unpacked"
    left = unpacked / f"{quote(dead, safe='')}-left"
    elsewhere = unpacked / f"{quote(f'box{dead}', safe='')}-used"
    for folder in (left, elsewhere):
        folder.mkdir(parents=True)
    house.bring(drawn.lay(tmp_path / "in", YOLO))
    assert [*unpacked.iterdir()] == [elsewhere]


def test_a_vanished_picture_is_named(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", YOLO)
    shutil.rmtree(source / "images" / "val")
    reasons = [str(problem) for problem in house.bring(source).problems]
    assert reasons == ["data.yaml: its folder 'images/val' for 'val' is not in the source."]


def test_a_large_picture_comes_in_with_its_preview(house: House, tmp_path: Path) -> None:
    kinds = {"a.jpg": "JPEG", "b.png": "PNG"}
    source = {name: drawn.picture(4100, 2500, kind=kind) for name, kind in kinds.items()}
    house.bring(drawn.lay(tmp_path / "in", source | {"small.jpg": drawn.picture()}))
    pictures = previews.Previews(house.files, previews.home(Settings(home=house.home)), 1e9)
    found = {name: image.sha256 for name, image in house.images().items()}
    for name in kinds:
        with Image.open(pictures.preview(found[name])) as preview:
            assert preview.size == (2048, 1249)
    # Nothing had to be decoded for them, and the small picture is its own preview.
    assert pictures.begun == 0
    assert pictures.preview(found["small.jpg"]) == house.files.local_path(found["small.jpg"])


def test_a_full_cache_takes_no_previews(house: House) -> None:
    settings = Settings(home=house.home, cache_gb=1e-9)
    look = FirstLook(settings)
    look.keep("a" * 64, Image.new("L", (99, 99)))
    look.keep("b" * 64, Image.new("L", (99, 99)))
    assert len(list(previews.home(settings).rglob("*.jpg"))) == 1


def test_a_source_of_more_classes_than_a_project_has_is_refused(
    house: House, tmp_path: Path
) -> None:
    named = ", ".join(f"c{number}" for number in range(10_001))
    files = YOLO | {"data.yaml": f"train: images/train\nnames: [{named}]\n"}
    with pytest.raises(Refused, match="10,001 classes, such as 'c10000', and has at most"):
        house.bring(drawn.lay(tmp_path / "in", files))


def test_of_more_problems_than_anybody_reads_the_first_are_kept_and_all_are_counted(
    house: House, tmp_path: Path
) -> None:
    many = imports.MOST_PROBLEMS + 70
    bad = [{"id": n, "image_id": 1, "category_id": 1, "bbox": [1, 1, 0, 0]} for n in range(many)]
    told = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 64, "height": 48}],
        "categories": [{"id": 1, "name": "scratch"}],
        "annotations": bad,
    }
    layout: dict[str, bytes | str] = {"a.jpg": drawn.picture(), "labels.json": json.dumps(told)}
    result = house.bring(drawn.lay(tmp_path / "in", layout))
    assert (result.images, len(result.problems)) == (1, imports.MOST_PROBLEMS)
    assert result.unusable == many
    assert len(result.as_json()["problems"]) == imports.MOST_PROBLEMS
