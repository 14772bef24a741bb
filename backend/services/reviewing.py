"""What a review shows: the runs of a project, images with detections over labels, the wall."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, Verdict
from backend.errors import Invalid, NotFound
from backend.services import deciding, listing, lying, projects
from backend.storage import warehouse
from backend.storage.tables import DetectionRow, ImageRow, RunImageRow, RunRow

PURPOSES = ("detect", "propose", "evaluate")
MOST_RUNS = 200
MOST_TILES = 400
MOST_GROUPS = 500
RULE = "review"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run with what it found and how far people are with it."""

    run: Run
    seen: int
    detections: int
    classes: Mapping[str, int]
    reviewed: int


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An image of a run as the review draws it."""

    item: listing.Item
    run_id: int
    detections: tuple[Detection, ...]
    rejected: tuple[int, ...]
    accepted: tuple[int, ...]
    verdict: str
    decided: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tile:
    """One detection of the wall, with what it is drawn from."""

    image_id: int
    sha256: str
    width: int
    height: int
    detection: Detection
    verdict: str


def runs(session: Session, project_id: int) -> list[RunSummary]:
    """The runs of a project, newest first, finished or not."""
    query = (
        select(RunRow.id)
        .where(RunRow.project_id == project_id, RunRow.purpose.in_(PURPOSES))
        .order_by(RunRow.id.desc())
        .limit(MOST_RUNS)
    )
    return [summary(session, run_id) for run_id in session.scalars(query)]


def summary(session: Session, run_id: int) -> RunSummary:
    """One run, also while it still runs."""
    run = warehouse.get(session, run_id)
    per_class = (
        select(DetectionRow.label, func.count())
        .where(DetectionRow.run_id == run_id)
        .group_by(DetectionRow.label)
        .order_by(func.count().desc())
    )
    classes = {label: number for label, number in session.execute(per_class)}
    seen = select(func.count()).select_from(RunImageRow).where(RunImageRow.run_id == run_id)
    total = session.scalar(seen) or 0
    return RunSummary(run, total, sum(classes.values()), classes, _reviewed(session, run_id))


def project_of(session: Session, run_id: int) -> int:
    """The project a run belongs to; one over a folder or a URL has none, and nothing to review."""
    project_id = warehouse.get(session, run_id).project_id
    if project_id is None:
        raise NotFound(
            f"Run {run_id} looked at pictures of no project; there is nothing to review."
        )
    return project_id


def items(session: Session, run_id: int, image_ids: Collection[int]) -> tuple[Reviewed, ...]:
    """Images of a run, in this order, with detections, labels and decisions."""
    wanted = list(image_ids)
    found = warehouse.detections(session, run_id, wanted)
    standing = deciding.standing(session, wanted, [run_id])
    return tuple(
        _reviewed_item(item, run_id, found[item.image.id], standing[item.image.id])
        for item in lying.laid(session, listing.items(session, wanted))
    )


def groups(session: Session, run_id: int) -> list[str]:
    """The lots of the project that a run belongs to, by name."""
    query = (
        select(ImageRow.group)
        .where(
            ImageRow.project_id == project_of(session, run_id),
            ImageRow.group != "",
            ImageRow.is_golden.is_(False),
            ImageRow.deleted.is_(None),
        )
        .distinct()
        .order_by(ImageRow.group)
        .limit(MOST_GROUPS)
    )
    return list(session.scalars(query))


def wall(
    session: Session, run_id: int, label: str, offset: int = 0, limit: int = 96
) -> tuple[int, tuple[Tile, ...]]:
    """Detections of one class, the most doubtful first: scores nearest to one half."""
    if not 0 < limit <= MOST_TILES or not 0 <= offset <= 100_000:
        raise Invalid(f"The wall shows at most {MOST_TILES} detections at a time.")
    of_class = (DetectionRow.run_id == run_id, DetectionRow.label == label)
    total = session.scalar(select(func.count()).select_from(DetectionRow).where(*of_class)) or 0
    most = offset + limit
    # Two walks along the index, away from one half, instead of sorting everything.
    above = select(DetectionRow).where(*of_class, DetectionRow.score >= 0.5)
    below = select(DetectionRow).where(*of_class, DetectionRow.score < 0.5)
    rows = [
        *session.scalars(above.order_by(DetectionRow.score.asc()).limit(most)),
        *session.scalars(below.order_by(DetectionRow.score.desc()).limit(most)),
    ]
    rows.sort(key=lambda row: (abs(row.score - 0.5), row.image_id, row.idx))
    return total, _tiles(session, run_id, rows[offset:most])


def rule(session: Session, project_id: int) -> dict[str, Any]:
    """When a board fails: the least score of each class that counts, and the least severity.

    `repeats` is the share of boards that somebody judges a second time, unknowingly.
    """
    kept = projects.options(session, project_id).get(RULE, {})
    return {"threshold": 0.5, "thresholds": {}, "severity": 1, "repeats": 0.0, **kept}


def set_rule(session: Session, project_id: int, wanted: Mapping[str, Any]) -> None:
    """Change the project's rule for all who review it."""
    projects.set_option(session, project_id, RULE, dict(wanted))


def _reviewed_item(
    item: listing.Item,
    run_id: int,
    found: tuple[Detection, ...],
    standing: Mapping[deciding.Subject, deciding.Standing],
) -> Reviewed:
    board = standing.get(deciding.Subject(run_id, None, deciding.BOARD))
    return Reviewed(
        item,
        run_id,
        found,
        tuple(deciding.numbers(standing, run_id, Verdict.FALSE_CALL)),
        tuple(deciding.numbers(standing, run_id, Verdict.ACCEPT)),
        board.verdict if board else "",
        {s.idx: one.author for s, one in standing.items() if s.idx is not None},
    )


def _reviewed(session: Session, run_id: int) -> int:
    boards = deciding.boards(run_id, deciding.BOARD_VERDICTS).subquery()
    return session.scalar(select(func.count()).select_from(boards)) or 0


def _tiles(session: Session, run_id: int, rows: list[DetectionRow]) -> tuple[Tile, ...]:
    ids = {row.image_id for row in rows}
    query = select(ImageRow.id, ImageRow.sha256, ImageRow.width, ImageRow.height)
    pictures = {id_: rest for id_, *rest in session.execute(query.where(ImageRow.id.in_(ids)))}
    standing = deciding.standing(session, ids, [run_id])
    tiles = []
    for row in rows:
        if row.image_id not in pictures:
            continue
        sha256, width, height = pictures[row.image_id]
        said = standing[row.image_id].get(deciding.Subject(run_id, row.idx))
        one = Detection(row.x1, row.y1, row.x2, row.y2, row.label, row.score, row.idx)
        verdict = said.verdict.value if said else ""
        tiles.append(Tile(row.image_id, sha256, width, height, one, verdict))
    return tuple(tiles)
