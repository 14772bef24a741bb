"""What closes an image of a review: the board's verdict, or the answer of a classified picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from backend import families
from backend.domain import Verdict
from backend.review.deciding import decisions
from backend.storage import findings
from backend.storage.tables import DecisionRow

ANSWERS = (Verdict.ACCEPT, Verdict.CORRECT, Verdict.FALSE_CALL)
ANSWER = 0  # the number of the one answer of a picture


def by_answer(session: Session, run_id: int) -> bool:
    """Whether a run gives each picture one answer, so that its images have no board's verdict."""
    return families.answers_once(findings.get(session, run_id).family)


def closed(session: Session, run_id: int) -> Select[tuple[int]]:
    """The images of a run that somebody has closed."""
    if by_answer(session, run_id):
        return answered(run_id, ANSWERS)
    return decisions.boards(run_id, decisions.BOARD_VERDICTS)


def is_open(session: Session, run_id: int, image_id: Any) -> ColumnElement[bool]:
    """Whether nobody has closed an image; quick where few images are asked for."""
    if by_answer(session, run_id):
        return answer_is_open(run_id, image_id)
    return decisions.board_is_open(run_id, image_id)


def answered(run_id: int, verdicts: Sequence[Verdict]) -> Select[tuple[int]]:
    """The classified images of a run whose answer stands so."""
    row = DecisionRow
    newest = (
        select(func.max(row.id))
        .where(row.run_id == run_id, row.idx == ANSWER)
        .group_by(row.image_id)
    )
    return select(row.image_id).where(
        row.id.in_(newest), row.undoes.is_(None), row.verdict.in_(verdicts)
    )


def answer_is_open(run_id: int, image_id: Any, idx: Any = ANSWER) -> ColumnElement[bool]:
    """Whether nothing stands of the answer on an image, or of one of its detections."""
    newest = (
        select(func.coalesce(DecisionRow.undoes, -1))
        .where(
            DecisionRow.run_id == run_id,
            DecisionRow.idx == idx,
            DecisionRow.image_id == image_id,
        )
        .order_by(DecisionRow.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    return func.coalesce(newest, 0) >= 0
