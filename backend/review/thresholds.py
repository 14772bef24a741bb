"""Thresholds by what escapes and false calls cost, or by what may escape: from rows of a run.

Chosen on the images that a model was validated on, told of its test images, which chose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from backend import families, matching
from backend.domain import Detection, Model, Split, State
from backend.errors import Refused
from backend.labels import labelling
from backend.review import promises
from backend.review.promises import Defects, Scores
from backend.storage import engine, findings
from backend.storage.tables import ImageRow, RunImageRow, RunRow, SnapshotImageRow
from backend.words import many

PAGE = 500
DRAWS = 1000
MEASURED = "evaluate"


@dataclass(frozen=True, slots=True)
class Costs:
    """What an escape costs (of some classes another sum), a false call, and a look at a board."""

    escape: float
    false_call: float
    by_class: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 10.0

    def of(self, label: str) -> float:
        """What an escape of a class costs."""
        return self.by_class.get(label, self.escape)


@dataclass(frozen=True, slots=True)
class ClassBoards:
    """What a run found of one class: each defect with its score, each alarm where there is none."""

    defects: Defects
    calls: Scores
    call_boards: promises.Numbers


@dataclass(frozen=True, slots=True)
class Boards:
    """The labelled boards of a split that a run has seen."""

    run: int
    number: int
    classes: Mapping[str, ClassBoards]

    @property
    def defects(self) -> Defects:
        """Those of all classes."""
        parts = [one.defects for one in self.classes.values()]
        scores = [np.zeros(0), *(one.scores for one in parts)]
        boards = [np.zeros(0, np.int64), *(one.boards for one in parts)]
        return Defects(np.concatenate(scores), np.concatenate(boards))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What thresholds would have done on boards; `at_most` and the interval hold 95 %."""

    run: int
    boards: int
    defects: int
    escapes: int
    at_most: float
    false_calls: int
    looks: int
    cost: float
    interval: tuple[float, float]
    minutes: float


def seen(session: Session, model: Model, split: Split) -> Boards:
    """What the model found in the labelled boards of a split, in the run that saw most of them."""
    if families.answers_once(model.family):
        raise Refused(f"{model.name} gives each picture one class; thresholds are for boxes.")
    wanted = _images(model, split).subquery()
    run_id = _widest(session, model, select(wanted.c.id))
    if run_id is None:
        raise Refused(
            f"No run of {model.name} has seen labelled images of its {split} split: "
            f"measure it there first (loupe evaluate PROJECT --model {model.name} --split {split})."
        )
    there = select(RunImageRow.image_id).where(
        RunImageRow.run_id == run_id,
        RunImageRow.status == "ok",
        RunImageRow.image_id.in_(select(wanted.c.id)),
    )
    ids = list(session.scalars(there.order_by(RunImageRow.image_id)))
    return Boards(run_id, len(ids), _by_class(session, run_id, ids))


def by_cost(boards: Boards, costs: Costs) -> dict[str, float]:
    """The cheapest threshold of each class that has defects there.

    Of the others it is not known what would escape: they keep what the rule says of them.
    """
    return {
        label: promises.cheapest(one.defects.scores, one.calls, costs.of(label), costs.false_call)
        for label, one in boards.classes.items()
        if len(one.defects)
    }


def by_share(boards: Boards, share: float, level: float = promises.LEVEL) -> dict[str, float]:
    """One threshold for all classes, at which no more escapes than that share."""
    defects = boards.defects
    best = promises.safest(defects, share, level)
    if best is None:
        raise Refused(_too_little(defects, share, level))
    return dict.fromkeys(boards.classes, best)


def outcome(boards: Boards, thresholds: Mapping[str, float], costs: Costs) -> Outcome:
    """What these thresholds would have done, with the bootstrap's interval over boards."""
    places = sorted({*_places(boards)})
    index = {board: place for place, board in enumerate(places)}
    cost, looks = np.zeros(boards.number), np.zeros(boards.number, np.bool_)
    escapes = calls = 0
    for label, one in boards.classes.items():
        missed = one.defects.scores < thresholds[label]
        alarms = one.calls >= thresholds[label]
        escapes, calls = escapes + int(missed.sum()), calls + int(alarms.sum())
        np.add.at(cost, _at(one.defects.boards[missed], index), costs.of(label))
        np.add.at(cost, _at(one.call_boards[alarms], index), costs.false_call)
        looks[_at(one.defects.boards[~missed], index)] = True
        looks[_at(one.call_boards[alarms], index)] = True
    defects = boards.defects
    effect, number = promises.crowding(defects), len(defects)
    return Outcome(
        boards.run,
        boards.number,
        number,
        escapes,
        promises.at_most(escapes / effect, number / effect),
        calls,
        int(looks.sum()),
        float(cost.mean() * 1000),
        _interval(cost),
        float(looks.mean() * costs.seconds / 60 * 1000),
    )


