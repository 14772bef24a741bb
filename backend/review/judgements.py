"""Detections judged by number over whatever stands there now: by a sweep of the wall, a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy.orm import Session

from backend import matching
from backend.domain import Box, Detection, DetectionRef, Image, Origin, Revision, State, Verdict
from backend.errors import Invalid
from backend.labels import images, labelling
from backend.review import tally
from backend.review.deciding import decisions, saves
from backend.review.deciding.decisions import BOARD, Sheet, Subject
from backend.storage import findings
from backend.storage.classes import class_names


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody says of the detections of an image; None takes back what was said of one.

    `classes` has another class for some that are accepted, where pictures are classified;
    `corrected` has other corners or another class for some that are accepted, `missed` the
    defects that the run did not find; with a verdict on the board the image is done. An answer
    that has a `key` counts once, however often it is sent.
    """

    verdicts: Mapping[int, Verdict | None]
    corrected: Mapping[int, Detection] = field(default_factory=dict)
    missed: tuple[Box, ...] = ()
    board: Verdict | None = None
    key: str = ""
    classes: Mapping[int, str] = field(default_factory=dict)


def judge(session: Session, run_id: int, image_id: int, answer: Judgement, author: str) -> Revision:
    """Save an answer; boxes and decisions that it does not name stay."""
    version = labelling.version_of(session, image_id)
    boxes = labelling.boxes_of(session, [image_id])[image_id]
    now = decisions.standing(session, [image_id], [run_id])[image_id]
    board = now.get(Subject(run_id, None, BOARD))
    said = _Said(run_id, image_id, answer, _found(session, run_id, image_id, answer))
    refused = said.refused(decisions.numbers(now, run_id, Verdict.FALSE_CALL))
    taken, accepted = _take(said, boxes, decisions.numbers(now, run_id, Verdict.ACCEPT), refused)
    missed, known = _missed(session, image_id, answer, taken)
    sheet = Sheet(
        version,
        (*taken, *missed),
        State.DONE if answer.board else None,
        action=f"judge {len(answer.verdicts)}",
        run_id=run_id,
        # Of detections that nobody speaks of nothing is said, and what stands of them stays.
        rejected=tuple(sorted(refused)) if answer.verdicts else None,
        accepted=tuple(sorted(accepted)) if answer.verdicts else None,
        missed=known,
        review=True,
        verdict=answer.board or (board.verdict if board else None),
        key=answer.key,
    )
    return saves.save(session, image_id, sheet, author)


@dataclass(frozen=True, slots=True)
class _Said:
    """An answer beside the run's detections by number, as the answer corrects them."""

    run_id: int
    image_id: int
    answer: Judgement
    found: Mapping[int, Detection]

    def ref(self, idx: int) -> DetectionRef:
        return DetectionRef(self.run_id, self.image_id, idx)

    def all(self, verdict: Verdict) -> list[int]:
        return [idx for idx, one in self.answer.verdicts.items() if one is verdict]

    def refused(self, before: Sequence[int]) -> set[int]:
        return {*before}.difference(self.answer.verdicts).union(self.all(Verdict.FALSE_CALL))

    def left(self, boxes: Sequence[Box]) -> list[Box]:
        """A detection that is not accepted takes its own box with it."""
        gone = {*self.answer.verdicts}.difference(self.all(Verdict.ACCEPT))
        refs = {self.ref(idx) for idx in gone}
        return [box for box in boxes if box.detection not in refs]


def _found(session: Session, run_id: int, image_id: int, answer: Judgement) -> dict[int, Detection]:
    found = {one.idx: one for one in findings.detections(session, run_id, [image_id])[image_id]}
    for idx in answer.verdicts:
        if idx not in found:
            raise Invalid(f"Run {run_id} has no detection {idx} in image {image_id}.")
    names = class_names.of_run(session, run_id)
    for idx, label in answer.classes.items():
        if idx not in found or names.id(label) is None:
            raise Invalid(f"Detection {idx} cannot be {label[:80]!r}: there is no such class.")
        found[idx] = replace(found[idx], label=label, class_id=names.id(label))
    return found | dict(answer.corrected)


def _take(
    said: _Said, boxes: Sequence[Box], before: Sequence[int], refused: Collection[int]
) -> tuple[list[Box], set[int]]:
    """The boxes that are left, and the detections accepted without a box of their own.

    A detection over a label confirms it, a corrected one moves it; one over nothing becomes a box.
    """
    left = said.left(boxes)
    under = _under(said, left, refused)
    taken = {box.id: box for box in left}
    accepted = {*before}.difference(said.answer.verdicts)
    for idx in said.all(Verdict.ACCEPT):
        box, one, ref = under.get(idx), said.found[idx], said.ref(idx)
        corrected = idx in said.answer.corrected or idx in said.answer.classes
        if idx in before and not corrected:
            accepted.add(idx)
        elif box is None:
            taken[f"new {idx}"] = _fresh(one, ref)
        else:
            taken[box.id] = _moved(box, one, ref) if corrected else box
            accepted |= {idx} if taken[box.id].detection != ref else set()
    return list(taken.values()), accepted


def _under(said: _Said, boxes: Sequence[Box], refused: Collection[int]) -> dict[int, Box]:
    """The box that each detection stands over: its own, else the label that it found."""
    refs = {said.ref(idx) for idx in said.found}
    own = {box.detection.idx: box for box in boxes if box.detection and box.detection in refs}
    # A box that its own detection moves is nobody else's.
    moved = {idx: own[idx] for idx in said.answer.corrected if idx in own}
    free = [box for box in boxes if box not in moved.values()]
    shown = [one for idx, one in said.found.items() if idx not in moved and idx not in refused]
    hits = matching.match_boxes(shown, free, tally.IOU).detections
    over = {one.idx: free[hit] for one, hit in zip(shown, hits, strict=True) if hit >= 0}
    return over | own


def _moved(box: Box, one: Detection, ref: DetectionRef) -> Box:
    ref = box.detection or ref
    return replace(_fresh(one, ref), id=box.id, origin=box.origin, author=box.author)


def _fresh(one: Detection, ref: DetectionRef) -> Box:
    return Box(
        one.x1, one.y1, one.x2, one.y2, one.label, Origin.MODEL, "", ref, class_id=one.class_id
    )  # fmt: skip


def _missed(
    session: Session, image_id: int, answer: Judgement, boxes: Sequence[Box]
) -> tuple[list[Box], tuple[str, ...]]:
    """Missed defects that become boxes, and the boxes that show the others already."""
    if not answer.missed:
        return [], ()
    image = images.get(session, image_id)
    there = {_place(box, image): box.id for box in boxes}
    wanted = {_place(box, image): box for box in answer.missed}
    fresh = [box for place, box in wanted.items() if place not in there]
    return fresh, tuple(there[place] for place in wanted if place in there)


def _place(box: Box, image: Image) -> tuple[float, float, float, float, str]:
    """Where and what a box is once it is saved."""
    x2, y2 = min(float(image.width), box.x2), min(float(image.height), box.y2)
    return max(0.0, box.x1), max(0.0, box.y1), x2, y2, box.label
