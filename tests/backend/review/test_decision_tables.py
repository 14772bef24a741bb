"""A report with decisions filled in is read back as what a person said."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Run, RunImage, State, Verdict
from backend.errors import Invalid
from backend.labels import gallery, images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import decision_tables, judgements, reports
from backend.review.deciding import decisions
from backend.review.deciding.decisions import BOARD, Sheet, Subject
from backend.storage import findings
from backend.storage.engine import Database

RUN = 5
SPUR = Detection(10.0, 10.0, 30.0, 40.0, "spur", 0.9)
SHORT = Detection(50.0, 50.0, 80.0, 80.0, "short", 0.7)


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.write.begin() as opened:
        project = catalogue.create(opened, "line")
        for label in ("spur", "short"):
            classes.ensure(opened, project.id, label)
        images.add(opened, project.id, [NewImage(n, n * 64, 99, 99) for n in "ab"], "")
        ids = images.ids(opened, project.id, ["a", "b"])
        findings.start(opened, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        seen = [RunImage(ids[n], n, detections=(SPUR, SHORT)) for n in "ab"]
        findings.record(opened, RUN, seen)
        yield opened


def table(session: Session) -> list[dict[str, str]]:
    text = b"".join(reports.write(session, RUN, "csv")).decode()
    return list(csv.DictReader(io.StringIO(text)))


def decide(session: Session, rows: list[dict[str, str]]) -> None:
    for image_id, lines in decision_tables.images(RUN, rows):
        said = decision_tables.answer(session, RUN, image_id, lines)
        judgements.judge(session, RUN, image_id, said, "ana")


def test_a_filled_in_report_is_what_a_person_said(session: Session) -> None:
    rows = table(session)
    rows[0] |= {"decision": "accept", "board": "fail"}
    rows[1] |= {"decision": "false_call"}
    decide(session, rows)
    image = int(rows[0]["image"])
    said = decisions.standing(session, [image], [RUN])[image]
    assert {s.idx if s.idx is not None else s.box_id: d.verdict for s, d in said.items()} == {
        0: Verdict.ACCEPT,
        1: Verdict.FALSE_CALL,
        BOARD: Verdict.FAIL,
    }
    (item,) = gallery.items(session, [image])
    assert (item.image.state, [box.label for box in item.boxes]) == (State.DONE, ["spur"])
    assert [row["decision"] for row in table(session)] == ["accept", "false_call", "", ""]


def test_other_corners_or_another_class_correct_and_a_missed_defect_is_added(
    session: Session,
) -> None:
    rows = table(session)
    rows[0] |= {"decision": "accept", "x1": "12.5"}
    rows[1] |= {"decision": "correct", "label": "spur"}
    rows += [rows[0] | {"idx": "", "decision": "missed", "x1": "1", "board": "fail"}]
    decide(session, rows)
    image = int(rows[0]["image"])
    said = decisions.standing(session, [image], [RUN])[image]
    verdicts = [said[Subject(RUN, idx)].verdict for idx in (0, 1)]
    assert verdicts == [Verdict.CORRECT, Verdict.CORRECT]
    assert Verdict.MISSED in {one.verdict for one in said.values()}
    boxes = labelling.boxes_of(session, [image])[image]
    assert sorted((box.x1, box.label) for box in boxes) == [
        (1.0, "spur"),
        (12.5, "spur"),
        (50.0, "spur"),
    ]


def test_a_table_read_twice_says_nothing_new(session: Session) -> None:
    rows = table(session)
    rows[0] |= {"decision": "accept", "board": "fail"}
    rows += [rows[0] | {"idx": "", "decision": "missed", "x1": "1"}]
    decide(session, rows)
    before = decisions.standing(session, [int(rows[0]["image"])], [RUN])
    decide(session, rows)
    assert decisions.standing(session, [int(rows[0]["image"])], [RUN]) == before


def test_a_table_of_another_run_is_refused_before_anything_is_written(session: Session) -> None:
    rows = table(session)
    rows[0] |= {"decision": "accept"}
    rows[2] |= {"decision": "accept", "run": "2"}
    with pytest.raises(Invalid, match="Line 4: it is of run 2, not of run 5"):
        decide(session, rows)
    assert [row["decision"] for row in table(session)] == [""] * 4


def test_a_missed_defect_is_recorded_whether_or_not_the_board_is_judged(session: Session) -> None:
    rows = table(session)
    image = int(rows[0]["image"])
    lines = [rows[0] | {"idx": "", "decision": "missed", "x1": "1"}]
    for _ in range(2):
        decide(session, lines)
        said = decisions.standing(session, [image], [RUN])[image]
        assert [one.verdict for one in said.values()] == [Verdict.MISSED]
    assert len(labelling.boxes_of(session, [image])[image]) == 1


def test_a_defect_that_is_labelled_already_is_recorded_as_missed(session: Session) -> None:
    rows = table(session)
    image = int(rows[0]["image"])
    decisions.save(session, image, Sheet(0, (Box(1.0, 10.0, 30.0, 40.0, "spur"),)), "ana")
    for _ in range(2):
        decide(session, [rows[0] | {"idx": "", "decision": "missed", "x1": "1"}])
        (box,) = labelling.boxes_of(session, [image])[image]
        said = decisions.standing(session, [image], [RUN])[image]
        assert [(s.box_id, one.verdict) for s, one in said.items()] == [(box.id, Verdict.MISSED)]


def test_a_missed_defect_at_the_edge_is_one_box_however_often_it_is_read(session: Session) -> None:
    rows = table(session)
    image = int(rows[0]["image"])
    line = rows[0] | {"idx": "", "decision": "missed", "x1": "-0.5", "x2": "99.5"}
    for _ in range(2):
        decide(session, [line, line])
    assert [(box.x1, box.x2) for box in labelling.boxes_of(session, [image])[image]] == [(0, 99)]


def test_a_line_without_a_board_leaves_the_verdict_on_the_board(session: Session) -> None:
    rows = table(session)
    image = int(rows[0]["image"])
    decide(session, [rows[0] | {"board": "fail"}])
    decide(session, [rows[0] | {"idx": "", "decision": "missed", "x1": "1"}])
    said = decisions.standing(session, [image], [RUN])[image]
    assert sorted(one.verdict for one in said.values()) == [Verdict.FAIL, Verdict.MISSED]


def saved(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize(
    "text",
    [
        "image,idx,decision,x1\n7,0,accept,1.5\n",
        "Image,IDX,Decision,X1\n7,0,accept,1.5\n",
        "image;idx;decision;x1\r\n7;0;accept;1,5\r\n",
        "image\tidx\tdecision\tx1\n7\t0\taccept\t1.5\n",
    ],
)
def test_a_table_is_read_as_excel_and_others_write_it(
    tmp_path: Path, text: str, encoding: str
) -> None:
    (row,) = decision_tables.rows(saved(tmp_path / "r.csv", text, encoding))
    assert row == {"image": "7", "idx": "0", "decision": "accept", "x1": "1.5"}


@pytest.mark.parametrize(
    ("text", "encoding", "words"),
    [
        ("", "utf-8", "r.csv has no column image, decision or board"),
        ("image,idx\n7,0\n", "utf-8", "r.csv has no column decision or board"),
        ("image,decision,name\n7,accept,Stra\u00dfe\n", "utf-16", "r.csv is not UTF-8 text"),
        ("image,decision,name\n7,accept,Stra\u00dfe\n", "latin-1", "r.csv is not UTF-8 text"),
        ("image,decision\n7," + "a" * 200_000, "utf-8", "r.csv is no table of CSV: field larger"),
    ],
)
def test_a_file_that_is_no_table_of_answers_is_named(
    tmp_path: Path, text: str, encoding: str, words: str
) -> None:
    with pytest.raises(Invalid, match=words):
        list(decision_tables.rows(saved(tmp_path / "r.csv", text, encoding)))


def test_a_report_in_parquet_is_not_read_as_a_table(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    path.write_bytes(b"".join(reports.write(session, RUN, "parquet")))
    with pytest.raises(Invalid, match=r"r\.parquet is not UTF-8 text, so it holds no answers"):
        list(decision_tables.rows(path))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"decision": "perhaps"}, "Line 2: a decision is one of"),
        ({"decision": "accept", "idx": "x"}, "Line 2: idx is a whole number"),
        ({"decision": "accept", "x1": "left"}, "Line 2: x1, y1, x2 and y2"),
        ({"decision": "accept", "idx": "9"}, "no detection 9"),
        ({"decision": "accept", "idx": "9" * 30}, "Line 2: idx is a whole number"),
        ({"decision": "missed", "label": ""}, "cannot be labelled ''"),
        ({"board": "maybe"}, "Line 2: a decision"),
        ({"decision": "accept", "run": "2"}, "Line 2: it is of run 2, not of run 5."),
        ({"decision": "accept", "run": "x"}, "Line 2: run is a whole number"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(
    session: Session, changes: dict[str, str], words: str
) -> None:
    rows = table(session)
    rows[0] |= changes
    with pytest.raises(Invalid, match=words):
        decide(session, rows)
