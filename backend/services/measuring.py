"""How a run stands against the labels that there are: what it found, what escaped, false calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import matching
from backend.domain import Box, Detection, State
from backend.services import labelling, projects, reviewing
from backend.storage import engine, warehouse
from backend.storage.tables import ImageRow, RunImageRow

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
    project_id = warehouse.get(session, run_id).project_id
    if project_id is None:
        return Figures()
    rule = reviewing.rule(session, project_id)
    ids = _labelled(session, run_id, project_id)
    right = false_calls = escapes = 0
    for part in engine.batches(ids, PAGE):
        found = warehouse.detections(session, run_id, part)
        labels = labelling.boxes_of(session, part)
        for image_id in part:
            kept = [one for one in found[image_id] if one.score >= least(rule, one.label)]
            matched = matching.match_boxes(kept, labels[image_id])
            right += matched.found
            false_calls += matched.false_calls
            escapes += matched.missed
    return Figures(len(ids), right, false_calls, escapes)


def least(rule: Mapping[str, Any], label: str) -> float:
    """The score from which a detection of a class counts."""
    return float(rule["thresholds"].get(label, rule["threshold"]))


def severities(session: Session, project_id: int) -> dict[str, int]:
    """How bad a defect of each class is."""
    return {one.name: one.severity for one in projects.get(session, project_id).classes}


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


def _labelled(session: Session, run_id: int, project_id: int) -> list[int]:
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