def _too_little(defects: Defects, share: float, level: float) -> str:
    needed = promises.fewest(share, level)
    effect = promises.crowding(defects)
    never = defects.escaping(float(np.nextafter(0, 1)))
    there = f"there {'is' if len(defects) == 1 else 'are'} {many(len(defects), 'labelled defect')}"
    if len(defects) / effect < needed:
        crowded = (
            f", which count as {len(defects) / effect:.0f}, as those of a board escape together"
            if len(defects) - len(defects) / effect > 0.5
            else ""
        )
        return (
            f"To promise that at most {share:.2%} escape, as surely as {level:.0%}, at least "
            f"{needed:,} defects must be seen in validation; {there}{crowded}."
        )
    return (
        f"No threshold keeps escapes below {share:.2%}: {there} in validation, and the model finds "
        f"{never:,} of them at no score at all."
    )


def _images(model: Model, split: Split) -> Select[tuple[int]]:
    """The labelled images of a split: as the model's training had them, else as they stand."""
    row = ImageRow
    done = select(row.id).where(
        row.project_id == model.project_id,
        row.is_golden.is_(False),
        row.deleted.is_(None),
        row.state == State.DONE,
    )
    if model.snapshot_id is None:
        return done.where(row.split == split)
    member = SnapshotImageRow
    frozen = select(member.image_id).where(
        member.snapshot_id == model.snapshot_id, member.split == split
    )
    return done.where(row.id.in_(frozen))


def _widest(session: Session, model: Model, wanted: Select[tuple[int]]) -> int | None:
    """The finished run of the model that has seen most of these images.

    Of equal ones a measurement, which keeps what a detection leaves out as too doubtful; the last.
    """
    measured = RunRow.purpose == MEASURED
    seen_by = (
        select(RunRow.id)
        .join(RunImageRow, RunImageRow.run_id == RunRow.id)
        .where(
            RunRow.model_id == model.id,
            RunRow.finished.is_not(None),
            RunImageRow.status == "ok",
            RunImageRow.image_id.in_(wanted),
        )
        .group_by(RunRow.id)
        .order_by(func.count().desc(), measured.desc(), RunRow.id.desc())
        .limit(1)
    )
    return session.scalar(seen_by)


def _by_class(session: Session, run_id: int, ids: Sequence[int]) -> dict[str, ClassBoards]:
    defects: dict[str, list[tuple[float, int]]] = {}
    calls: dict[str, list[tuple[float, int]]] = {}
    for part in engine.batches(ids, PAGE):
        found = findings.detections(session, run_id, part)
        labels = labelling.boxes_of(session, part)
        for image_id in part:
            matched = matching.match_boxes(found[image_id], labels[image_id])
            for box, by in zip(labels[image_id], matched.truths, strict=True):
                score = found[image_id][by].score if by >= 0 else 0.0
                defects.setdefault(box.label, []).append((score, image_id))
            for one in _strays(found[image_id], matched):
                calls.setdefault(one.label, []).append((one.score, image_id))
    return {
        label: ClassBoards(
            Defects(*_columns(defects.get(label, []))), *_columns(calls.get(label, []))
        )
        for label in sorted({*defects, *calls})
    }


def _strays(found: Sequence[Detection], matched: matching.Matched) -> list[Detection]:
    return [one for one, truth in zip(found, matched.detections, strict=True) if truth < 0]


def _columns(rows: Sequence[tuple[float, int]]) -> tuple[Scores, promises.Numbers]:
    scores = np.array([score for score, _ in rows], np.float64)
    return scores, np.array([board for _, board in rows], np.int64)


def _places(boards: Boards) -> list[int]:
    found: list[int] = []
    for one in boards.classes.values():
        found += [*one.defects.boards.tolist(), *one.call_boards.tolist()]
    return found


def _at(boards: promises.Numbers, index: Mapping[int, int]) -> promises.Numbers:
    return np.array([index[int(board)] for board in boards], np.int64)


def _interval(cost: Scores) -> tuple[float, float]:
    """Where 95 of 100 sets of as many boards, drawn from these, have their cost."""
    random, number = np.random.default_rng(0), len(cost)
    drawn = [cost[random.integers(0, number, number)].mean() for _ in range(DRAWS)]
    low, high = np.quantile(drawn, (0.025, 0.975)) * 1000
    return float(low), float(high)
