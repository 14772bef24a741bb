"""Decisions from a table: the CSV of a report, filled in by a person or a program, read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Verdict
from backend.errors import Invalid
from backend.formats.source import tabular
from backend.review.deciding import decisions
from backend.review.judgements import Judgement
from backend.storage import findings
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import ImageRow

Row = Mapping[str, str]
NEEDED = (("image",), ("decision", "board"))
CORNERS = ("x1", "y1", "x2", "y2")
SAID = {
    "accept": Verdict.ACCEPT,
    "correct": Verdict.ACCEPT,
    "false_call": Verdict.FALSE_CALL,
    "missed": Verdict.MISSED,
}
# No database has larger numbers.
MOST_DIGITS = 18
BOARDS = {"": None, "pass": Verdict.PASS, "fail": Verdict.FAIL}


def rows(path: Path) -> Iterator[Row]:
    """The lines of a table."""
    text = tabular.text(path, path.name, "answers")
    return (row for _, row in tabular.rows(text, path.name, NEEDED))


def images(run_id: int, rows: Iterable[Row]) -> Iterator[tuple[int, list[tuple[int, Row]]]]:
    """The images of a table with their numbered lines; lines that decide nothing are left out."""
    lines = [(n, row) for n, row in enumerate(rows, 2) if row.get("decision") or row.get("board")]
    for n, row in lines:
        if row.get("run") and (other := _whole(n, row, "run")) != run_id:
            raise Invalid(f"Line {n}: it is of run {other}, not of run {run_id}.")
    numbered = [(_whole(n, row, "image"), n, row) for n, row in lines]
    for image_id, part in groupby(sorted(numbered, key=itemgetter(0, 1)), itemgetter(0)):
        yield image_id, [(n, row) for _, n, row in part]


def answer(
    session: Session, run_id: int, image_id: int, lines: Iterable[tuple[int, Row]]
) -> Judgement:
    """What the lines of one image say; one with other corners or another class corrects."""
    found = {one.idx: one for one in findings.detections(session, run_id, [image_id])[image_id]}
    names = class_names.of_run(session, run_id)
    given = _given(session, run_id, image_id, names)
    verdicts: dict[int, Verdict | None] = {}
    corrected: dict[int, Detection] = {}
    missed: list[Box] = []
    board: Verdict | None = None
    for n, row in lines:
        said = row.get("decision", "")
        if row.get("board", "") not in BOARDS or said not in {"", *SAID}:
            words = f"{', '.join(SAID)}; a board is pass or fail"
            raise Invalid(f"Line {n}: a decision is one of {words}.")
        board = BOARDS[row.get("board", "")] or board
        if said == "missed":
            missed.append(Box(*_corners(n, row), names.today(row.get("label", ""))))
        elif said:
            idx = _whole(n, row, "idx")
            verdicts[idx] = SAID[said]
            other = _changed(n, row, found.get(idx), names)
            if other is None and said == "correct":
                other = given.get(idx)
            if other and SAID[said] is Verdict.ACCEPT:
                corrected[idx] = other
    return Judgement(verdicts, corrected, tuple(missed), board)


def _given(session: Session, run_id: int, image_id: int, names: Naming) -> dict[int, Detection]:
    """Answers on whole pictures as people corrected them, which no line of a report shows."""
    stands = decisions.standing(session, [image_id], [run_id])[image_id]
    corrected = decisions.numbers(stands, run_id, Verdict.CORRECT)
    if not corrected:
        return {}
    class_id = session.get_one(ImageRow, image_id).label_id
    label = names.name(class_id)
    return {
        one.idx: replace(one, label=label, class_id=names.id(label))
        for one in findings.detections(session, run_id, [image_id])[image_id]
        if label and one.idx in corrected
    }


def _changed(n: int, row: Row, one: Detection | None, names: Naming) -> Detection | None:
    """The detection as the line has it, when that differs."""
    if one is None or not row.get("x1"):
        return None
    x1, y1, x2, y2 = _corners(n, row)
    label = names.today(row.get("label") or one.label)
    other = replace(one, x1=x1, y1=y1, x2=x2, y2=y2, label=label, class_id=names.id(label))
    pairs = zip((x1, y1, x2, y2), (one.x1, one.y1, one.x2, one.y2), strict=True)
    same = all(abs(a - b) < decisions.NEAR for a, b in pairs) and other.label == one.label
    return None if same else other


def _corners(n: int, row: Row) -> tuple[float, float, float, float]:
    try:
        x1, y1, x2, y2 = (float(row[name]) for name in CORNERS)
    except (KeyError, ValueError) as error:
        raise Invalid(f"Line {n}: x1, y1, x2 and y2 are the corners of a box.") from error
    return x1, y1, x2, y2


def _whole(n: int, row: Row, name: str) -> int:
    text = row.get(name, "")
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise Invalid(f"Line {n}: {name} is a whole number, not {text[:40]!r}.")
    return int(text)
