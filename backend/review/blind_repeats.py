"""Blind repeats: some boards are judged a second time unknowingly; how well the answers agree.

A repeat changes no label and no decision: it is kept beside them, one a person and board.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session

from backend.domain import State, Verdict
from backend.errors import Invalid, NotFound
from backend.labels import images
from backend.review.deciding import decisions
from backend.review.views import Reviewed
from backend.storage import engine, findings
from backend.storage.tables import DecisionRow, RepeatRow, RunImageRow
from backend.storage.types import now

# A board comes again only after so many others, when the first answer is no longer in mind.
BETWEEN = 10
DEFECT = (Verdict.ACCEPT, Verdict.CORRECT)
PAGE = 500


@dataclass(frozen=True, slots=True)
class Kappa:
    """How often two answers were the same; `kappa` (Cohen's) takes off what chance would do."""

    pairs: int
    agreed: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Second answers against first ones: of another inspector, and of the same one."""

    between_boards: Kappa
    between_detections: Kappa
    within_boards: Kappa
    within_detections: Kappa


@dataclass(frozen=True, slots=True)
class _Pair:
    within: bool
    board: bool
    first: str
    second: str


def due(session: Session, run_id: int, author: str, share: float) -> int:
    """A board that this person is to judge again, so that repeats are a share of all; 0: none."""
    of_run = (DecisionRow.run_id == run_id, DecisionRow.idx.is_(None))
    boards = (*of_run, DecisionRow.verdict.in_(decisions.BOARD_VERDICTS))
    mine = select(DecisionRow.id).where(*boards, DecisionRow.author == author)
    judged = session.scalar(select(func.count()).select_from(mine.subquery())) or 0
    done = repeated(session, run_id, author)
    if done + 1 > share * judged:
        return 0
    # What the person said a moment ago is still in mind.
    recent = session.scalar(mine.order_by(DecisionRow.id.desc()).offset(BETWEEN - 1).limit(1)) or 0
    again = exists().where(
        RepeatRow.run_id == run_id,
        RepeatRow.image_id == DecisionRow.image_id,
        RepeatRow.author == author,
        RepeatRow.verdict != "",
    )
    query = (
        select(DecisionRow.image_id)
        .where(
            *boards,
            or_(DecisionRow.author != author, DecisionRow.id < recent),
            ~again,
            images.there(DecisionRow.image_id),
            ~decisions.board_is_open(run_id, DecisionRow.image_id),
        )
        .order_by(DecisionRow.image_id)
        .limit(1)
    )
    start = _somewhere(session, of_run, f"{author} {done}")
    later = session.scalar(query.where(DecisionRow.image_id >= start))
    return later or session.scalar(query) or 0


def _somewhere(session: Session, of_run: Sequence[ColumnElement[bool]], seed: str) -> int:
    """A number among those of the run's images, another for each seed: an index leads there."""
    first, last = (
        session.scalar(select(most(DecisionRow.image_id)).where(*of_run)) or 0
        for most in (func.min, func.max)
    )
    return int(first + zlib.crc32(seed.encode()) % (last - first + 1))


def blind(session: Session, seen: Reviewed) -> Reviewed:
    """An image as it was before anybody reviewed the run."""
    image = seen.item.image
    said = decisions.standing(session, [image.id], [seen.run_id])[image.id]
    drawn = {subject.box_id for subject, one in said.items() if one.verdict is Verdict.MISSED}
    boxes = tuple(
        box
        for box in seen.item.boxes
        if box.id not in drawn and not (box.detection and box.detection.run == seen.run_id)
    )
    bare = replace(seen.item, image=replace(image, state=State.NEW), boxes=boxes)
    return replace(seen, item=bare, rejected=(), accepted=(), verdict="", decided={})


def record(
    session: Session, run_id: int, image_id: int, sheet: decisions.Sheet, author: str
) -> None:
    """Keep a second answer; a later one of the same person takes its place until it is complete."""
    accepted = {
        ref.idx for box in sheet.boxes if (ref := box.detection) and ref.run == run_id
    } | set(sheet.accepted or ())
    judged = {str(idx): Verdict.ACCEPT.value for idx in accepted}
    judged |= {str(idx): Verdict.FALSE_CALL.value for idx in sheet.rejected or ()}
    if session.get(RunImageRow, (run_id, image_id)) is None:
        raise NotFound(f"Run {run_id} did not look at image {image_id}.")
    found = findings.detections(session, run_id, [image_id])[image_id]
    for idx in {*map(int, judged)}.difference(one.idx for one in found):
        raise Invalid(f"Run {run_id} has no detection {idx} in image {image_id}.")
    row = _kept(session, {"run_id": run_id, "image_id": image_id, "author": author})
    row.at, row.judged, row.verdict = now(), judged, sheet.verdict or ""
    row.seconds += min(decisions.MOST_SECONDS, max(0.0, sheet.seconds))
    session.flush()


def _kept(session: Session, key: Mapping[str, int | str]) -> RepeatRow:
    """The answer's row, for this transaction alone: the same may be sent twice at once."""
    empty = {"at": now(), "seconds": 0.0, "verdict": "", "judged": {}}
    engine.insert_new(session, RepeatRow, [{**key, **empty}])
    return session.get_one(RepeatRow, tuple(key.values()), with_for_update=True)


def agreement(session: Session, run_id: int) -> Agreement:
    """How well second answers agree with what stands."""
    query = select(RepeatRow).where(RepeatRow.run_id == run_id, RepeatRow.verdict != "")
    rows = session.scalars(query.order_by(RepeatRow.image_id)).all()
    pairs: list[_Pair] = []
    for start in range(0, len(rows), PAGE):
        part = rows[start : start + PAGE]
        first = decisions.standing(session, {row.image_id for row in part}, [run_id])
        for row in part:
            pairs += _pairs(row, first[row.image_id])
    return Agreement(
        kappa([(p.first, p.second) for p in pairs if not p.within and p.board]),
        kappa([(p.first, p.second) for p in pairs if not p.within and not p.board]),
        kappa([(p.first, p.second) for p in pairs if p.within and p.board]),
        kappa([(p.first, p.second) for p in pairs if p.within and not p.board]),
    )


def repeated(session: Session, run_id: int, author: str) -> int:
    """How many boards of a run a person has judged again."""
    query = select(func.count()).select_from(RepeatRow)
    of_person = (RepeatRow.run_id == run_id, RepeatRow.author == author, RepeatRow.verdict != "")
    return session.scalar(query.where(*of_person)) or 0


def kappa(pairs: Sequence[tuple[str, str]]) -> Kappa:
    """Cohen's kappa; None where chance alone would always agree."""
    total = len(pairs)
    agreed = sum(first == second for first, second in pairs)
    answers = {answer for pair in pairs for answer in pair}
    chance = sum(
        sum(first == one for first, _ in pairs) * sum(second == one for _, second in pairs)
        for one in answers
    )
    if not total or chance == total * total:
        return Kappa(total, agreed, None)
    by_chance = chance / (total * total)
    return Kappa(total, agreed, (agreed / total - by_chance) / (1 - by_chance))


def _pairs(row: RepeatRow, said: Any) -> Iterable[_Pair]:
    board = said.get(decisions.Subject(row.run_id, None, decisions.BOARD))
    if board:
        yield _Pair(board.author == row.author, True, board.verdict.value, row.verdict)
    for idx, second in row.judged.items():
        one = said.get(decisions.Subject(row.run_id, int(idx)))
        if one:
            first = Verdict.ACCEPT if one.verdict in DEFECT else one.verdict
            yield _Pair(one.author == row.author, False, first.value, second)
