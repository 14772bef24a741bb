"""What a second stage saves in a run: false calls with and without it, as many defects escaping."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import families, matching
from backend.review import tally
from backend.storage import engine, findings
from backend.storage.tables import BoxRow, DetectionRow, RunImageRow

ESCAPES = 0.01
SAME = 0.33  # overlap from which a place shows a defect, whatever both are called
ONCE = 0.5  # overlap from which two detections are one place
PAGE = 500
Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Filtered:
    """False calls an image while at most the share `escapes` of the defects escapes.

    `first` is by the detector's scores alone, `both` by those of both stages; None where more
    defects escape however low the score.
    """

    escapes: float
    images: int
    defects: int
    first: float | None
    both: float | None


@dataclass(slots=True)
class Count:
    """The scores of the defects that were found, and of the places that are none."""

    found: list[float] = field(default_factory=list)
    false: list[float] = field(default_factory=list)

    def add(self, places: Rows, scores: Rows, truths: Rows) -> None:
        """One image: corners, a score each, and the corners of its labels."""
        order = np.argsort(-scores, kind="stable")
        kept = _once(places[order])
        places, scores = places[order][kept], scores[order][kept]
        overlap = matching.overlaps(places, truths)
        chosen = matching.assign(overlap, (SAME,), np.zeros(len(truths), np.bool_))[0]
        self.found += scores[chosen >= 0].tolist()
        self.false += scores[chosen < 0].tolist()

    def false_calls(self, defects: int, escapes: float) -> int | None:
        """How many there are at the highest score at which no more escape."""
        found, false = np.array(self.found), np.array(self.false)
        return matching.false_calls(found, false, defects, escapes)


def figures(session: Session, run_id: int) -> Filtered | None:
    """Of a run of a second stage, over its labelled images; None for any other run."""
    run = findings.get(session, run_id)
    if run.project_id is None or not families.staged(run.family):
        return None
    ids = tally.counted(session, run_id, run.project_id)
    first, both, defects = Count(), Count(), 0
    for part in engine.batches(ids, PAGE):
        truths = _truths(session, part)
        for image_id, rows in _found(session, run_id, part).items():
            there = np.array(truths[image_id], np.float64).reshape(-1, 4)
            first.add(rows[:, :4], rows[:, 5], there)
            both.add(rows[:, :4], rows[:, 4], there)
            defects += len(there)
    per_image = [_each(one.false_calls(defects, ESCAPES), len(ids)) for one in (first, both)]
    return Filtered(ESCAPES, len(ids), defects, *per_image)


def _found(session: Session, run_id: int, ids: Sequence[int]) -> dict[int, Rows]:
    """Corners, score, and the first stage's score of the detections of each image."""
    seen = select(RunImageRow.image_id, RunImageRow.facts)
    seen = seen.where(RunImageRow.run_id == run_id, RunImageRow.image_id.in_(ids))
    stages = {image: facts.get(findings.STAGES, []) for image, facts in session.execute(seen)}
    one = DetectionRow
    query = select(one.image_id, one.idx, one.x1, one.y1, one.x2, one.y2, one.score)
    query = query.where(one.run_id == run_id, one.image_id.in_(ids))
    found: dict[int, list[tuple[float, ...]]] = {image_id: [] for image_id in ids}
    for image_id, idx, *row in session.execute(query.order_by(one.image_id, one.idx)):
        found[image_id].append((*row, stages[image_id][idx][2]))
    return {image: np.array(rows, np.float64).reshape(-1, 6) for image, rows in found.items()}


def _truths(session: Session, ids: Sequence[int]) -> defaultdict[int, list[tuple[float, ...]]]:
    query = select(BoxRow.image_id, BoxRow.x1, BoxRow.y1, BoxRow.x2, BoxRow.y2)
    found: defaultdict[int, list[tuple[float, ...]]] = defaultdict(list)
    for image_id, *corners in session.execute(query.where(BoxRow.image_id.in_(ids))):
        found[image_id].append(tuple(corners))
    return found


def _once(places: Rows) -> list[int]:
    """The best of those that lie on each other, best first."""
    overlap = matching.overlaps(places, places)
    kept: list[int] = []
    for at in range(len(places)):
        if not (overlap[at, kept] >= ONCE).any():
            kept.append(at)
    return kept


def _each(count: int | None, images: int) -> float | None:
    return None if count is None else count / images
