"""Adds up boards of a run that follow each other, as `verdicts` and `tally` speak of them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import matching
from backend.domain import State
from backend.labels import images
from backend.review import behind, tally, views
from backend.review.boards import verdicts
from backend.review.boards.verdicts import Ruled, StandingBoard, StandingDefect
from backend.review.views import Reviewed
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import ImageRow, RunImageRow

PART = 256
BINS = 20
EDGES = [at / BINS for at in range(BINS)]
WIDE, HIGH = 16, 12  # cells over the place of a defect on its golden, or else on its board
ALL, NO_CLASS = 0, behind.NO_CLASS
ESCAPE, FALSE_CALL, PLACE = "escape", "false_call", "place"
Key = tuple[int, str]
EVERY: Key = (ALL, "")


@dataclass(slots=True)
class OfClass:
    """What there is of a class, or of all, on the boards of one lot and day."""

    defects: int = 0
    boards: int = 0
    right: int = 0
    escapes: int = 0
    false_calls: int = 0
    scores: list[list[int]] = field(default_factory=lambda: [[0, 0] for _ in range(BINS)])
    places: dict[int, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))


@dataclass(slots=True)
class OfLot:
    """The boards of one lot and day."""

    verdicts: Counter[str] = field(default_factory=Counter)
    said: int = 0
    labelled: int = 0
    classes: dict[Key, OfClass] = field(default_factory=lambda: defaultdict(OfClass))


@dataclass(slots=True)
class Added:
    """A part of a run, added up; `marked` are boards by what a plot shows of them."""

    part: int
    lots: dict[tuple[str, str], OfLot] = field(default_factory=lambda: defaultdict(OfLot))
    marked: set[tuple[str, int, int]] = field(default_factory=set)


def add_up(session: Session, run_id: int, part: int) -> Added:
    """A part of a run as it stands now."""
    row = RunImageRow
    query = select(row.image_id).where(
        row.run_id == run_id,
        row.status == "ok",
        row.image_id >= part * PART,
        row.image_id < (part + 1) * PART,
        images.there(row.image_id),
    )
    ids = session.scalars(query.order_by(row.image_id)).all()
    adding = _Adding(
        Added(part), verdicts.ruled(session, run_id), class_names.of_run(session, run_id)
    )
    days = _days(session, ids)
    for seen in views.items(session, run_id, ids):
        adding.add(seen, days[seen.item.image.id])
    return adding.added


@dataclass(slots=True)
class _Adding:
    added: Added
    ruled: Ruled
    names: Naming

    def add(self, seen: Reviewed, day: str) -> None:
        """Add one board."""
        board, lot = self.ruled.board(seen), self.added.lots[seen.item.image.group, day]
        lot.verdicts[board.verdict] += 1
        lot.said += bool(board.said_by)
        self._defects(board, lot)
        self._scores(seen, lot)
        if seen.item.image.state is State.DONE and not seen.item.image.is_golden:
            lot.labelled += 1
            self._mistakes(seen, lot)

    def _defects(self, board: StandingBoard, lot: OfLot) -> None:
        keys = [self._key(one.label) for one in board.defects]
        for key in {*keys, *([EVERY] if keys else [])}:
            lot.classes[key].boards += 1
        for key in (*keys, *(EVERY for _ in keys)):
            lot.classes[key].defects += 1
        if not self.ruled.once:
            self._places(board, lot, keys)

    def _places(self, board: StandingBoard, lot: OfLot, keys: Sequence[Key]) -> None:
        cells = [cell(board, one) for one in board.defects]
        found = Counter(zip(keys, cells, strict=True)) + Counter((EVERY, one) for one in cells)
        for (key, at), number in found.items():
            counted = lot.classes[key].places[at]
            counted[0] += number
            counted[1] += 1
            if key != EVERY:
                self._mark(f"{PLACE}-{at}", key, board.image.id)

    def _scores(self, seen: Reviewed, lot: OfLot) -> None:
        bins = [(self._key(one.label), bin_of(one.score)) for one in seen.detections]
        found = Counter(bins) + Counter((EVERY, at) for _, at in bins)
        for (key, at), number in found.items():
            counted = lot.classes[key].scores[at]
            counted[0] += number
            counted[1] += 1

    def _mistakes(self, seen: Reviewed, lot: OfLot) -> None:
        right, escaped, called = mistakes(seen, self.ruled)
        image = seen.item.image.id
        for label in right:
            for key in (self._key(label), EVERY):
                lot.classes[key].right += 1
        for label in escaped:
            for key in (self._key(label), EVERY):
                lot.classes[key].escapes += 1
            self._mark(ESCAPE, self._key(label), image)
        for label in called:
            for key in (self._key(label), EVERY):
                lot.classes[key].false_calls += 1
            self._mark(FALSE_CALL, self._key(label), image)

    def _mark(self, mark: str, key: Key, image: int) -> None:
        self.added.marked.add((mark, key[0], image))

    def _key(self, label: str) -> Key:
        known = self.names.id(label)
        return (NO_CLASS, label) if known is None else (known, "")


def bin_of(score: float) -> int:
    """In which twentieth a score lies; the last one has 1, too."""
    return min(BINS, max(1, bisect_right(EDGES, score))) - 1


def cell(board: StandingBoard, defect: StandingDefect) -> int:
    """Where the middle of a defect lies, on the golden where it is known how that lies."""
    x1, y1, x2, y2 = defect.place
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    if board.lie:
        a, b, c, d, e, f = board.lie
        x, y = a * x + b * y + c, d * x + e * y + f
    column = min(WIDE - 1, max(0, int(x / max(1, board.image.width) * WIDE)))
    return min(HIGH - 1, max(0, int(y / max(1, board.image.height) * HIGH))) * WIDE + column


def mistakes(seen: Reviewed, ruled: Ruled) -> tuple[list[str], list[str], list[str]]:
    """The classes that were found, that escaped, and that were called where they are not."""
    if ruled.once:
        return _of_answer(seen)
    counting = [one for one in seen.detections if one.score >= tally.least(ruled.rule, one.label)]
    boxes = list(seen.item.boxes)
    matched = matching.match_boxes(counting, boxes, tally.IOU)
    hits, finders = matched.detections.tolist(), matched.truths.tolist()
    return (
        [one.label for one, hit in zip(counting, hits, strict=True) if hit >= 0],
        [box.label for box, finder in zip(boxes, finders, strict=True) if finder < 0],
        [one.label for one, hit in zip(counting, hits, strict=True) if hit < 0],
    )


def _of_answer(seen: Reviewed) -> tuple[list[str], list[str], list[str]]:
    """A wrong class is a false call of it, and an escape of the one that the picture has."""
    wanted, said = seen.item.image.label, [one.label for one in seen.detections[:1]]
    if said == [wanted]:
        return said, [], []
    return [], [wanted] if wanted else [], said


def _days(session: Session, ids: Collection[int]) -> dict[int, str]:
    query = select(ImageRow.id, ImageRow.added).where(ImageRow.id.in_(ids))
    return {image_id: added.date().isoformat() for image_id, added in session.execute(query)}
