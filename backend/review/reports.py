"""A run and what people said of it, as files for other programs: CSV, Parquet, COCO results."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import pyarrow
from pyarrow import parquet
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import families
from backend.domain import Box, Detection, Run, State
from backend.errors import Invalid
from backend.formats import cells
from backend.labels import labelling
from backend.projects import catalogue
from backend.review import tally, views
from backend.review.deciding import decisions
from backend.storage import findings
from backend.storage.classes import class_names
from backend.storage.tables import ImageRow, RunImageRow

Boxes = Sequence[Box]
Found = Sequence[Detection]
Said = Collection[decisions.Subject]

PAGE = 2000
FORMATS = ("csv", "parquet", "coco")
COLUMNS = (
    "run", "model", "image", "name", "sha256", "group", "idx", "label", "score",
    "x1", "y1", "x2", "y2", "decision", "decided_by", "given", "board", "board_by", "rule",
)  # fmt: skip


def write(session: Session, run_id: int, format_name: str) -> Iterator[bytes]:
    """The file, part by part; a row a detection, and one for an image without any."""
    if format_name == "csv":
        return _csv(rows(session, run_id))
    if format_name == "parquet":
        return _parquet(rows(session, run_id))
    if format_name == "coco":
        return _coco(session, run_id)
    raise Invalid(f"A run is exported as {', '.join(FORMATS)}, not {format_name[:40]!r}.")


def rows(session: Session, run_id: int) -> Iterator[dict[str, Any]]:
    """Every detection of a run with what people said of it, in the order of the images' ids."""
    run = findings.get(session, run_id)
    rule = _rule(session, run)
    for seen in _pages(session, run_id):
        ids = [row.image_id for row in seen]
        found = findings.detections(session, run_id, ids)
        standing = decisions.standing(session, ids, [run_id])
        groups = _groups(session, ids)
        labels = labelling.boxes_of(session, ids)
        given = _given(session, run, ids)
        for row in seen:
            said = standing[row.image_id]
            board = said.get(decisions.Subject(run_id, None, decisions.BOARD))
            about = {
                "run": run_id,
                "model": run.model,
                "image": row.image_id,
                "name": row.name,
                "sha256": row.sha256,
                "group": groups.get(row.image_id, ""),
                "given": given.get(row.image_id, ""),
                "board": board.verdict.value if board else "",
                "board_by": board.author if board else "",
                "rule": rule(
                    given.get(row.image_id), labels[row.image_id], found[row.image_id], said
                ),
            }
            for one in found[row.image_id]:
                decision = said.get(decisions.Subject(run_id, one.idx))
                yield about | {
                    "idx": one.idx,
                    "label": one.label,
                    "score": one.score,
                    "x1": one.x1,
                    "y1": one.y1,
                    "x2": one.x2,
                    "y2": one.y2,
                    "decision": decision.verdict.value if decision else "",
                    "decided_by": decision.author if decision else "",
                }
            if not found[row.image_id]:
                yield about


def _rule(session: Session, run: Run) -> Callable[[str | None, Boxes, Found, Said], str]:
    """What the project's rule says of a board or a classified picture; no project has no rule."""
    if run.project_id is None:
        return lambda _given, _boxes, _found, _said: ""
    chosen = views.rule(session, run.project_id)
    severity = tally.severities(session, run.project_id)
    once = families.answers_once(run.family)

    def says(given: str | None, boxes: Boxes, found: Found, said: Said) -> str:
        if once:
            return tally.answer(given, next(iter(found), None), chosen, severity)
        return tally.verdict(boxes, found, {one.idx for one in said}, chosen, severity)

    return says


def _given(session: Session, run: Run, ids: Sequence[int]) -> dict[int, str]:
    """The classes of classified pictures that are done, '' where it is none of them."""
    if not families.answers_once(run.family):
        return {}
    names = class_names.of(session, run.project_id)
    query = select(ImageRow.id, ImageRow.label_id).where(
        ImageRow.id.in_(ids), ImageRow.state == State.DONE
    )
    return {image_id: names.name(label_id) for image_id, label_id in session.execute(query)}


def _csv(values: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    for at, row in enumerate(values):
        writer.writerow({name: cells.safe(value) for name, value in row.items()})
        if at % PAGE == PAGE - 1:
            yield _taken(text)
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    part = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return part


def _parquet(values: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Parquet keeps its directory at the end, so the file is made whole before it is sent."""
    sink = io.BytesIO()
    schema = pyarrow.schema([(name, _type(name)) for name in COLUMNS])
    with parquet.ParquetWriter(sink, schema) as writer:
        for part in _parts(values):
            writer.write_table(pyarrow.Table.from_pylist(part, schema))
    yield sink.getvalue()


def _type(name: str) -> pyarrow.DataType:
    if name in ("score", "x1", "y1", "x2", "y2"):
        return pyarrow.float64()
    return pyarrow.int64() if name in ("run", "image", "idx") else pyarrow.string()


def _coco(session: Session, run_id: int) -> Iterator[bytes]:
    """COCO results, numbered as the project's export: images by their own numbers, categories by
    the classes' order from 1; corners as x, y, width, height."""
    project_id = findings.get(session, run_id).project_id
    classes = catalogue.get(session, project_id).classes if project_id is not None else ()
    numbers = {one.name: at for at, one in enumerate(classes, 1)}
    yield b"["
    first = True
    for row in rows(session, run_id):
        if "idx" not in row:
            continue
        result = {
            "image_id": row["image"],
            "file_name": row["name"],
            "category_id": numbers.setdefault(row["label"], len(numbers) + 1),
            "category": row["label"],
            "bbox": [row["x1"], row["y1"], row["x2"] - row["x1"], row["y2"] - row["y1"]],
            "score": row["score"],
            "decision": row["decision"],
        }
        yield (b"" if first else b",\n") + json.dumps(result).encode()
        first = False
    yield b"]\n"


def _pages(session: Session, run_id: int) -> Iterator[Sequence[RunImageRow]]:
    last = -1
    query = select(RunImageRow).where(RunImageRow.run_id == run_id, RunImageRow.status == "ok")
    while True:
        page = session.scalars(
            query.where(RunImageRow.image_id > last).order_by(RunImageRow.image_id).limit(PAGE)
        ).all()
        if not page:
            return
        last = page[-1].image_id
        yield page


def _groups(session: Session, ids: Sequence[int]) -> dict[int, str]:
    query = select(ImageRow.id, ImageRow.group).where(ImageRow.id.in_(ids))
    return {image_id: group for image_id, group in session.execute(query)}


def _parts(values: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    for value in values:
        part.append(value)
        if len(part) == PAGE:
            yield part
            part = []
    if part:
        yield part
