"""How goldens lie on images, as the newest comparison of each has found it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import families
from backend.labels.gallery import GalleryImage
from backend.storage.tables import RunImageRow, RunRow

NEWEST = 30
Lie = tuple[float, ...]


def laid(session: Session, items: Sequence[GalleryImage]) -> tuple[GalleryImage, ...]:
    """The images, each with how the golden that it has now was found to lie.

    Six numbers take a place of the image to the same place of the golden, stretched to its size.
    """
    goldens = {one.image.id: one.golden_sha256 for one in items if one.golden_sha256}
    if not goldens:
        return tuple(items)
    query = (
        select(RunImageRow.image_id, RunImageRow.facts)
        .where(
            RunImageRow.run_id.in_(_runs(session, items[0].image.project_id)),
            RunImageRow.image_id.in_(goldens),
            RunImageRow.status == "ok",
        )
        .order_by(RunImageRow.run_id)
    )
    lies: dict[int, Lie] = {
        image_id: tuple(facts["lie"])
        for image_id, facts in session.execute(query)
        if _holds(facts, goldens[image_id])
    }
    return tuple(replace(one, lie=lies.get(one.image.id, ())) for one in items)


def _runs(session: Session, project_id: int) -> Sequence[int]:
    runs = (
        select(RunRow.id)
        .where(RunRow.project_id == project_id, RunRow.family.in_(families.with_golden()))
        .order_by(RunRow.id.desc())
        .limit(NEWEST)
    )
    return session.scalars(runs).all()


def _holds(facts: Mapping[str, object], golden: str) -> bool:
    return facts.get("golden") == golden and bool(facts.get("lie"))
