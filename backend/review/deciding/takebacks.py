"""What a person can still take back of a review, also after a reload: told from the events."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import Revision, Verdict
from backend.labels import images, labelling
from backend.review.deciding import decisions
from backend.storage.tables import DecisionRow

MOST_IMAGES = 20
MOST_STEPS = 50


def last(session: Session, run_id: int, author: str) -> int:
    """The image of a run on which a person last said what can be taken back; 0: none."""
    newest = func.max(DecisionRow.id)
    query = (
        select(DecisionRow.image_id)
        .where(
            DecisionRow.run_id == run_id,
            DecisionRow.author == author,
            images.there(DecisionRow.image_id),
        )
        .group_by(DecisionRow.image_id)
        .order_by(newest.desc())
        .limit(MOST_IMAGES)
    )
    found = (id_ for id_ in session.scalars(query) if past(session, run_id, id_, author))
    return next(found, 0)


def past(session: Session, run_id: int, image_id: int, author: str) -> tuple[decisions.Sheet, ...]:
    """The sheets that undoing goes back to, the nearest last.

    What another person saved, and what was saved before the review, is not taken back.
    """
    history = labelling.history(session, image_id)
    begun = select(func.min(DecisionRow.revision)).where(
        DecisionRow.run_id == run_id,
        DecisionRow.image_id == image_id,
        DecisionRow.author == author,
    )
    first = session.scalar(begun)
    if first is None:
        return ()
    versions = _stack(reversed(history), author, first)
    return tuple(_sheet(session, run_id, image_id, one) for one in versions[-MOST_STEPS:])


def _stack(revisions: Iterable[Revision], author: str, first: int) -> list[int]:
    """The versions that were left by an edit and not returned to."""
    back: list[int] = []
    forth: list[int] = []
    now = 0
    for one in revisions:
        if one.author != author or one.version < first:
            back, forth = [], []
        elif one.action == "undo" and back:
            forth.append(now)
            back.pop()
        elif one.action == "redo" and forth:
            back.append(now)
            forth.pop()
        else:
            back.append(now)
            forth = []
        now = one.version
    return back


def _sheet(session: Session, run_id: int, image_id: int, version: int) -> decisions.Sheet:
    """All that was said of an image at a version."""
    then = labelling.revision(session, image_id, version)
    standing = decisions.standing(session, [image_id], [run_id], until=version)[image_id]
    board = standing.get(decisions.Subject(run_id, None, decisions.BOARD))
    return decisions.Sheet(
        version,
        then.boxes,
        then.state,
        then.label,
        run_id=run_id,
        rejected=tuple(decisions.numbers(standing, run_id, Verdict.FALSE_CALL)),
        accepted=tuple(decisions.numbers(standing, run_id, Verdict.ACCEPT)),
        verdict=board.verdict if board else None,
    )
