"""Where the boxes of a save come from and what the save did: told here, whatever a page claims."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from backend.domain import Box, DetectionRef, Origin, State
from backend.errors import Invalid
from backend.labels import labelling
from backend.models.choice import GOLDEN
from backend.storage import engine
from backend.storage.tables import DetectionRow, ImageRow, RunImageRow, RunRow

# A box that was deleted and comes back is looked for in so many older boxes of its image.
MOST_OLDER = 20_000
PART = 1000


def traced(
    session: Session, image_id: int, boxes: Sequence[Box], before: Iterable[Box], author: str
) -> tuple[Box, ...]:
    """The boxes with the origin and author that they had, or, where they are new, now get."""
    known = {box.id: box for box in before}
    missing = {box.id for box in boxes if not box.detection and box.id not in known}
    known |= _older(session, image_id, missing)
    roots = {ref for box in boxes if (ref := _new_root(box, known)) is not None}
    families = _families(session, image_id, roots)
    return tuple(_traced(box, known.get(box.id), families, author) for box in boxes)


def refuse_foreign(session: Session, image_id: int, run_id: int) -> None:
    """Decisions are on what a run of the image's own project saw in it."""
    query = (
        select(RunImageRow.run_id)
        .join(RunRow, RunRow.id == RunImageRow.run_id)
        .join(ImageRow, ImageRow.id == RunImageRow.image_id)
        .where(
            RunRow.id == run_id, ImageRow.id == image_id, ImageRow.project_id == RunRow.project_id
        )
    )
    if session.scalar(query) is None:
        raise Invalid(f"Run {run_id} has not looked at this image; reload the page.")


def deed(before: Iterable[Box], boxes: Iterable[Box], state: State | None, was: str) -> str:
    """What a save did, in a few words."""
    old, new = {box.id: box for box in before}, {box.id: box for box in boxes}
    fresh = [box for box in new.values() if box.id not in old]
    kept = [(old[id_], box) for id_, box in new.items() if id_ in old]
    counted = {
        "draw": sum(box.detection is None for box in fresh),
        "accept": sum(box.detection is not None for box in fresh),
        "delete": len(old.keys() - new.keys()),
        "move": sum(_corners(a) != _corners(b) for a, b in kept),
        "class": sum(a.label != b.label for a, b in kept),
        str(state): int(state in (State.DONE, State.SKIPPED) and state != was),
    }
    words = [f"{word} {n}" if n > 1 else word for word, n in counted.items() if n]
    return ", ".join(words) or "edit"


def _corners(box: Box) -> tuple[float, float, float, float]:
    return box.x1, box.y1, box.x2, box.y2


def _new_root(box: Box, known: Mapping[str, Box]) -> DetectionRef | None:
    """The detection that a box names and did not name before."""
    old = known.get(box.id)
    return None if old and old.detection == box.detection else box.detection


def _traced(box: Box, old: Box | None, families: Mapping[DetectionRef, str], author: str) -> Box:
    if old is not None:
        return replace(box, origin=old.origin, author=old.author)
    if box.detection is None:
        # An author stands in what the house itself brings back, never in what a page sends.
        return box if box.author else replace(box, origin=Origin.HUMAN, author=author)
    golden = families[box.detection] == GOLDEN
    return replace(box, origin=Origin.GOLDEN if golden else Origin.MODEL, author=author)


def _families(
    session: Session, image_id: int, roots: Collection[DetectionRef]
) -> dict[DetectionRef, str]:
    """The family of the model behind each detection, all of which the image's project has."""
    row = DetectionRow
    query = (
        select(row.run_id, row.image_id, row.idx, RunRow.family)
        .join(RunRow, RunRow.id == row.run_id)
        .join(ImageRow, ImageRow.project_id == RunRow.project_id)
        .where(ImageRow.id == image_id)
    )
    found: dict[DetectionRef, str] = {}
    for part in engine.batches([(one.run, one.image, one.idx) for one in roots], PART):
        of_part = query.where(tuple_(row.run_id, row.image_id, row.idx).in_(part))
        for run, image, idx, family in session.execute(of_part):
            found[DetectionRef(run, image, idx)] = family
    for ref in roots:
        if ref not in found:
            raise Invalid(
                f"Run {ref.run} has no detection {ref.idx} in image {ref.image}; reload the page."
            )
    return found


def _older(session: Session, image_id: int, missing: set[str]) -> dict[str, Box]:
    """Boxes that were deleted, as their newest revision has them."""
    found: dict[str, Box] = {}
    looked_at, version = 0, 0
    while missing - found.keys() and looked_at < MOST_OLDER:
        revisions = labelling.history(session, image_id, before=version, most=20)
        for revision in revisions:
            looked_at += len(revision.boxes)
            found |= {
                box.id: box for box in revision.boxes if box.id in missing and box.id not in found
            }
        if not revisions or revisions[-1].version == 1:
            break
        version = revisions[-1].version
    return found
