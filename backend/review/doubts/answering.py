"""What people say of a label in doubt: mend it as the model says, let it be, or take that back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import delete
from sqlalchemy.orm import Session

from backend.domain import Box
from backend.errors import Refused
from backend.labels import labelling
from backend.review.deciding import saves
from backend.review.deciding.decisions import Sheet
from backend.review.doubts import inbox
from backend.review.doubts.inbox import Held
from backend.review.doubts.scoring import Kind
from backend.storage.tables import DismissalRow, DoubtRow
from backend.storage.types import now

FIXED, DISMISSED = "fixed", "dismissed"
DEEDS = {
    Kind.MISSING: "add a missing label",
    Kind.SPURIOUS: "remove a label in doubt",
    Kind.CLASS: "change the class of a label in doubt",
    Kind.LOOSE: "tighten a label in doubt",
}


def fix(session: Session, doubt_id: int, author: str) -> Held:
    """Make the label what the model says, as a revision of its own; said again, it is answered."""
    row = inbox.get(session, doubt_id)
    if not _said(row, FIXED, author):
        version, doubt = _open(session, row)
        boxes = labelling.boxes_of(session, [row.image_id])[row.image_id]
        sheet = Sheet(version, _mended(doubt, boxes, author), action=DEEDS[doubt.kind])
        row.revision = saves.save(session, row.image_id, sheet, author).version
        _answer(session, row, FIXED, author)
    return inbox.shown(session, [row])[0]


def dismiss(session: Session, doubt_id: int, author: str) -> Held:
    """The labels are right there: it is not raised again, however often the picture comes in."""
    row = inbox.get(session, doubt_id)
    if not _said(row, DISMISSED, author):
        _, doubt = _open(session, row)
        said = {"kind": row.kind, "label": row.label, "found": row.found}
        sha256 = doubt.image.sha256
        session.add(DismissalRow(project_id=row.project_id, sha256=sha256, author=author, **said))
        _answer(session, row, DISMISSED, author)
    return inbox.shown(session, [row])[0]


def take_back(session: Session, doubt_id: int, author: str) -> Held:
    """Undo an answer: the label is what it was, and in doubt again."""
    row = inbox.get(session, doubt_id)
    if row.answer == FIXED:
        _restore(session, row, author)
    elif row.answer == DISMISSED:
        _forget(session, row)
    else:
        raise Refused("Nobody has answered this doubt, so there is nothing to take back.")
    row.answer, row.author, row.answered, row.revision = "", "", None, None
    session.flush()
    return inbox.shown(session, [row])[0]


def _said(row: DoubtRow, answer: str, author: str) -> bool:
    """Whether the same person has said the same: what they were answered did not arrive."""
    return row.answer == answer and row.author == author


def _open(session: Session, row: DoubtRow) -> tuple[int, Held]:
    """The version that the doubt is about now, which nobody changes before it is answered."""
    if row.answer:
        raise Refused(f"{row.author or 'Somebody'} has {row.answer} this one already.")
    version = labelling.version_of(session, row.image_id)
    doubt = inbox.standing(session, row)
    if doubt is None:
        raise Refused("The label was changed in the meantime, so it is in doubt no more.")
    return version, doubt


def _answer(session: Session, row: DoubtRow, answer: str, author: str) -> None:
    row.answer, row.author, row.answered = answer, author, now()
    session.flush()


def _mended(doubt: Held, boxes: Sequence[Box], author: str) -> tuple[Box, ...]:
    found, label = doubt.found, doubt.label
    if label is None and found is not None:
        return (*boxes, replace(found, id="", author=author))
    return tuple(
        mended
        for box in boxes
        for mended in (_changed(doubt, box) if label and box.id == label.id else [box])
    )


def _changed(doubt: Held, box: Box) -> list[Box]:
    found = doubt.found
    if found is None:
        return []
    if doubt.kind is Kind.CLASS:
        return [replace(box, label=found.label, class_id=found.class_id)]
    return [replace(box, x1=found.x1, y1=found.y1, x2=found.x2, y2=found.y2)]


def _restore(session: Session, row: DoubtRow, author: str) -> None:
    """Bring back the labels from before; what was mended after it and taken back counts not."""
    mended = row.revision or 0
    version = labelling.version_of(session, row.image_id)
    after = labelling.revision(session, row.image_id, mended).boxes
    if _places(labelling.boxes_of(session, [row.image_id])[row.image_id]) != _places(after):
        raise Refused(
            "The image was changed again since, so this is not taken back; its history is on "
            "Annotate."
        )
    before = labelling.revision(session, row.image_id, mended - 1).boxes
    sheet = Sheet(version, before, action=f"restore v{mended - 1}")
    saves.save(session, row.image_id, sheet, author)


def _places(boxes: Sequence[Box]) -> set[tuple[str, int | None, float, float, float, float]]:
    """What is where, whoever has put it there."""
    return {(box.id, box.class_id, box.x1, box.y1, box.x2, box.y2) for box in boxes}


def _forget(session: Session, row: DoubtRow) -> None:
    image = inbox.shown(session, [row])[0].image
    said = delete(DismissalRow).where(
        DismissalRow.project_id == row.project_id,
        DismissalRow.sha256 == image.sha256,
        DismissalRow.kind == row.kind,
        DismissalRow.label == row.label,
        DismissalRow.found == row.found,
    )
    session.execute(said.execution_options(synchronize_session=False))
