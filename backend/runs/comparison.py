"""Two runs over the same images: which boxes the second gained and which it lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from backend import matching
from backend.domain import Box, Detection
from backend.storage import findings
from backend.storage.tables import RunImageRow

IOU = 0.5
MOST = 500


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An image that two runs see differently."""

    image_id: int
    name: str
    sha256: str
    width: int
    height: int
    gained: tuple[Detection, ...]
    lost: tuple[Detection, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Part of the images that both runs saw; after `next_id` comes the next part, 0: none."""

    images: int
    same: int
    changes: tuple[Disagreement, ...]
    next_id: int


def compare(
    session: Session, before: int, after: int, least: float = 0.5, start: int = 0, limit: int = MOST
) -> Comparison:
    """What run `after` found that run `before` did not, and the other way round."""
    seen = _shared(session, before, after, start, min(limit, MOST))
    ids = [one[0] for one in seen]
    first = findings.detections(session, before, ids)
    second = findings.detections(session, after, ids)
    changes = []
    for image_id, name, sha256, width, height in seen:
        gained, lost = _change(_kept(first[image_id], least), _kept(second[image_id], least))
        if gained or lost:
            changes.append(Disagreement(image_id, name, sha256, width, height, gained, lost))
    more = ids[-1] if len(ids) == min(limit, MOST) else 0
    return Comparison(len(ids), len(ids) - len(changes), tuple(changes), more)


def _change(
    before: Sequence[Detection], after: Sequence[Detection]
) -> tuple[tuple[Detection, ...], tuple[Detection, ...]]:
    there = [Box(d.x1, d.y1, d.x2, d.y2, d.label) for d in before]
    matched = matching.match_boxes(after, there, IOU)
    gained = tuple(d for d, found in zip(after, matched.detections, strict=True) if found < 0)
    lost = tuple(d for d, found in zip(before, matched.truths, strict=True) if found < 0)
    return gained, lost


def _kept(found: Sequence[Detection], least: float) -> list[Detection]:
    return [one for one in found if one.score >= least]


def _shared(
    session: Session, before: int, after: int, start: int, limit: int
) -> list[tuple[int, str, str, int, int]]:
    row, other = RunImageRow, aliased(RunImageRow)
    query = (
        select(row.image_id, row.name, row.sha256, row.width, row.height)
        .join(other, (other.run_id == after) & (other.image_id == RunImageRow.image_id))
        .where(
            RunImageRow.run_id == before,
            RunImageRow.image_id > start,
            RunImageRow.status == "ok",
            other.status == "ok",
        )
        .order_by(RunImageRow.image_id)
        .limit(limit)
    )
    return [tuple(told) for told in session.execute(query)]
