"""What a training is told where nobody says it: by its family and by the size of the pictures."""

from __future__ import annotations

from typing import Any

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from backend import families
from backend.storage.tables import ImageRow

SMALL = 96  # a longer side up to this is a small picture's
LEAST = 32
STEP = 8
MAY_BE_LARGER = 0.05
LOOKED_AT = 400  # pictures


def parameters(session: Session, project_id: int, family: str, variant: str = "") -> dict[str, Any]:
    """The defaults of a family; where almost all pictures are small, those that it has for such.

    Who names a variant gets what belongs to it.
    """
    chosen = families.find(family)
    small = str(chosen.small.get("variant", ""))
    if not small or variant not in ("", small):
        return {**chosen.defaults, **({"variant": variant} if variant else {})}
    side = _side(session, project_id)
    if not side and not variant:
        return dict(chosen.defaults)
    return {**chosen.defaults, **chosen.small, "image_size": _input(side or SMALL)}


def _side(session: Session, project_id: int) -> int:
    """The longest side of the small pictures; 0 where more than a few are larger.

    Told by some, those whose bytes have the lowest hashes: they are as good as drawn, and stay the
    same. So the pages that ask it every few seconds count no project through.
    """
    row = ImageRow
    some = (
        select(row.width, row.height)
        .where(row.project_id == project_id, row.deleted.is_(None))
        .order_by(row.sha256, row.id)
        .limit(LOOKED_AT)
        .subquery()
    ).c
    side = case((some.width > some.height, some.width), else_=some.height)
    query = select(
        func.count(), func.count(case((side > SMALL, 1))), func.max(case((side <= SMALL, side)))
    )
    images, larger, longest = session.execute(query).one()
    return int(longest or 0) if larger <= images * MAY_BE_LARGER else 0


def _input(side: int) -> int:
    """What the network is given: no less than it can halve, in steps."""
    return max(LEAST, -(-side // STEP) * STEP)
