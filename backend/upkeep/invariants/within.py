"""Documents lead to rows: what revisions, snapshots, models and jobs name within their JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Text, exists, select, tuple_, type_coerce
from sqlalchemy.orm import Session

from backend.storage.tables import (
    ClassRow,
    DetectionRow,
    ImageRow,
    JobRow,
    ModelRow,
    ProjectRow,
    RevisionRow,
    SearchRow,
    SnapshotRow,
)
from backend.upkeep.invariants.rule import Row, Rule

PART = 500  # rows that are in memory at once
NAMED = 1_000  # detections that one question names
Detection = tuple[int, int, int]
# The fields of a job's request, and what they number.
REQUESTED: Mapping[str, Any] = {
    "model_id": ModelRow,
    "against": ModelRow,
    "snapshot_id": SnapshotRow,
    "search_id": SearchRow,
}


def _strange_classes(session: Session) -> Iterator[Row]:
    """Revisions with a class that their project does not have and never had."""
    projects = _projects(session)
    for row in _revisions(session, '"class"'):
        named = {one["class"] for one in row.boxes}
        for class_id in sorted(one for one in named if projects.get(one) != row.project_id):
            yield {"id": row.image_id, "version": row.version, "class_id": class_id}


def _gone_detections(session: Session) -> Iterator[Row]:
    """Revisions with a box that was taken over from a detection that is not there."""
    waiting: list[tuple[int, int, Detection]] = []
    for row in _revisions(session, '"detection"'):
        waiting += [
            (row.image_id, row.version, tuple(one["detection"]))
            for one in row.boxes
            if "detection" in one
        ]
        if len(waiting) >= NAMED:
            yield from _not_found(session, waiting)
            waiting.clear()
    yield from _not_found(session, waiting)


def _not_found(session: Session, named: Sequence[tuple[int, int, Detection]]) -> Iterator[Row]:
    key = (DetectionRow.run_id, DetectionRow.image_id, DetectionRow.idx)
    wanted = sorted({one for _, _, one in named})
    there: set[Detection] = set()
    for start in range(0, len(wanted), NAMED):
        part = wanted[start : start + NAMED]
        found = session.execute(select(*key).where(tuple_(*key).in_(part)))
        there.update((run, image, idx) for run, image, idx in found)
    for id_, version, (run, image, idx) in named:
        if (run, image, idx) not in there:
            yield {"id": id_, "version": version, "run": run, "image": image, "idx": idx}


def _revisions(session: Session, word: str) -> Iterator[Any]:
    """Every revision whose boxes have this word, with its project; a part of them at a time."""
    query = (
        select(RevisionRow.image_id, RevisionRow.version, RevisionRow.boxes, ImageRow.project_id)
        .join(ImageRow, ImageRow.id == RevisionRow.image_id)
        .where(type_coerce(RevisionRow.boxes, Text).contains(word))
        .order_by(RevisionRow.image_id, RevisionRow.version)
        .limit(PART)
    )
    key, last = tuple_(RevisionRow.image_id, RevisionRow.version), (0, 0)
    while rows := session.execute(query.where(key > last)).all():
        yield from rows
        last = (rows[-1].image_id, rows[-1].version)


def _projects(session: Session) -> dict[int, int]:
    """The project of each class."""
    query = select(ClassRow.id, ClassRow.project_id)
    return {id_: project_id for id_, project_id in session.execute(query)}


def _strange_in_lists(session: Session) -> Iterator[Row]:
    """Snapshots and models with a class that their project does not have and never had."""
    projects = _projects(session)
    for what, row, column in (
        ("snapshot", SnapshotRow, SnapshotRow.classes),
        ("model", ModelRow, ModelRow.class_ids),
    ):
        for one in _in_parts(session, select(row.id, row.project_id, column.label("named")), row):
            for class_id in one.named:
                if class_id is not None and projects.get(class_id) != one.project_id:
                    yield {"what": what, "id": one.id, "class_id": class_id}


def _gone_requests(session: Session) -> Iterator[Row]:
    """Jobs that ask for a model or a snapshot that is not there."""
    stands = exists().where(ProjectRow.id == JobRow.project_id, ProjectRow.removed.is_(None))
    for job in _in_parts(session, select(JobRow.id, JobRow.request).where(stands), JobRow):
        for name, row in REQUESTED.items():
            number = job.request.get(name)
            if number is not None and session.scalar(select(row.id).filter_by(id=number)) is None:
                yield {"id": job.id, "what": name.removesuffix("_id"), "number": number}


def _in_parts(session: Session, query: Any, row: Any) -> Iterable[Any]:
    last = 0
    ordered = query.order_by(row.id).limit(PART)
    while rows := session.execute(ordered.where(row.id > last)).all():
        yield from rows
        last = rows[-1].id


RULES = (
    Rule(
        "classes-of-revision",
        "Version {version} of image {id} has a box of class {class_id}, which its project does "
        "not have.",
        _strange_classes,
    ),
    Rule(
        "detections-of-revision",
        "Version {version} of image {id} has a box of detection {idx} of image {image} in run "
        "{run}, which is not there.",
        _gone_detections,
    ),
    Rule(
        "classes-in-lists",
        "The {what} {id} knows class {class_id}, which its project does not have.",
        _strange_in_lists,
    ),
    Rule(
        "requests-of-jobs",
        "Job {id} asks for {what} {number}, which is not there.",
        _gone_requests,
    ),
)
