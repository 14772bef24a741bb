"""A run as one page: true, whole in itself, and deaf to what names would make it do."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import count
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from app import run_sheet
from app.premises import Premises
from backend.domain import Detection, Project, Run, RunImage
from backend.labels import gallery
from backend.labels.gallery import Filter
from backend.projects import classes
from backend.review.boards import sheet
from backend.storage import findings
from backend.storage.tables import ImageRow
from tests.app.conftest import Said, drawn

EVIL = "<script>alert('1')</script>\"&"
NUMBERS = count(81_001)


class Page(HTMLParser):
    """What a page asks for, and what it says."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.tags: list[str] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.asked += [
            value or "" for name, value in attrs if name in ("href", "src", "xlink:href")
        ]

    def handle_data(self, data: str) -> None:
        self.said += data


@pytest.fixture(scope="module")
def run(premises: Premises, client: TestClient) -> int:
    """A run over drawn boards that found one defect on each."""
    assert client
    return _run(premises)


def _run(premises: Premises) -> int:
    project, number = drawn(premises, 4), next(NUMBERS)
    _record(premises, project, number)
    return number


def _record(premises: Premises, project: Project, number: int, family: str = "yolo") -> None:
    with premises.write() as session:
        findings.start(session, Run(number, "v1", family, datetime.now(UTC), project_id=project.id))
        seen = []
        for one in gallery.page(session, project.id, Filter()).items:
            found = Detection(5, 5, 40, 30, project.classes[0].name, 0.9)
            image = one.image
            seen.append(RunImage(image.id, image.name, image.sha256, detections=(found,)))
        findings.record(session, number, seen)
        findings.finish(session, number, 1.0, {})


def _written(premises: Premises, run: int) -> str:
    with premises.read() as session:
        read = sheet.read(session, run)
    return b"".join(run_sheet.write(read, premises.previews, "ana")).decode()


def test_the_page_asks_for_nothing_from_outside(premises: Premises, run: int) -> None:
    text = _written(premises, run)
    page = Page(text)
    assert "script" not in page.tags
    assert page.asked
    assert all(one.startswith("data:image/jpeg;base64,") for one in page.asked)
    assert not re.search(r"url\(|@import|https?://", text)


def test_its_pictures_are_pictures(premises: Premises, run: int) -> None:
    for one in Page(_written(premises, run)).asked:
        with Image.open(io.BytesIO(base64.b64decode(one.partition(",")[2]))) as picture:
            picture.load()
            assert 0 < max(picture.size) <= 320


def test_its_figures_are_those_of_the_sheet(premises: Premises, run: int) -> None:
    with premises.read() as session:
        read = sheet.read(session, run)
    said = " ".join(Page(_written(premises, run)).said.split())
    assert f"{read.counted.failed}failed" in said
    assert f"{100 * (read.counted.share or 0):.1f} %yield" in said
    for one in read.worst:
        assert one.image.name in said


@pytest.mark.usefixtures("client")
def test_names_are_text_whatever_they_say(premises: Premises) -> None:
    run = _run(premises)
    with premises.write() as session:
        read = sheet.read(session, run)
        classes.edit(session, read.project.classes[0].id, name=EVIL[:40])
        session.get_one(ImageRow, read.worst[0].image.id).name = EVIL
    page = Page(_written(premises, run))
    assert "script" not in page.tags
    assert EVIL in page.said


def test_a_golden_stands_beside_a_defect(premises: Premises, run: int) -> None:
    with premises.read() as session:
        read = sheet.read(session, run)
    assert any(one.golden_sha256 for one in read.worst)
    assert "golden beside it" in _written(premises, run)


@pytest.mark.usefixtures("client")
def test_of_classified_pictures_it_speaks_of_classes(premises: Premises) -> None:
    project, number = drawn(premises, 2), next(NUMBERS)
    _record(premises, project, number, "classifier")
    said = Page(_written(premises, number)).said
    assert "Classes that fail" in said
    assert "All that failed" in said
    assert "defect" not in said.lower()


def test_a_picture_that_is_lost_keeps_nothing_else_back(premises: Premises, run: int) -> None:
    with premises.read() as session:
        read = sheet.read(session, run)
    gone = replace(read.worst[0].image, sha256="0" * 64)
    worst = (replace(read.worst[0], image=gone), *read.worst[1:])
    text = b"".join(run_sheet.write(replace(read, worst=worst), premises.previews, "ana")).decode()
    assert text.count("<article>") == len(read.worst)
    assert text.count('class="whole"') == len(read.worst) - 1


def test_the_site_gives_the_page_as_a_file(client: TestClient, run: int) -> None:
    answer = client.get(f"/api/runs/{run}/export/html")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="run-{run}.html"'
    assert answer.text.startswith("<!doctype html>")


def test_the_command_writes_it_by_the_suffix(loupe: Said, tmp_path: Path) -> None:
    code, _, err = loupe("report", "7", str(tmp_path / "run.html"))
    assert (code, "no run 7" in err) == (1, True)
    assert not list(tmp_path.glob("run*"))


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        ((50, 50, 60, 60), (31.0, 31.0, 79.0, 79.0)),
        ((0, 0, 10, 10), (0.0, 0.0, 48.0, 48.0)),
        ((90, 90, 100, 100), (52.0, 52.0, 100.0, 100.0)),
        ((0, 0, 100, 80), (0.0, 0.0, 100.0, 80.0)),
    ],
)
def test_a_crop_has_room_and_stays_within_its_picture(
    place: tuple[float, float, float, float], wanted: tuple[float, float, float, float]
) -> None:
    height = 80 if wanted[3] == 80 else 100
    assert run_sheet.around(place, 100, height) == pytest.approx(wanted)
