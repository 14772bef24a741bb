"""Tables that Loupe writes: no spreadsheet computes what stands in them, and we read it back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.orm import Session

import backend
from backend.domain import Detection, Run, RunImage
from backend.formats import cells, format_table
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.review import decision_tables, reports
from backend.storage import findings
from backend.storage.engine import Database
from tests.backend.labels import drawn

TRAPS = ("=1+1", "+1", "-2", "@SUM(A1)", "'=1", "\uff1d1", "plain", "it's", "'quoted'")
NEGATIVE = -0.5


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A run whose images, lots and classes are all called like formulas."""
    with database.write.begin() as opened:
        project = catalogue.create(opened, "line")
        new = [NewImage(name, str(n) * 64, 99, 99, group=name) for n, name in enumerate(TRAPS)]
        images.add(opened, project.id, new, "")
        ids = images.ids(opened, project.id, TRAPS)
        findings.start(opened, Run(5, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        seen = [
            RunImage(ids[n], n, detections=(Detection(NEGATIVE, 1.0, 30.0, 40.0, n, 0.9),))
            for n in TRAPS
        ]
        findings.record(opened, 5, seen)
        yield opened


def test_no_cell_of_a_report_is_a_formula_and_a_number_stays_one(session: Session) -> None:
    text = b"".join(reports.write(session, 5, "csv")).decode()
    for row in csv.DictReader(io.StringIO(text)):
        assert float(row.pop("x1")) == NEGATIVE
        assert not [cell for cell in row.values() if cell.startswith(cells.FORMULAS)]


def test_a_report_is_read_back_with_the_names_as_they_are(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(b"".join(reports.write(session, 5, "csv")))
    rows = list(decision_tables.rows(path))
    assert [row["name"] for row in rows] == list(TRAPS)
    assert [(row["label"], row["group"]) for row in rows] == [(name, name) for name in TRAPS]


def test_a_list_of_goldens_comes_back_with_the_names_as_they_are(tmp_path: Path) -> None:
    golden = drawn.written("=golden.png", is_golden=True, shade=2)
    made = [
        drawn.written(f"{n}.png", golden=golden, group=name, shade=n + 3)
        for n, name in enumerate(TRAPS)
    ]
    list(format_table.find("coco").write([golden, *made], tmp_path, ()))
    lines = csv.reader(io.StringIO((tmp_path / "goldens.csv").read_text("utf-8")))
    assert not [cell for line in lines for cell in line if cell.startswith(cells.FORMULAS)]
    found, problems = drawn.read_back(tmp_path)
    groups = {one.name: one.group for one in found.values() if not one.is_golden}
    assert (groups, problems) == ({one.name: one.group for one in made}, [])


@given(st.text(alphabet="'=+-@\t a", max_size=6))
def test_any_text_comes_back_and_none_computes(text: str) -> None:
    written = cells.safe(text)
    assert not written.startswith(cells.FORMULAS)
    assert cells.plain(written) == text


def test_whatever_writes_a_table_makes_its_cells_safe() -> None:
    folder = Path(backend.__file__).parents[1]
    sources = [p for part in ("app", "backend", "workers") for p in (folder / part).rglob("*.py")]
    writers = [p for p in sources if {"csv.writer(", "csv.DictWriter("} & calls(p.read_text())]
    assert writers
    assert [p for p in writers if "cells.safe(" not in p.read_text()] == []


def calls(text: str) -> set[str]:
    return {one for one in ("csv.writer(", "csv.DictWriter(") if one in text}
