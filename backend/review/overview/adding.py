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
from backend.review.overview import sums
from backend.review.overview.sums import BINS, HIGH, WIDE, Key, Row
from backend.review.views import Reviewed
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import ImageRow, RunImageRow

PART = 256
EDGES = [at / BINS for at in range(BINS)]
NO_CLASS = behind.NO_CLASS
ESCAPE, FALSE_CALL, PLACE = "escape", "false_call", "place"
AT = {verdicts.PASS: sums.PASSED, verdicts.FAIL: sums.FAILED, verdicts.ASK: sums.ASKED}
Kind = tuple[int, str]
EVERY: Kind = (sums.ALL, "")


@dataclass(slots=True)
class Added:
    """A part of a run, added up; `marked` are boards by what a plot shows of them."""

    part: int
    sums: defaultdict[Key, Row] = field(default_factory=lambda: defaultdict(sums.nothing))
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
    places = _places(session, ids)
    for seen in views.items(session, run_id, ids):
        adding.add(seen, *places[seen.item.image.id])
    return adding.added


@dataclass(slots=True)
class _Lot:
    """The sums of one lot, day and facet."""

    sums: defaultdict[Key, Row]
    name: str
    day: str
    facet: str

    def of(self, kind: Kind) -> Row:
        return self.sums[self.name, self.day, *kind, self.facet]

    @property
    def boards(self) -> Row:
        return self.of((sums.LOT, ""))


@dataclass(slots=True)
class _Adding:
    added: Added
    ruled: Ruled
    names: Naming

    def add(self, seen: Reviewed, day: str, facet: str) -> None:
        """Add one board."""
        board = self.ruled.board(seen)
        lot = _Lot(self.added.sums, seen.item.image.group, day, facet)
        lot.boards[AT[board.verdict]] += 1
        lot.boards[sums.SAID] += bool(board.said_by)
        self._defects(board, lot)
        self._scores(seen, lot)
        if seen.item.image.state is State.DONE and not seen.item.image.is_golden:
            lot.boards[sums.LABELLED] += 1
            self._mistakes(seen, lot)

    def _defects(self, board: StandingBoard, lot: _Lot) -> None:
        kinds = [self._kind(one.label) for one in board.defects]
        for kind in {*kinds, *([EVERY] if kinds else [])}:
            lot.of(kind)[sums.BOARDS] += 1
        for kind in (*kinds, *(EVERY for _ in kinds)):
            lot.of(kind)[sums.DEFECTS] += 1
        if not self.ruled.once:
            self._places(board, lot, kinds)

    def _places(self, board: StandingBoard, lot: _Lot, kinds: Sequence[Kind]) -> None:
        cells = [cell(board, one) for one in board.defects]
        found = Counter(zip(kinds, cells, strict=True)) + Counter((EVERY, one) for one in cells)
        for (kind, at), number in found.items():
            row, first = lot.of(kind), sums.PLACES + 2 * at
            row[first : first + 2] += (number, 1)
            if kind != EVERY:
                self._mark(f"{PLACE}-{at}", kind, board.image.id)

    def _scores(self, seen: Reviewed, lot: _Lot) -> None:
        bins = [(self._kind(one.label), bin_of(one.score)) for one in seen.detections]
        found = Counter(bins) + Counter((EVERY, at) for _, at in bins)
        for (kind, at), number in found.items():
            row, first = lot.of(kind), sums.SCORES + 2 * at
            row[first : first + 2] += (number, 1)

    def _mistakes(self, seen: Reviewed, lot: _Lot) -> None:
        right, escaped, called = mistakes(seen, self.ruled)
        image = seen.item.image.id
        told = ((right, sums.RIGHT), (escaped, sums.ESCAPES), (called, sums.FALSE_CALLS))
        for labels, at in told:
            for label in labels:
                for kind in (self._kind(label), EVERY):
                    lot.of(kind)[at] += 1
        for labels, mark in ((escaped, ESCAPE), (called, FALSE_CALL)):
            for label in labels:
                self._mark(mark, self._kind(label), image)

    def _mark(self, mark: str, kind: Kind, image: int) -> None:
        self.added.marked.add((mark, kind[0], image))

    def _kind(self, label: str) -> Kind:
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


def _places(session: Session, ids: Collection[int]) -> dict[int, tuple[str, str]]:
    """The day and the facet of each image."""
    query = select(ImageRow.id, ImageRow.added, ImageRow.facet).where(ImageRow.id.in_(ids))
    return {
        image_id: (added.date().isoformat(), facet)
        for image_id, added, facet in session.execute(query)
    }
