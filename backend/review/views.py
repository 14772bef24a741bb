"""What a review shows: the runs of a project, images with detections over labels, the wall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session
from typing_extensions import TypedDict

from backend import families
from backend.domain import Detection, Run, Verdict
from backend.errors import Conflict, Invalid, NotFound
from backend.labels import gallery, images
from backend.projects import catalogue
from backend.review.deciding import closing, decisions
from backend.runs import placements
from backend.storage import findings
from backend.storage.classes import class_names
from backend.storage.tables import DecisionRow, DetectionRow, ImageRow, RunImageRow, RunRow

PURPOSES = ("detect", "propose", "evaluate")
MOST_RUNS = 200
MOST_TILES = 400
MOST_GROUPS = 500
RULE = "review"
NO_RULE = {"threshold": 0.5, "severity": 1, "repeats": 0.0, "version": 0, "author": ""}


class ReviewRule(TypedDict):
    """When a board fails; `repeats` is the share of boards that somebody judges twice."""

    version: int
    author: str
    threshold: float
    thresholds: dict[str, float]
    severity: int
    repeats: float


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

    item: gallery.GalleryImage
    run_id: int
    detections: tuple[Detection, ...]
    rejected: tuple[int, ...]
    accepted: tuple[int, ...]
    verdict: str
    verdict_by: str = ""
    decided: Mapping[int, str] = field(default_factory=dict)
    chances: Mapping[str, float] = field(default_factory=dict)


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
        select(RunRow)
        .where(RunRow.project_id == project_id, RunRow.purpose.in_(PURPOSES))
        .order_by(RunRow.id.desc())
        .limit(MOST_RUNS)
    )
    found = [findings.run(row) for row in session.scalars(query)]
    reviewed = _reviewed(session, found)
    return [_summary(session, run, reviewed.get(run.id, 0)) for run in found]


def summary(session: Session, run_id: int) -> RunSummary:
    """One run, also while it still runs."""
    run = findings.get(session, run_id)
    return _summary(session, run, _reviewed(session, [run]).get(run_id, 0))


def project_of(session: Session, run_id: int) -> int:
    """The project a run belongs to; one over a folder or a URL has none, and nothing to review."""
    project_id = findings.get(session, run_id).project_id
    if project_id is None:
        raise NotFound(
            f"Run {run_id} looked at pictures of no project; there is nothing to review."
        )
    return project_id


def refuse_other_project(session: Session, run_id: int, other: int) -> None:
    """Two runs are compared within one project."""
    if project_of(session, run_id) != project_of(session, other):
        raise Invalid(f"The runs {other} and {run_id} belong to different projects.")


def refuse_unseen(session: Session, run_id: int, image_id: int) -> None:
    """Refuse an image that the run has not seen in its own project."""
    if image_id not in _of_run(session, run_id, [image_id]):
        raise NotFound(f"Run {run_id} has not seen an image {image_id}.")


def items(session: Session, run_id: int, image_ids: Collection[int]) -> tuple[Reviewed, ...]:
    """Images of a run, in this order, with detections, labels and decisions."""
    there = _of_run(session, run_id, image_ids)
    wanted = [image_id for image_id in image_ids if image_id in there]
    found = findings.detections(session, run_id, wanted)
    standing = decisions.standing(session, wanted, [run_id])
    run = findings.get(session, run_id)
    once = families.answers_once(run.family)
    chances = findings.chances(session, run, wanted) if once else {}
    return tuple(
        replace(
            _reviewed_item(item, run_id, found[item.image.id], standing[item.image.id]),
            chances=chances.get(item.image.id, {}),
        )
        for item in placements.laid(session, gallery.items(session, wanted))
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
    most, total = offset + limit, 0
    rows: list[DetectionRow] = []
    for one in class_names.of_run(session, run_id).detected([label]):
        of_class = (*_shown(run_id), one)
        count = select(func.count()).select_from(DetectionRow)
        total += session.scalar(count.where(*of_class)) or 0
        # Two walks along the index, away from one half, instead of sorting everything.
        above = select(DetectionRow).where(*of_class, DetectionRow.score >= 0.5)
        below = select(DetectionRow).where(*of_class, DetectionRow.score < 0.5)
        rows += session.scalars(above.order_by(DetectionRow.score.asc()).limit(most))
        rows += session.scalars(below.order_by(DetectionRow.score.desc()).limit(most))
    rows.sort(key=lambda row: (abs(row.score - 0.5), row.image_id, row.idx))
    return total, tiles(session, run_id, rows[offset:most])


def wall_classes(session: Session, run_id: int) -> dict[str, int]:
    """How many detections of each class the wall has, the most first."""
    return _classes(session, run_id, _shown(run_id))


def rule(session: Session, project_id: int) -> ReviewRule:
    """The rule of a project as it stands."""
    kept = dict(catalogue.options(session, project_id).get(RULE, {}))
    own = _named(kept.pop("thresholds", {}), class_names.of(session, project_id))
    return cast(ReviewRule, {**NO_RULE, **kept, "thresholds": own})


def set_rule(
    session: Session, project_id: int, wanted: Mapping[str, Any], version: int, author: str
) -> ReviewRule:
    """Change the project's rule for all who review it; `version` is the one the person has seen.

    Raises Conflict when somebody else changed it in between.
    """
    catalogue.lock(session, project_id)
    stands = rule(session, project_id)
    if stands["version"] != version:
        who = stands["author"] or "Somebody"
        raise Conflict(
            f"{who} has changed the rule in the meantime; yours was not saved over theirs.", stands
        )
    names = class_names.of(session, project_id)
    kept = {
        str(class_id): value
        for name, value in wanted.get("thresholds", {}).items()
        if (class_id := names.id(name)) is not None
    }
    said = {**wanted, "thresholds": kept, "version": version + 1, "author": author}
    catalogue.set_option(session, project_id, RULE, said)
    return rule(session, project_id)


def _found(session: Session, run: Run) -> dict[str, int]:
    """How many detections there are of each class as it is called today, the most first."""
    names, found = class_names.of(session, run.project_id), Counter[str]()
    for class_id, label, number in findings.found(session, run):
        found[names.name(class_id, label)] += number
    return dict(found.most_common())


def _classes(session: Session, run_id: int, where: Iterable[ColumnElement[bool]]) -> dict[str, int]:
    """How many detections there are of each class, the most first."""
    row, names, found = DetectionRow, class_names.of_run(session, run_id), Counter[str]()
    # Apart, so that an index alone answers the first.
    known = select(row.class_id, func.count()).where(*where, row.class_id.is_not(None))
    for class_id, number in session.execute(known.group_by(row.class_id)):
        found[names.name(class_id)] += number
    others = select(row.label, func.count()).where(*where, row.class_id.is_(None))
    for label, number in session.execute(others.group_by(row.label)):
        found[names.today(label)] += number
    return dict(found.most_common())


def _named(kept: Mapping[str, float], names: class_names.Naming) -> dict[str, float]:
    """Thresholds by name; a class keeps its own, else has that of what was merged into it."""
    own = {int(one): value for one, value in kept.items() if int(one) in names.own}
    merged = {names.name(one): value for one, value in own.items()}
    return merged | {
        names.name(one): value for one, value in own.items() if names.stands[one] == one
    }


def _of_run(session: Session, run_id: int, image_ids: Collection[int]) -> set[int]:
    """Those of the images that the run has seen, in its own project."""
    query = (
        select(ImageRow.id)
        .join(RunImageRow, RunImageRow.image_id == ImageRow.id)
        .join(RunRow, RunRow.id == RunImageRow.run_id)
        .where(
            RunRow.id == run_id,
            RunRow.project_id == ImageRow.project_id,
            ImageRow.id.in_(image_ids),
        )
    )
    return set(session.scalars(query))


def _reviewed_item(
    item: gallery.GalleryImage,
    run_id: int,
    found: tuple[Detection, ...],
    standing: Mapping[decisions.Subject, decisions.Standing],
) -> Reviewed:
    board = standing.get(decisions.Subject(run_id, None, decisions.BOARD))
    return Reviewed(
        item,
        run_id,
        found,
        tuple(decisions.numbers(standing, run_id, Verdict.FALSE_CALL)),
        tuple(decisions.numbers(standing, run_id, Verdict.ACCEPT)),
        board.verdict if board else "",
        board.author if board else "",
        {s.idx: one.author for s, one in standing.items() if s.idx is not None},
    )


def _shown(run_id: int) -> tuple[ColumnElement[bool], ...]:
    """Detections that a sweep can save: none of an image that was put away."""
    return DetectionRow.run_id == run_id, images.there(DetectionRow.image_id)


def _summary(session: Session, run: Run, reviewed: int) -> RunSummary:
    """A finished run has kept what it found; one at work is counted."""
    seen, classes = findings.counted(session, run)["images"], _found(session, run)
    return RunSummary(run, seen, sum(classes.values()), classes, reviewed)


def _reviewed(session: Session, found: Sequence[Run]) -> dict[int, int]:
    """How many boards of each run have a verdict that stands, or pictures an answer."""
    row = DecisionRow
    once = [run.id for run in found if families.answers_once(run.family)]
    boxed = [run.id for run in found if run.id not in once]
    boards = and_(
        row.run_id.in_(boxed), row.idx.is_(None), row.verdict.in_(decisions.BOARD_VERDICTS)
    )
    answers = and_(row.run_id.in_(once), row.idx == closing.ANSWER)
    return _standing(session, boards) | _standing(session, answers)


def _standing(session: Session, *boards: ColumnElement[bool]) -> dict[int, int]:
    row = DecisionRow
    newest = select(func.max(row.id)).where(*boards).group_by(row.run_id, row.image_id)
    query = select(row.run_id, func.count()).where(row.id.in_(newest), row.undoes.is_(None))
    return {run: number for run, number in session.execute(query.group_by(row.run_id))}


def tiles(session: Session, run_id: int, rows: Sequence[DetectionRow]) -> tuple[Tile, ...]:
    """Detections as the wall shows them, with what was said of each."""
    ids = {row.image_id for row in rows}
    query = select(ImageRow.id, ImageRow.sha256, ImageRow.width, ImageRow.height)
    pictures = {id_: rest for id_, *rest in session.execute(query.where(ImageRow.id.in_(ids)))}
    standing = decisions.standing(session, ids, [run_id])
    names = class_names.of_run(session, run_id)
    made = []
    for row in rows:
        if row.image_id not in pictures:
            continue
        sha256, width, height = pictures[row.image_id]
        said = standing[row.image_id].get(decisions.Subject(run_id, row.idx))
        one = findings.detection(row, names)
        verdict = said.verdict.value if said else ""
        made.append(Tile(row.image_id, sha256, width, height, one, verdict))
    return tuple(made)
