"""What people said of detections: append-only events, derived from what they save of an image.

A box that remembers its detection accepts it, or corrects it when corners or class differ; a
refused detection is a false call; in a review, a box without a detection is a missed defect.
Taking any of these back appends an event that names the one it undoes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Revision, State, Verdict
from backend.errors import Invalid
from backend.services import labelling
from backend.storage import warehouse
from backend.storage.tables import DecisionRow

# Corners are saved as they were drawn; less than this is rounding, not a correction.
NEAR = 0.05
MOST_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that a person says of an image in one save; None leaves a thing as it is.

    `rejected` are all refused detections of the image; `run_id` is the run under review.
    """

    version: int
    boxes: tuple[Box, ...]
    state: State | None = None
    label: str | None = None
    comment: str | None = None
    action: str = "edit"
    rejected: tuple[DetectionRef, ...] | None = None
    run_id: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Subject:
    """What a decision is about: a detection, or (idx None) a box that no detection shows."""

    run_id: int
    idx: int | None
    box_id: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """The decision that stands now for a subject."""

    id: int
    verdict: Verdict
    author: str


@dataclass(slots=True)
class _Wanted:
    verdicts: dict[Subject, Verdict] = field(default_factory=dict)
    boxes: dict[Subject, Box] = field(default_factory=dict)


def save(session: Session, image_id: int, sheet: Sheet, author: str) -> Revision:
    """Save an image and append the decisions that this implies, in one transaction."""
    before = labelling.boxes_of(session, [image_id])[image_id]
    saved = labelling.save(
        session,
        image_id,
        sheet.version,
        sheet.boxes,
        author,
        state=sheet.state,
        label=sheet.label,
        comment=sheet.comment,
        action=sheet.action,
    )
    runs = _runs(image_id, [*before, *saved.boxes], sheet)
    if runs:
        _decide(session, image_id, sheet, saved, runs, {box.id for box in before})
    return saved


def standing(
    session: Session, image_ids: Collection[int], run_ids: Collection[int]
) -> dict[int, dict[Subject, Standing]]:
    """The decisions that stand now, by image and subject."""
    query = (
        select(DecisionRow)
        .where(DecisionRow.run_id.in_(run_ids), DecisionRow.image_id.in_(image_ids))
        .order_by(DecisionRow.id)
    )
    found: dict[int, dict[Subject, Standing]] = {image_id: {} for image_id in image_ids}
    for row in session.scalars(query):
        if row.verdict not in tuple(Verdict):
            continue
        box_id = "" if row.idx is not None else str(row.box.get("id", ""))
        subject = Subject(row.run_id, row.idx, box_id)
        if row.undoes is not None:
            found[row.image_id].pop(subject, None)
        else:
            found[row.image_id][subject] = Standing(row.id, Verdict(row.verdict), row.author)
    return found


def rejected(
    session: Session, image_ids: Collection[int], run_ids: Collection[int]
) -> dict[int, list[tuple[int, int]]]:
    """The detections (run, idx) of each image that stand refused."""
    return {
        image_id: [
            (subject.run_id, subject.idx)
            for subject, decision in subjects.items()
            if decision.verdict is Verdict.FALSE_CALL and subject.idx is not None
        ]
        for image_id, subjects in standing(session, image_ids, run_ids).items()
    }


def _runs(image_id: int, boxes: Iterable[Box], sheet: Sheet) -> set[int]:
    runs = {ref.run_id for box in boxes if (ref := box.detection) and ref.image_id == image_id}
    runs |= {ref.run_id for ref in sheet.rejected or ()}
    return runs | ({sheet.run_id} if sheet.run_id else set())


def _decide(
    session: Session,
    image_id: int,
    sheet: Sheet,
    saved: Revision,
    runs: set[int],
    known: set[str],
) -> None:
    now = standing(session, [image_id], runs)[image_id]
    wanted = _wanted(session, image_id, sheet, saved.boxes, runs, known, now)
    for subject in {**now, **wanted.verdicts}:
        old, new = now.get(subject), wanted.verdicts.get(subject)
        if old and old.verdict == new:
            continue
        box = _box_json(wanted.boxes.get(subject), subject)
        verdict = new or (old.verdict if old else Verdict.ACCEPT)
        session.add(
            DecisionRow(
                run_id=subject.run_id,
                image_id=image_id,
                idx=subject.idx,
                verdict=verdict,
                author=saved.author,
                seconds=min(MOST_SECONDS, max(0.0, sheet.seconds)),
                box=box,
                undoes=old.id if old and new is None else None,
                revision=saved.version,
            )
        )
    session.flush()


def _wanted(
    session: Session,
    image_id: int,
    sheet: Sheet,
    boxes: Sequence[Box],
    runs: set[int],
    known: set[str],
    now: Mapping[Subject, Standing],
) -> _Wanted:
    wanted = _Wanted()
    found = {run: _by_idx(session, run, image_id) for run in runs}
    if sheet.rejected is None:
        kept = {s: d.verdict for s, d in now.items() if d.verdict is Verdict.FALSE_CALL}
        wanted.verdicts |= kept
    for ref in sheet.rejected or ():
        _detection(found, ref)
        wanted.verdicts[Subject(ref.run_id, ref.idx)] = Verdict.FALSE_CALL
    for box in boxes:
        subject, verdict = _said(box, image_id, sheet, found, known, now)
        if subject and verdict:
            wanted.verdicts[subject] = verdict
            wanted.boxes[subject] = box
    return wanted


def _said(
    box: Box,
    image_id: int,
    sheet: Sheet,
    found: Mapping[int, Mapping[int, Detection]],
    known: set[str],
    now: Mapping[Subject, Standing],
) -> tuple[Subject | None, Verdict | None]:
    """What a box that stands says of a detection."""
    ref = box.detection
    if ref and ref.image_id == image_id:
        detection = _detection(found, ref)
        return Subject(ref.run_id, ref.idx), _agrees(box, detection)
    if sheet.run_id is None:
        return None, None
    missed = Subject(sheet.run_id, None, box.id)
    new = box.id not in known and not ref
    return (missed, Verdict.MISSED) if new or missed in now else (None, None)


def _agrees(box: Box, detection: Detection) -> Verdict:
    pairs = (
        (box.x1, detection.x1),
        (box.y1, detection.y1),
        (box.x2, detection.x2),
        (box.y2, detection.y2),
    )
    same = box.label == detection.label and all(abs(a - b) < NEAR for a, b in pairs)
    return Verdict.ACCEPT if same else Verdict.CORRECT


def _detection(found: Mapping[int, Mapping[int, Detection]], ref: DetectionRef) -> Detection:
    detection = found.get(ref.run_id, {}).get(ref.idx)
    if detection is None:
        raise Invalid(f"Run {ref.run_id} has no detection {ref.idx} in image {ref.image_id}.")
    return detection


def _by_idx(session: Session, run_id: int, image_id: int) -> dict[int, Detection]:
    found = warehouse.detections(session, run_id, [image_id])[image_id]
    return {detection.idx: detection for detection in found}


def _box_json(box: Box | None, subject: Subject) -> dict[str, Any]:
    if box is None:
        return {"id": subject.box_id} if subject.idx is None else {}
    at = [box.x1, box.y1, box.x2, box.y2]
    return {"id": box.id, "label": box.label, "at": at}
