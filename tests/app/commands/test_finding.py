"""`loupe detect` and `loupe watch` as a person calls them, with real workers beside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain import JobState
from backend.jobs import queue
from backend.runs import documents
from backend.storage import findings
from tests.app.commands import finding
from tests.app.commands.finding import Desk
from tests.homes import many


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all homes, so that the model is prepared once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def desk(tmp_path: Path, cache: Path) -> Iterator[Desk]:
    with finding.desk(tmp_path / "home", cache) as made:
        yield made


@pytest.mark.again
def test_a_folder_that_is_no_project_gives_a_file_for_each_picture(
    desk: Desk, tmp_path: Path
) -> None:
    lot = tmp_path / "lot"
    (lot / "left").mkdir(parents=True)
    many.photo(lot / "left" / "one.png", 1)
    many.photo(lot / "two.png", 2)
    (lot / "broken.png").write_text("no picture")
    found = tmp_path / "found"
    asked = ("--model", str(finding.WEIGHTS), "--conf", "0.0001", "--out", str(found))
    said = desk.run("detect", str(lot), *asked).stdout
    assert "in 3 images (0 known), 1 unreadable" in said
    assert "broken.png is not a picture" in said
    written = sorted(path.relative_to(found) for path in found.rglob("*.json"))
    assert [str(path) for path in written] == ["left/one.png.json", "two.png.json"]
    rows = json.loads((found / written[0]).read_text())
    assert rows
    assert set(rows[0]) == {"name", "class", "confidence", "box"}
    assert set(rows[0]["box"]) == {"x1", "y1", "x2", "y2"}
    assert all(0 <= row["box"]["x1"] <= row["box"]["x2"] <= 640 for row in rows)


def test_the_golden_board_looks_at_a_project_and_then_knows_it(desk: Desk) -> None:
    desk.run("sample", "demo", "--images", "4")
    asked = ("detect", "demo", "--model", "golden", "--wait")
    first = json.loads(desk.run(*asked, "--json").stdout.splitlines()[-1])
    assert (first["images"], first["known"], first["failed"]) == (4, 0, 0)
    assert first["detections"] > 0
    said = desk.run(*asked).stdout
    assert f"All 4 images are known from run {first['run']}; --again looks anew." in said
    assert f"{first['detections']:,} detections in 4 images (4 known)" in said


def test_ctrl_c_says_what_becomes_of_the_job(desk: Desk) -> None:
    desk.run("sample", "demo", "--images", "6")
    ended = desk.interrupted("detect", "demo", "--model", "golden", "--wait", "--json")
    trained = desk.interrupted("train", "demo", "--family", "golden", "--wait", "--json")
    for job, (code, said) in enumerate((ended, trained), 1):
        assert (code, f"Job {job} is not cancelled" in said) == (130, True)
        assert said.endswith(f"Follow it: loupe jobs --watch; end it: loupe cancel {job}\n")


def test_what_is_neither_project_nor_place_is_told(desk: Desk) -> None:
    done = desk.run("detect", "nowhere", check=False)
    assert done.returncode == 1
    assert "There is no project, picture, folder or list named 'nowhere'." in done.stdout


def test_a_model_named_without_its_project_is_the_only_champion(desk: Desk, tmp_path: Path) -> None:
    many.photo(tmp_path / "one.png", 1)
    home = desk.champion("boards")
    asked = ("detect", str(tmp_path / "one.png"), "--wait", "--json")
    answer = json.loads(desk.run(*asked).stdout.splitlines()[-1])
    with desk.database.read.begin() as session:
        run = findings.get(session, answer["run"])
    assert (run.project_id, run.model, answer["images"]) == (home, "v1", 1)
    desk.champion("faces")
    refused = desk.run(*asked, check=False)
    assert refused.returncode == 1
    assert "name one with --project (boards, faces)" in refused.stdout


@pytest.mark.slow
def test_a_watched_folder_is_answered_within_a_second_each_file_once_across_restarts(
    desk: Desk, tmp_path: Path
) -> None:
    inbox, out = tmp_path / "inbox", tmp_path / "out"
    inbox.mkdir()
    desk.champion("boards")
    asked = ("watch", str(inbox), "--model", "champion", "--out", str(out))
    many.photo(inbox / "first.png", 0)
    written: dict[str, int] = {}
    for start in (1, 4):
        with desk.running(*asked):
            names = [path.name for path in inbox.glob("*.png")]
            finding.until(lambda: all((out / f"{n}.json").exists() for n in names), 120)  # noqa: B023
            waits = []
            for number in range(start, start + 3):
                many.photo(inbox / f"{number}.png", number)
                answer = out / f"{number}.png.json"
                waits.append(finding.until(answer.exists, 120))
            assert min(waits) < 1.0  # the others may have had to share the cores
        now = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
        assert written.items() <= now.items()
        written = now
        many.photo(inbox / f"while-away-{start}.png", 100 + start)
    with desk.database.read.begin() as session:
        job = queue.get(session, 1)
        assert job.state is not JobState.DONE
        assert len(findings.seen(session, job.id)) == len(written) == 8


@pytest.mark.again
def test_a_run_over_many_images_says_little(desk: Desk) -> None:
    """There are more chunks than lines (of 32 images), and more images than a transaction has."""
    many.boards(desk.database, desk.files, "boards", 1500)
    desk.champion("boards", image_size=64)  # the quickest that looks at pixels at all
    said = desk.run("detect", "boards", "--wait").stdout
    assert "in 1,500 images (0 known), 0 unreadable" in said
    assert len(said.splitlines()) <= 20
    again = desk.run("detect", "boards", "--wait").stdout
    assert "All 1,500 images are known from run" in again
    assert "(1,500 known)" in again


def test_a_name_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    from backend.domain import Detection, RunImage

    for name in ("../../evil.jpg", "/abs/evil.jpg", "a/../../evil.jpg"):
        image = RunImage(1, name, detections=(Detection(1, 2, 3, 4, "short", 0.5),))
        documents.keep(image, tmp_path / "out" / "in")
    assert all((tmp_path / "out" / "in") in path.parents for path in tmp_path.rglob("*.json"))
    assert len(list(tmp_path.rglob("evil.jpg.json"))) == 3
