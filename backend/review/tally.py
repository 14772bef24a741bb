"""How a run stands against the labels that there are: what it found, what escaped, false calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import families, matching
from backend.domain import Box, Detection, State
from backend.projects import catalogue
from backend.review import views
from backend.storage import engine, findings
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import BoxRow, DetectionRow, ImageRow, RunImageRow

Rule = Mapping[str, Any]
Place = tuple[float, float, float, float]
Corners = dict[int, list[Place]]
Planes = dict[str, float]

IOU = 0.5
FAR = 1e6
MOST = 2000
PAGE = 500


@dataclass(frozen=True, slots=True)
class Figures:
    """Detections above the project's thresholds against the labels of images that are done."""

    images: int = 0
    right: int = 0
    false_calls: int = 0
    escapes: int = 0


def figures(session: Session, run_id: int) -> Figures:
    """The figures of a run over its labelled images, at most MOST of them."""
    run = findings.get(session, run_id)
    project_id = run.project_id
    if project_id is None:
        return Figures()
    if families.answers_once(run.family):
        return _of_answers(session, run_id, project_id)
    rule = views.rule(session, project_id)
    ids = counted(session, run_id, project_id)
    planes: Planes = {}
    right = false_calls = escapes = 0
    for part in engine.batches(ids, PAGE):
        found = _detections(session, run_id, part, rule, planes)
        labels = _labels(session, part, class_names.of(session, project_id), planes)
        for image_id in part:
            hits = _hits(found.get(image_id, []), labels.get(image_id, []))
            right += hits
            false_calls += len(found.get(image_id, ())) - hits
            escapes += len(labels.get(image_id, ())) - hits
    return Figures(len(ids), right, false_calls, escapes)


def _of_answers(session: Session, run_id: int, project_id: int) -> Figures:
    """A wrong class is a false call of it, and an escape of the one that the picture has."""
    ids = counted(session, run_id, project_id)
    names, right, answered, labelled = class_names.of(session, project_id), 0, 0, 0
    for part in engine.batches(ids, PAGE):
        found = findings.detections(session, run_id, part)
        labels = select(ImageRow.id, ImageRow.label_id).where(ImageRow.id.in_(part))
        for image_id, label_id in session.execute(labels):
            best, wanted = found[image_id][:1], names.name(label_id)
            right += bool(best) and best[0].label == wanted
            answered += len(best)
            labelled += bool(wanted)
    return Figures(len(ids), right, answered - right, labelled - right)


def _detections(
    session: Session, run_id: int, ids: Sequence[int], rule: Rule, planes: Planes
) -> Corners:
    """The detections that count, by image, best first."""
    query = (
        select(*_columns(DetectionRow), DetectionRow.score)
        .where(DetectionRow.run_id == run_id, DetectionRow.image_id.in_(ids))
        .order_by(DetectionRow.image_id, DetectionRow.score.desc(), DetectionRow.idx)
    )
    names = class_names.of_run(session, run_id)
    rows = session.execute(query.add_columns(DetectionRow.class_id, DetectionRow.label))
    called = ((place, score, names.name(id_, said)) for *place, score, id_, said in rows)
    counting = ((*place, name) for place, score, name in called if score >= least(rule, name))
    return _by_image(counting, planes)


def _labels(session: Session, ids: Sequence[int], names: Naming, planes: Planes) -> Corners:
    rows = session.execute(
        select(*_columns(BoxRow), BoxRow.class_id).where(BoxRow.image_id.in_(ids))
    )
    return _by_image(((*place, names.name(class_id)) for *place, class_id in rows), planes)


def _columns(row: Any) -> tuple[Any, ...]:
    return row.image_id, row.x1, row.y1, row.x2, row.y2


def _by_image(rows: Iterable[tuple[Any, ...]], planes: Planes) -> Corners:
    """The corners by image; each class stands far from the others, so that none meets another."""
    found: Corners = {}
    for image_id, x1, y1, x2, y2, label in rows:
        away = planes.setdefault(label, len(planes) * FAR)
        found.setdefault(image_id, []).append((x1 + away, y1, x2 + away, y2))
    return found


def _hits(found: list[Place], labels: list[Place]) -> int:
    """How many detections, best first, find a label of their own."""
    if not found or not labels:
        return 0
    overlap = matching.overlaps(np.array(found), np.array(labels))
    chosen = matching.assign(overlap, (IOU,), np.zeros(len(labels), np.bool_))[0]
    return int((chosen >= 0).sum())


def least(rule: Mapping[str, Any], label: str) -> float:
    """The score from which a detection of a class counts."""
    return float(rule["thresholds"].get(label, rule["threshold"]))


def severities(session: Session, project_id: int) -> dict[str, int]:
    """How bad a defect of each class is."""
    return {one.name: one.severity for one in catalogue.get(session, project_id).classes}


def verdict(
    boxes: Sequence[Box],
    detections: Sequence[Detection],
    said: Collection[int | None],
    rule: Mapping[str, Any],
    severity: Mapping[str, int],
) -> str:
    """What the rule says of a board: it fails for a label, or for a detection that counts and
    that nobody has judged, when its class is severe enough."""
    labels = [box.label for box in boxes]
    waiting = [
        one.label
        for one in detections
        if one.score >= least(rule, one.label) and one.idx not in said
    ]
    bad = [one for one in labels + waiting if severity.get(one, 1) >= rule["severity"]]
    return "fail" if bad else "pass"


def answer(
    given: str | None, best: Detection | None, rule: Rule, severity: Mapping[str, int]
) -> str:
    """What the rule says of a classified picture: by the class that it was given ('' is none of
    them), else by the model's answer where that is sure enough; where it is not, a person is asked.
    """
    label = given
    if label is None:
        known = best is not None and best.label in severity
        if best is None or not known or best.score < least(rule, best.label):
            return "ask"
        label = best.label
    return "fail" if severity.get(label, 1) >= rule["severity"] else "pass"


def counted(session: Session, run_id: int, project_id: int) -> list[int]:
    """The images that a run is counted against: done, looked at, and at most MOST."""
    done = select(ImageRow.id).where(
        ImageRow.project_id == project_id,
        ImageRow.is_golden.is_(False),
        ImageRow.deleted.is_(None),
        ImageRow.state == State.DONE,
    )
    found: list[int] = []
    for part in engine.batches(list(session.scalars(done.order_by(ImageRow.id)))):
        seen = select(RunImageRow.image_id).where(
            RunImageRow.run_id == run_id,
            RunImageRow.status == "ok",
            RunImageRow.image_id.in_(part),
        )
        found += session.scalars(seen.order_by(RunImageRow.image_id))
        if len(found) >= MOST:
            return found[:MOST]
    return found
