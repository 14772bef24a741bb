"""Saves as pages and tables make them, and what follows of them: the golden board learns by itself.

Labels know nothing of trainings, and decisions nothing either; here they are put together.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.domain import Revision, State
from backend.labels import bulk, images
from backend.models import growth
from backend.review.deciding import decisions, whole_pictures
from backend.review.deciding.decisions import Sheet
from backend.storage.writers import parts


def save(session: Session, image_id: int, sheet: Sheet, author: str) -> Revision:
    """Save an image, append the decisions that this implies, and let the project learn of it."""
    sheet = whole_pictures.said(session, image_id, sheet)
    saved = decisions.save(session, image_id, sheet, author)
    if sheet.state is State.DONE:
        growth.after_label(session, images.get(session, image_id).project_id)
    return saved


def change(
    begin: parts.Begin,
    project_id: int,
    wanted: bulk.Change,
    image_ids: Sequence[int],
    author: str,
) -> bulk.Changed:
    """Change many images as `bulk.change` does, and let the project learn of their states."""
    done = bulk.change(begin, project_id, wanted, image_ids, author)
    if wanted.action == "state":
        with begin() as session:
            growth.after_label(session, project_id)
    return done
