"""Detections judged by number over whatever stands there now: by a sweep of the wall, a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Origin, Revision, State, Verdict
from backend.errors import Invalid
from backend.services import deciding, labelling
from backend.services.deciding import Sheet
from backend.storage import warehouse


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody says of the detections of an image; None takes back what was said of one.

    `corrected` has other corners or another class for some that are accepted, `missed` the
    defects that the run did not find; with a verdict on the board the image is done.
    """

    verdicts: Mapping[int, Verdict | None]
    corrected: Mapping[int, Detection] = field(default_factory=dict)
    missed: tuple[Box, ...] = ()
    board: Verdict | None = None


def judge(session: Session, run_id: int, image_id: int, answer: Answer, author: str) -> Revision:
    """Save an answer; boxes and decisions that it does not name stay."""
    boxes = list(labelling.boxes_of(session, [image_id])[image_id])
    now = deciding.standing(session, [image_id], [run_id])[image_id]
    refused = set(deciding.numbers(now, run_id, Verdict.FALSE_CALL))
    accepted = set(deciding.numbers(now, run_id, Verdict.ACCEPT))
    found = {one.idx: one for one in warehouse.detections(session, run_id, [image_id])[image_id]}
    for idx, verdict in answer.verdicts.items():
        if idx not in found:
            raise Invalid(f"Run {run_id} has no detection {idx} in image {image_id}.")
        ref = DetectionRef(run_id, image_id, idx)
        one = answer.corrected.get(idx, found[idx])
        refused.discard(idx)
        if verdict is Verdict.FALSE_CALL:
            refused.add(idx)
        if verdict is not Verdict.ACCEPT or idx in answer.corrected:
            accepted.discard(idx)
            boxes = [box for box in boxes if box.detection != ref]
        there = idx in accepted or any(box.detection == ref for box in boxes)
        if verdict is Verdict.ACCEPT and not there:
            boxes.append(Box(one.x1, one.y1, one.x2, one.y2, one.label, Origin.MODEL, "", ref))
    sheet = Sheet(
        labelling.version_of(session, image_id),
        (*boxes, *(box for box in answer.missed if not _stands(box, boxes))),
        State.DONE if answer.board else None,
        action=f"judge {len(answer.verdicts)}",
        run_id=run_id,
        rejected=tuple(sorted(refused)),
        accepted=tuple(sorted(accepted)),
        review=answer.board is not None,
        verdict=answer.board,
    )
    return deciding.save(session, image_id, sheet, author)


def _stands(box: Box, boxes: Sequence[Box]) -> bool:
    """Whether the same box is there already: a table may be read twice."""
    place = (box.x1, box.y1, box.x2, box.y2, box.label)
    return any((one.x1, one.y1, one.x2, one.y2, one.label) == place for one in boxes)
