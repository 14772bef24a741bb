"""What people said of detections: append-only events, derived from what they save of an image.

A box that remembers its detection accepts it, or corrects it when corners or class differ; a
refused detection is a false call; in a review, a box without a detection is a missed defect.
Taking any of these back appends an event that names the one it undoes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Revision, State, Verdict
from backend.errors import Invalid
from backend.labels import labelling
from backend.review.deciding import origins
from backend.storage import findings
from backend.storage.tables import DecisionRow, ImageRow

# Corners are saved as they were drawn; less than this is rounding, not a correction.
NEAR = 0.05
MOST_SECONDS = 3600.0
BOARD = "board"
BOARD_VERDICTS = (Verdict.PASS, Verdict.FAIL)


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that a person says of an image in one save; None leaves a thing as it is.

    `rejected` and `accepted` are all detections of `run_id` that are refused, and those taken
    without a box of their own because a label stands there already (`corrected` with another class,
    where pictures are classified); `missed` are boxes that stood
    before and that the run did not find. Only a review knows missed defects and the board's
    `verdict`. Without an `action`, what changed is what was done. A save that has a `key` and is
    sent again is answered, not made again.
    """

    version: int
    boxes: tuple[Box, ...]
    state: State | None = None
    label: str | None = None
    comment: str | None = None
    action: str = ""
    run_id: int | None = None
    rejected: tuple[int, ...] | None = None
    accepted: tuple[int, ...] | None = None
    corrected: tuple[int, ...] = ()
    missed: tuple[str, ...] = ()
    review: bool = False
    verdict: Verdict | None = None
    seconds: float = 0.0
    key: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a decision is about: a detection, or (idx None) a box that none shows, or the board."""

    run_id: int
    idx: int | None
    box_id: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """The decision that stands now for a subject."""

    id: int
    verdict: Verdict
    author: str
    by_box: bool


Wanted = dict[Subject, tuple[Verdict, Box | None]]


def save(session: Session, image_id: int, sheet: Sheet, author: str) -> Revision:
    """Save an image and append the decisions that this implies, in one transaction."""
    if there := labelling.saved_as(session, image_id, sheet.key):
        return there
    before = labelling.boxes_of(session, [image_id])[image_id]
    said = labelling.called(session, image_id, sheet.boxes)
    boxes = origins.traced(session, image_id, said, before, author)
    if sheet.run_id is not None:
        origins.refuse_foreign(session, image_id, sheet.run_id)
    was = session.scalar(select(ImageRow.state).where(ImageRow.id == image_id)) or ""
    saved = labelling.save(
        session,
        image_id,
        sheet.version,
        boxes,
        author,
        state=sheet.state,
        label=sheet.label,
        comment=sheet.comment,
        action=sheet.action or origins.deed(before, boxes, sheet.state, was),
        key=sheet.key,
    )
    runs = _runs(image_id, [box.detection for box in (*before, *saved.boxes)], sheet)
    if runs:
        _decide(session, image_id, sheet, saved, runs, {box.id for box in before})
    return saved


def standing(
    session: Session,
    image_ids: Collection[int],
    run_ids: Collection[int],
    until: int | None = None,
) -> dict[int, dict[Subject, Standing]]:
    """The decisions that stand now, or stood at a version of their image, by image and subject."""
    query = (
        select(DecisionRow)
        .where(DecisionRow.run_id.in_(run_ids), DecisionRow.image_id.in_(image_ids))
        .order_by(DecisionRow.id)
    )
    if until is not None:
        query = query.where(DecisionRow.revision <= until)
    found: dict[int, dict[Subject, Standing]] = {image_id: {} for image_id in image_ids}
    for row in session.scalars(query):
        subject = subject_of(row)
        if row.undoes is not None:
            found[row.image_id].pop(subject, None)
        else:
            by_box = "at" in row.box
            found[row.image_id][subject] = Standing(
                row.id, Verdict(row.verdict), row.author, by_box
            )
    return found


def boards(run_id: int, verdicts: Sequence[Verdict]) -> Select[tuple[int]]:
    """The images of a run whose newest decision on the board is one of these."""
    newest = (
        select(func.max(DecisionRow.id))
        .where(
            DecisionRow.run_id == run_id,
            DecisionRow.idx.is_(None),
            DecisionRow.verdict.in_(BOARD_VERDICTS),
        )
        .group_by(DecisionRow.image_id)
    )
    return select(DecisionRow.image_id).where(
        DecisionRow.id.in_(newest), DecisionRow.undoes.is_(None), DecisionRow.verdict.in_(verdicts)
    )


def board_is_open(run_id: int, image_id: Any) -> ColumnElement[bool]:
    """Whether no decision stands on the board of an image; quick where few images are asked for."""
    newest = (
        select(DecisionRow.undoes)
        .where(
            DecisionRow.run_id == run_id,
            DecisionRow.idx.is_(None),
            DecisionRow.image_id == image_id,
            DecisionRow.verdict.in_(BOARD_VERDICTS),
        )
        .order_by(DecisionRow.id.desc())
        .limit(1)
    )
    any_ = newest.with_only_columns(func.coalesce(DecisionRow.undoes, -1)).scalar_subquery()
    return func.coalesce(any_, 0) >= 0


def subject_of(row: DecisionRow) -> Subject:
    """What a decision is about."""
    return Subject(row.run_id, row.idx, "" if row.idx is not None else str(row.box.get("id", "")))


def numbers(
    standing_: Mapping[Subject, Standing], run_id: int, verdict: Verdict, *, by_box: bool = False
) -> list[int]:
    """The detections of a run that stand so, by number."""
    return [
        subject.idx
        for subject, one in standing_.items()
        if subject.run_id == run_id
        and subject.idx is not None
        and one.verdict is verdict
        and one.by_box == by_box
    ]


def _runs(image_id: int, refs: Iterable[DetectionRef | None], sheet: Sheet) -> set[int]:
    runs = {ref.run for ref in refs if ref and ref.image == image_id}
    return runs | ({sheet.run_id} if sheet.run_id is not None else set())


def _decide(
    session: Session, image_id: int, sheet: Sheet, saved: Revision, runs: set[int], known: set[str]
) -> None:
    now = standing(session, [image_id], runs)[image_id]
    found = {run: _by_idx(session, run, image_id) for run in runs}
    wanted = _kept(sheet, saved.boxes, now) | _told(image_id, sheet, found)
    wanted |= _shown(image_id, sheet, saved.boxes, found, known)
    for subject in {**now, **wanted}:
        old, (new, box) = now.get(subject), wanted.get(subject, (None, None))
        if (old.verdict if old else None) == new:
            continue
        session.add(
            DecisionRow(
                run_id=subject.run_id,
                image_id=image_id,
                idx=subject.idx,
                verdict=new or (old.verdict if old else ""),
                author=saved.author,
                seconds=min(MOST_SECONDS, max(0.0, sheet.seconds)),
                box=_box_json(box, subject),
                undoes=old.id if old and new is None else None,
                revision=saved.version,
            )
        )
    session.flush()


def _kept(sheet: Sheet, boxes: Sequence[Box], now: Mapping[Subject, Standing]) -> Wanted:
    """Decisions that this save does not speak of."""
    there = {box.id for box in boxes}
    kept: Wanted = {}
    for subject, one in now.items():
        other = subject.run_id != sheet.run_id
        if one.verdict is Verdict.MISSED:
            stays = subject.box_id in there
        elif one.verdict in BOARD_VERDICTS:
            stays = other or not sheet.review
        elif one.verdict is Verdict.FALSE_CALL:
            stays = other or sheet.rejected is None
        else:
            stays = not one.by_box and (other or sheet.accepted is None)
        if stays:
            kept[subject] = (one.verdict, None)
    return kept


def _told(image_id: int, sheet: Sheet, found: Mapping[int, Mapping[int, Detection]]) -> Wanted:
    """Decisions that the save names."""
    told: Wanted = {}
    if sheet.run_id is None:
        return told
    for indices, verdict in (
        (sheet.accepted, Verdict.ACCEPT),
        (sheet.corrected, Verdict.CORRECT),
        (sheet.rejected, Verdict.FALSE_CALL),
    ):
        for idx in indices or ():
            _detection(found, DetectionRef(sheet.run_id, image_id, idx))
            told[Subject(sheet.run_id, idx)] = (verdict, None)
    if sheet.review and sheet.verdict in BOARD_VERDICTS:
        told[Subject(sheet.run_id, None, BOARD)] = (Verdict(sheet.verdict), None)
    return told


def _shown(
    image_id: int,
    sheet: Sheet,
    boxes: Sequence[Box],
    found: Mapping[int, Mapping[int, Detection]],
    known: set[str],
) -> Wanted:
    """Decisions that the boxes themselves are."""
    shown: Wanted = {}
    for box in boxes:
        ref = box.detection
        if ref and ref.image == image_id:
            verdict = _agrees(box, _detection(found, ref))
            shown[Subject(ref.run, ref.idx)] = (verdict, box)
        elif ref or not sheet.review or sheet.run_id is None:
            continue
        elif box.id not in known or box.id in sheet.missed:
            shown[Subject(sheet.run_id, None, box.id)] = (Verdict.MISSED, box)
    return shown


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
    detection = found.get(ref.run, {}).get(ref.idx)
    if detection is None:
        raise Invalid(f"Run {ref.run} has no detection {ref.idx} in image {ref.image}.")
    return detection


def _by_idx(session: Session, run_id: int, image_id: int) -> dict[int, Detection]:
    found = findings.detections(session, run_id, [image_id])[image_id]
    return {detection.idx: detection for detection in found}


def _box_json(box: Box | None, subject: Subject) -> dict[str, Any]:
    if box is None:
        return {"id": subject.box_id} if subject.idx is None else {}
    return {"id": box.id, "class": box.class_id, "at": [box.x1, box.y1, box.x2, box.y2]}
