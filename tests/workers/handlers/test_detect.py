from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from backend.errors import Cancelled, Invalid, NotFound, Refused
from backend.jobs import claims
from backend.labels import images
from backend.projects import large_pictures
from backend.runs import detection, documents
from backend.storage import findings
from backend.storage.tables import DetectionRow, ImageRow, RunImageRow
from tests.homes import many
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers.engine import sources, tiles
from workers.handlers.runs import detect

START = Path(__file__).parents[3] / "assets" / "start_yolo11n.safetensors"


@pytest.fixture
def place(tmp_path: Path, shared_cache: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home", shared_cache)
    yield made
    made.database.close()


def test_golden_boards_give_proposals_for_every_image(place: Place) -> None:
    project = place.sample(4)
    result = place.detect(project)
    assert (result["images"], result["failed"], result["known"]) == (4, 0, 0)
    assert result["detections"] > 4
    run = place.run(result["run"])
    assert run.finished is not None
    assert (run.images, run.model, run.family, run.runtime) == (4, "golden", "golden", "native f32")
    with place.database.read() as session:
        marked = select(func.count()).where(ImageRow.doubt.is_not(None))
        assert session.scalar(marked) == 4
        assert session.scalar(select(func.count()).select_from(DetectionRow))


def test_what_an_equal_run_saw_is_taken_from_the_ledger(place: Place) -> None:
    project = place.sample(3)
    first = place.detect(project)
    again = place.detect(project)
    assert (again["known"], again["looked"]) == (3, 0)
    assert again["detections"] == first["detections"]
    other = place.detect(project, options={"confidence": 0.9})
    assert (other["known"], other["looked"]) == (0, 3)


def test_another_golden_makes_an_image_unknown_again(place: Place) -> None:
    project = place.sample(4)
    place.detect(project)
    with place.database.write.begin() as session:
        rows = list(detection.subjects(session, project, {}))
        other = next(row for row in rows if row.golden_sha256 != rows[0].golden_sha256)
        golden = images.get(session, other.image_id).golden_id
        images.set_golden(session, [rows[0].image_id], golden)
    again = place.detect(project)
    assert (again["known"], again["looked"]) == (3, 1)


def test_a_second_attempt_writes_only_what_the_first_has_not(place: Place) -> None:
    project = place.sample(5)
    with place.database.write.begin() as session:
        detection.ask(session, project, "golden")
    job = place.claim()
    context = place.context(job)
    context.stopping.set()
    with pytest.raises(Cancelled):
        detect.run(context)
    result = place.carry_out(job)
    assert (result["images"], result["failed"]) == (5, 0)
    with place.database.read() as session:
        assert session.scalar(select(func.count()).select_from(RunImageRow)) == 5


def test_a_part_of_the_images_may_be_chosen(place: Place) -> None:
    project = place.sample(4)
    with place.database.read() as session:
        some = [one.image_id for one in detection.subjects(session, project, {})][:2]
    assert place.detect(project, source={"images": some})["images"] == 2
    with pytest.raises(Refused, match="lets none through"):
        place.detect(project, source={"splits": ["test"]})


def test_broken_images_are_listed_and_stop_nothing(place: Place) -> None:
    project = place.sample(3)
    with place.database.read() as session:
        broken = next(iter(detection.subjects(session, project, {})))
    place.files.local_path(broken.sha256).write_bytes(b"not a picture")
    result = place.detect(project)
    assert (result["images"], result["failed"]) == (3, 1)
    with place.database.read() as session:
        seen = findings.images(session, result["run"], [broken.image_id])[broken.image_id]
    assert seen.status == "unreadable"
    assert "not a picture" in seen.error


def test_a_model_that_is_not_there_is_refused_at_once(place: Place) -> None:
    project = place.sample(1)
    with pytest.raises(NotFound, match="no trained model 'v3'"):
        place.detect(project, "v3")
    with pytest.raises(Refused, match="needs a picture"):
        place.detect(None)


def test_a_folder_that_is_no_project_is_detected_too(
    place: Place, cocoval: Path, weights: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "lot"
    folder.mkdir()
    for path in sorted(cocoval.glob("*.jpg"))[:4]:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "notes.txt").write_text("no picture")
    (folder / "broken.jpg").write_bytes(b"text")
    model = str(weights / "yolo11n_recovered.pt")
    result = place.detect(None, model, source={"path": str(folder)})
    assert (result["images"], result["failed"]) == (5, 1)
    assert result["detections"] > 5
    again = place.detect(None, model, source={"path": str(folder)})
    assert (again["known"], again["looked"]) == (4, 1)
    assert again["detections"] == result["detections"]


def test_what_arrives_while_a_run_is_stopped_is_looked_at_once(
    place: Place, tmp_path: Path
) -> None:
    folder = tmp_path / "lot"
    folder.mkdir()
    for name in ("b", "c", "d"):
        many.photo(folder / f"{name}.png", ord(name))
    with place.database.write.begin() as session:
        detection.ask(session, None, str(START), source={"path": str(folder)})
    job = place.claim()
    detect.run(place.context(job))
    with place.database.write.begin() as session:
        claims.release(session, job, "The worker was stopped.")
    many.photo(folder / "a.png", ord("a"))
    (folder / "c.png").unlink()
    result = place.carry_out(place.claim())
    with place.database.read() as session:
        names = session.scalars(select(RunImageRow.name).order_by(RunImageRow.name)).all()
    assert (names, result["looked"]) == (["a.png", "b.png", "c.png", "d.png"], 1)


def test_a_name_that_is_not_utf_8_is_listed_with_its_reason(place: Place, tmp_path: Path) -> None:
    (tmp_path / "lot").mkdir()
    many.photo(tmp_path / "lot" / "one.png", 1)
    bad = os.fsdecode(bytes(tmp_path / "lot") + b"/B\xf6rd.png")
    shutil.copy(tmp_path / "lot" / "one.png", bad)
    result = place.detect(None, str(START), source={"path": str(tmp_path / "lot")})
    assert (result["images"], result["failed"], result["looked"]) == (2, 1, 1)
    with place.database.read() as session:
        (reason,) = documents.failures(session, result["run"], 8)
    assert reason == "B\ufffdrd.png was not looked at: its name is not UTF-8; rename the file."


def test_a_list_may_begin_with_a_mark_of_its_coding(tmp_path: Path) -> None:
    (tmp_path / "lot.txt").write_bytes("\ufeffBörd.png\r\ntwo.png\r\n".encode())
    names = [item.name for item in sources.items(str(tmp_path / "lot.txt"))]
    assert names == ["Börd.png", "two.png"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"one.png\nB\xf6rd.png\n", r"Line 2 of the list .*lot\.txt is not UTF-8"),
        (b"\n \n", r"The list .*lot\.txt is empty"),
    ],
)
def test_a_list_that_cannot_be_followed_is_refused_by_name(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    (tmp_path / "lot.txt").write_bytes(data)
    with pytest.raises(Invalid, match=reason):
        list(sources.items(str(tmp_path / "lot.txt")))


def test_small_objects_on_large_pictures_bring_tiles_by_themselves() -> None:
    assert tiles.side_for("auto", 640, 60, 640) == 0
    assert tiles.side_for("auto", 640, 12, 3000) == 640
    assert tiles.side_for("auto", 640, 30, 6000) == 800
    assert tiles.side_for("auto", 640, 0, 6000) == 0
    assert tiles.side_for("on", 640, 60, 640) == 640
    assert tiles.side_for("off", 640, 4, 6000) == 0


@pytest.mark.parametrize(("options", "side"), [({}, 640), ({"tiles": "off"}, 0)])
def test_a_project_says_whether_it_wants_tiles_unless_the_run_does(
    place: Place, options: dict[str, str], side: int
) -> None:
    project = place.sample(2)
    with place.database.write.begin() as session:
        large_pictures.choose(session, project, "on")
    result = place.detect(project, str(START), options=options)
    assert place.run(result["run"]).parameters["tile"] == side


def test_a_list_and_a_url_are_sources_too(place: Place, tmp_path: Path) -> None:
    (tmp_path / "lot").mkdir()
    for number in range(3):
        many.photo(tmp_path / "lot" / f"{number}.png", number)
    (tmp_path / "lot.txt").write_text("lot/0.png\nlot/1.png\n")
    for source, names in (
        (str(tmp_path / "lot.txt"), ["lot/0.png", "lot/1.png"]),
        (f"file://{tmp_path}/lot", ["0.png", "1.png", "2.png"]),
        (str(tmp_path / "lot" / "0.png"), ["0.png"]),
    ):
        assert [item.name for item in sources.items(source)] == names
        result = place.detect(None, str(START), source={"path": source})
        assert (result["images"], result["failed"]) == (len(names), 0)
