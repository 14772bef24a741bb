"""What is published: a row a kind, with the warehouse's columns and where each comes from.

Adding a kind is a row in KINDS. A kind travels in parts: rows whose first columns are near.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from backend.storage import tables
from backend.warehouse.shapes import Column, RowKind, Span, Type


def _of(type_: Type) -> Callable[[str, Any], Column]:
    return lambda name, source: Column(name, type_, source)


_whole, _real, _text, _flag, _moment, _bytes = map(_of, Type)


def _project() -> RowKind:
    row = tables.ProjectRow
    columns = (
        _whole("id", row.id),
        _text("name", row.name),
        _text("task", row.task),
        _moment("created_at", row.created),
    )
    return RowKind("project", row, ("id",), columns, Span("id"), removed=row.removed)


def _class() -> RowKind:
    row = tables.ClassRow
    columns = (
        _whole("id", row.id),
        _whole("project_id", row.project_id),
        _text("name", row.name),
        _text("color", row.color),
        _whole("severity", row.severity),
        _whole("merged_into_id", row.merged_into_id),
        _moment("retired_at", row.retired),
    )
    return RowKind("class", row, ("id",), columns, Span("id"))


def _image() -> RowKind:
    row = tables.ImageRow
    columns = (
        _whole("id", row.id),
        _whole("project_id", row.project_id),
        _text("name", row.name),
        _text("sha256", row.sha256),
        _whole("width", row.width),
        _whole("height", row.height),
        _moment("added_at", row.added),
        _text("split", row.split),
        _text("lot", row.group),
        _whole("golden_id", row.golden_id),
        _flag("is_golden", row.is_golden),
        _text("state", row.state),
        _whole("revision", row.version),
        _whole("label_id", row.label_id),
        _text("comment", row.comment),
        _text("author", row.author),
        _whole("boxes", row.boxes),
    )
    return RowKind("image", row, ("id",), columns, Span("id", 1000), removed=row.deleted)


def _picture() -> RowKind:
    """The bytes of the pictures that somebody has asked for."""
    row = tables.PictureRow
    columns = (
        _whole("image_id", row.image_id),
        _text("sha256", row.sha256),
        _bytes("data", None),
    )
    return RowKind("picture", row, ("image_id",), columns, Span("image_id", 20), cost=1000)


def _label() -> RowKind:
    """The boxes of each revision; those of the newest one of their image stand."""
    row = tables.RevisionRow
    columns = (
        _whole("image_id", row.image_id),
        _whole("revision", row.version),
        Column("box", Type.TEXT),
        Column("class_id", Type.WHOLE),
        Column("x1", Type.REAL),
        Column("y1", Type.REAL),
        Column("x2", Type.REAL),
        Column("y2", Type.REAL),
        Column("origin", Type.TEXT),
        Column("author", Type.TEXT),
        Column("run_id", Type.WHOLE),
        Column("run_image_id", Type.WHOLE),
        Column("run_idx", Type.WHOLE),
        _text("saved_by", row.author),
        _moment("saved_at", row.at),
    )
    return RowKind("label", row, ("image_id", "revision", "box"), columns, Span("image_id", 100))


def _model() -> RowKind:
    row = tables.ModelRow
    columns = (
        _whole("id", row.id),
        _whole("project_id", row.project_id),
        _whole("model_number", row.number),
        _text("family", row.family),
        _text("state", row.state),
        _flag("champion", row.champion),
        _moment("made_at", row.at),
        _text("author", row.author),
        _text("weights", row.weights),
        _text("classes", row.classes),
        _text("class_ids", row.class_ids),
        _text("parameters", row.parameters),
        _text("metrics", row.metrics),
        _whole("snapshot_id", row.snapshot_id),
        _whole("parent_id", row.parent_id),
        _whole("job_id", row.job_id),
    )
    return RowKind("model", row, ("id",), columns, Span("id"))


def _run() -> RowKind:
    row = tables.RunRow
    columns = (
        _whole("id", row.id),
        _whole("project_id", row.project_id),
        _whole("model_id", row.model_id),
        _text("model", row.model),
        _text("family", row.family),
        _text("weights", row.weights),
        _text("runtime", row.runtime),
        _text("purpose", row.purpose),
        _text("source", row.source),
        _text("parameters", row.parameters),
        _text("author", row.author),
        _moment("started_at", row.at),
        _moment("finished_at", row.finished),
        _whole("images", row.images),
        _real("seconds", row.seconds),
    )
    return RowKind("run", row, ("id",), columns, Span("id"), urgent="finished IS NOT NULL")


def _run_image() -> RowKind:
    row = tables.RunImageRow
    columns = (
        _whole("run_id", row.run_id),
        _whole("image_id", row.image_id),
        _text("name", row.name),
        _text("sha256", row.sha256),
        _whole("width", row.width),
        _whole("height", row.height),
        _text("status", row.status),
        _text("error", row.error),
        _real("milliseconds", row.milliseconds),
        _text("worker", row.worker),
        _whole("detections", row.detections),
        _real("doubt", row.doubt),
    )
    spans = Span("run_id"), Span("image_id", 1000)
    return RowKind("run_image", row, ("run_id", "image_id"), columns, *spans)


def _detection() -> RowKind:
    """Detections are written, and taken away, with the image that the run saw."""
    row = tables.DetectionRow
    columns = (
        _whole("run_id", row.run_id),
        _whole("image_id", row.image_id),
        _whole("idx", row.idx),
        _whole("class_id", row.class_id),
        _text("label", row.label),
        _real("score", row.score),
        _real("x1", row.x1),
        _real("y1", row.y1),
        _real("x2", row.x2),
        _real("y2", row.y2),
    )
    return RowKind(
        "detection",
        row,
        ("run_id", "image_id", "idx"),
        columns,
        Span("run_id"),
        Span("image_id", 1000),
        watched=tables.RunImageRow,
        weight="detection_count",
    )


def _metric() -> RowKind:
    row = tables.MetricRow
    columns = (
        _whole("job_id", row.job_id),
        _text("name", row.name),
        _whole("class_id", row.class_id),
        _whole("model_id", row.model_id),
        _text("split", row.split),
        _real("value", row.value),
    )
    return RowKind("metric", row, ("job_id", "name", "class_id"), columns, Span("job_id"))


def _decision() -> RowKind:
    row = tables.DecisionRow
    columns = (
        _whole("id", row.id),
        _whole("run_id", row.run_id),
        _whole("image_id", row.image_id),
        _whole("idx", row.idx),
        _text("verdict", row.verdict),
        _text("author", row.author),
        _moment("decided_at", row.at),
        _real("seconds", row.seconds),
        _whole("undoes", row.undoes),
        _whole("revision", row.revision),
    )
    return RowKind("decision", row, ("id",), columns, Span("id", 1000))


KINDS = {
    kind.name: kind
    for kind in (
        _project(),
        _class(),
        _image(),
        _picture(),
        _label(),
        _model(),
        _run(),
        _run_image(),
        _detection(),
        _metric(),
        _decision(),
    )
}


def of_changes(table: str) -> Sequence[RowKind]:
    """The kinds that a change of a table of ours concerns."""
    return [kind for kind in KINDS.values() if kind.changes.name == table]
