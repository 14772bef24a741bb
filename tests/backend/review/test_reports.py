"""A run leaves the house with what people said of it; two runs are told apart."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pyarrow import parquet
from pycocotools.coco import COCO
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage, Verdict
from backend.errors import Invalid
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import reports
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.runs import comparison
from backend.storage import findings
from backend.storage.engine import Database

SPUR = Detection(10.0, 10.0, 30.0, 40.0, "spur", 0.9)
SHORT = Detection(50.0, 50.0, 80.0, 80.0, "short", 0.7)


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.write.begin() as opened:
        project = catalogue.create(opened, "line")
        for label in ("spur", "short"):
            classes.ensure(opened, project.id, label)
        names = ["a", "b", "c"]
        images.add(opened, project.id, [NewImage(n, n * 64, 99, 99) for n in names], "")
        ids = images.ids(opened, project.id, names)
        found: dict[int, dict[str, tuple[Detection, ...]]] = {
            1: {"a": (SPUR, SHORT), "b": (SPUR,), "c": ()},
            2: {"a": (SPUR,), "b": (SPUR,), "c": (SHORT,)},
        }
        for run, seen in found.items():
            findings.start(opened, Run(run, "v1", "yolo", datetime.now(UTC), project.id))
            rows = [RunImage(ids[n], n, detections=seen[n]) for n in names]
            findings.record(opened, run, rows)
        first = ids["a"]
        sheet = Sheet(
            labelling.version_of(opened, first), (), run_id=1, rejected=(1,), accepted=(0,),
            review=True, verdict=Verdict.FAIL,
        )  # fmt: skip
        decisions.save(opened, first, sheet, "ana")
        yield opened


def test_a_table_has_each_detection_with_its_decision(session: Session) -> None:
    text = b"".join(reports.write(session, 1, "csv")).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["name"], row["label"], row["decision"], row["board"]) for row in rows] == [
        ("a", "spur", "accept", "fail"),
        ("a", "short", "false_call", "fail"),
        ("b", "spur", "", ""),
        ("c", "", "", ""),
    ]


def test_parquet_says_the_same(session: Session) -> None:
    table = parquet.read_table(io.BytesIO(b"".join(reports.write(session, 1, "parquet"))))
    assert table.column("decided_by").to_pylist() == ["ana", "ana", "", None]
    assert table.column("x2").to_pylist() == [30.0, 80.0, 30.0, None]


def test_coco_results_have_width_and_height(session: Session) -> None:
    results = json.loads(b"".join(reports.write(session, 1, "coco")))
    assert [one["bbox"] for one in results[:2]] == [[10, 10, 20, 30], [50, 50, 30, 30]]
    assert [one["category_id"] for one in results] == [1, 2, 1]


def test_pycocotools_reads_the_results(session: Session) -> None:
    results = json.loads(b"".join(reports.write(session, 1, "coco")))
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": one["image_id"]} for one in results],
            "categories": [{"id": 1, "name": "spur"}, {"id": 2, "name": "short"}],
            "annotations": [],
        }
        truth.createIndex()
        loaded = truth.loadRes(results)
    assert len(loaded.getAnnIds(catIds=[1])) == 2


def test_the_table_says_what_the_rule_says(session: Session) -> None:
    text = b"".join(reports.write(session, 1, "csv")).decode()
    rows = {row["name"]: row["rule"] for row in csv.DictReader(io.StringIO(text))}
    assert rows == {"a": "pass", "b": "fail", "c": "pass"}


def test_another_format_is_refused(session: Session) -> None:
    with pytest.raises(Invalid, match="csv, parquet, coco"):
        reports.write(session, 1, "xlsx")


def test_two_runs_differ_by_what_was_gained_and_lost(session: Session) -> None:
    found = comparison.compare(session, 1, 2)
    assert (found.images, found.same, found.next_id) == (3, 1, 0)
    assert [(one.name, len(one.gained), len(one.lost)) for one in found.changes] == [
        ("a", 0, 1),
        ("c", 1, 0),
    ]


def test_a_comparison_goes_on_where_it_ended(session: Session) -> None:
    first = comparison.compare(session, 1, 2, limit=2)
    assert (first.images, first.next_id > 0) == (2, True)
    assert comparison.compare(session, 1, 2, start=first.next_id).images == 1
