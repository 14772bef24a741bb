"""Lays a golden on a picture of the same product, or says that it does not fit.

Most boards lie nearly in place. Where that leaves doubt, the whole golden is first turned, scaled
and shifted, and where even that fails, laid as the best of all turns. From each start a photograph
is laid by one motion of the whole, which marks tell; a drawing piece by piece; and the other way
where that fails. At the end marks of full size say whether it lies right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from backend.errors import Refused
from workers.families.golden.fit import alignment, laying, marks, starting
from workers.families.golden.fit.alignment import Field
from workers.families.golden.fit.laying import Matrix, Pixels, Registration
from workers.families.golden.fit.marks import MarkSet

SURE = 0.985  # agreement at which no other start is tried
SMALL = 640  # pixels, the longer side of the picture on which a start is looked for
GLANCES = ((320, 12), (320, 8), (640, 8), (640, 6))  # longer sides, and how far marks are sought
REACH, SLIGHT = 8, 0.1  # pixels: how far marks are looked for, and what needs no mending
HOPE = 0.4  # share of the marks that lie right, from which small shifts may bring the others
SMALLEST, LONGEST = 16, 40  # pixels a side; length by width


def register(
    board: Pixels, golden: Pixels, least: float, name: str = "", *, photograph: bool = False
) -> Registration:
    """How the golden lies on the board, both grey and of equal levels; refused below `least`."""
    for shown, what in ((board, name or "The picture"), (golden, "Its golden")):
        if not comparable(shown):
            raise Refused(
                f"{what} is {shown.shape[1]} × {shown.shape[0]} pixels; to be compared, a picture"
                f" needs {SMALLEST} on each side and may be {LONGEST} times as long as wide."
            )
    found = best(board, golden, least, photograph=photograph)
    if found.confidence >= least and found.placed:
        return found
    if _mirrored(board, golden, least):
        raise Refused(
            f"{name or 'The picture'} fits its golden only as in a mirror. Mirror the picture,"
            " or give it a golden of that side."
        )
    raise Refused(f"{name or 'The picture'} does not fit its golden: {_doubt(found, least)}")


def _doubt(found: Registration, least: float) -> str:
    if found.confidence < least:
        return (
            f"they agree to {found.confidence:.2f} where {least:.2f} is needed,"
            f" {found.residual:.0%} of the pixels differ."
        )
    return (
        f"they agree to {found.confidence:.2f}, but of {found.marked} places looked at closely"
        f" {found.right} lie where the golden shows them, where {laying.PLACED:.0%} are needed."
    )


def _mirrored(board: Pixels, golden: Pixels, least: float) -> bool:
    """Whether the golden's mirror image lies on the board."""
    pair = Pair.of(board, np.ascontiguousarray(golden[:, ::-1]))
    turned = starting.turned(pair.ours, pair.theirs)
    fits = (pair.mended(pair.full(start), near=False) for start in turned)
    return any(found.known and found.confidence >= least for found in fits)


def comparable(picture: Pixels) -> bool:
    """Whether there is enough of it in both directions."""
    short, long = sorted(picture.shape[:2])
    return bool(short >= SMALLEST and long <= LONGEST * short)


def best(
    board: Pixels, golden: Pixels, enough: float = SURE, *, photograph: bool = False
) -> Registration:
    """The best fit of all starts, however bad; from the second on one that is good enough."""
    pair, fits = Pair.of(board, golden), list[Registration]()
    for fit in _photographed(pair) if photograph else _drawn(pair):
        fits.append(fit)
        found = max(fits, key=_worth)
        sure = found.known if photograph else found.placed
        if sure and found.confidence >= (SURE if len(fits) == 1 and not photograph else enough):
            break
    return max(fits, key=_worth)


def _worth(fit: Registration) -> tuple[bool, float]:
    return fit.placed, fit.confidence


def _photographed(pair: Pair) -> Iterator[Registration]:
    """A board is stiff and a camera keeps lines straight; piece by piece where that is not so."""
    straight = pair.full(starting.straight(pair.ours, pair.theirs))
    yield (found := pair.mended(straight))
    if found.right >= HOPE * found.marked:
        yield pair.shifted(found)
    if len(pair.points) >= laying.KNOWN:
        for start in starting.turned(pair.ours, pair.theirs):
            if (turned := pair.mended(pair.full(start), near=False)).known:
                yield turned
    yield (found := pair.fitted(straight))
    if found.marked < laying.KNOWN and found.confidence < SURE:  # what looks most alike is taken
        for start in starting.near(pair.ours, pair.theirs):
            yield pair.fitted(pair.full(start))


def _drawn(pair: Pair) -> Iterator[Registration]:
    """Piece by piece; as a whole where marks lie beside."""
    straight = pair.full(starting.straight(pair.ours, pair.theirs))
    yield (found := pair.fitted(straight))
    if not found.placed:
        yield pair.mended(straight)
    for start in starting.near(pair.ours, pair.theirs):
        yield pair.fitted(pair.full(start))
    for start in starting.turned(pair.ours, pair.theirs):
        turned = pair.mended(pair.full(start), near=False)
        yield from (fit for fit in (turned, pair.shifted(turned)) if fit.known)


@dataclass(frozen=True, slots=True)
class Pair:
    """A picture and a golden, in full size and smaller by one factor."""

    board: Pixels
    golden: Pixels
    ours: Pixels
    theirs: Pixels
    scale: float
    points: marks.Floats  # of the golden, where marks are looked for

    @classmethod
    def of(cls, board: Pixels, golden: Pixels) -> Pair:
        """The pair, made small where it is large."""
        scale = min(SMALL / max(board.shape), 1.0)
        ours, theirs = (laying.smaller(each, scale) for each in (board, golden))
        return cls(board, golden, ours, theirs, scale, marks.choose(golden))

    def fitted(self, transform: Matrix) -> Registration:
        """From a start by the piecewise alignment."""
        small = laying.larger(transform, self.scale)
        field = alignment.align(self.ours, _warped(self.ours, self.theirs, small))
        return self._judged(transform, _sized(field, 1 / self.scale))

    def full(self, transform: Matrix) -> Matrix:
        """A motion between the small pictures, between those of full size."""
        return laying.larger(transform, 1 / self.scale)

    def mended(self, transform: Matrix, *, near: bool = True) -> Registration:
        """Moved as most marks say; where they lie far off, at first as those of small pictures."""
        motion = np.eye(3)
        told = self._look(transform, alignment.whole(motion)) if near else None
        if told is None or told.right.sum() < laying.RIGHT * len(told):
            for side, reach in GLANCES:
                motion = self._glance(transform, motion, side, reach)
            told = self._look(transform, alignment.whole(motion))
        for _ in range(2):
            if told.found.sum() < marks.FEWEST or told.off < SLIGHT:
                break
            motion = motion @ marks.motion(told, self.board.shape)
            told = self._look(transform, alignment.whole(motion))
        return self._judged(transform, alignment.whole(motion), told)

    def shifted(self, fit: Registration) -> Registration:
        """With small shifts after the motion of the whole."""
        motion = fit.field.whole
        joined = alignment.joined(fit.transform, motion)
        there = _warped(self.ours, self.theirs, _scaled(joined, self.scale))
        field = alignment.align(self.ours, _lit(there, self.ours), moved=False)
        full = _sized(field, 1 / self.scale)
        return self._judged(fit.transform, Field(motion, full.dx, full.dy))

    def _look(self, transform: Matrix, field: Field) -> MarkSet:
        return marks.look(self.board, self.golden, transform, field, self.points, REACH)

    def _glance(self, transform: Matrix, motion: Matrix, side: int, reach: int) -> Matrix:
        """The motion as the marks of small pictures have it."""
        fewer = min(1.0, side / max(self.ours.shape))
        ours, theirs = (laying.smaller(each, fewer) for each in (self.ours, self.theirs))
        scale = fewer * self.scale
        small, there = laying.larger(transform, scale), _scaled(motion, scale)
        points = (self.points + 0.5) * scale - 0.5
        told = marks.look(ours, theirs, small, alignment.whole(there), points, reach)
        if told.found.sum() < marks.FEWEST:
            return motion
        return _scaled(there @ marks.motion(told, ours.shape), 1 / scale)

    def _judged(self, transform: Matrix, field: Field, told: MarkSet | None = None) -> Registration:
        told = self._look(transform, field) if told is None else told
        small = laying.larger(transform, self.scale), _sized(field, self.scale)
        confidence, residual = laying.agreement(self.ours, self.theirs, *small)
        size, right = (self.golden.shape[1], self.golden.shape[0]), int(told.right.sum())
        return Registration(transform, field, confidence, residual, size, len(told), right)


def _sized(field: Field, factor: float) -> Field:
    return alignment.resized(field, factor, field.dx.shape[::-1])


def _scaled(motion: Matrix, factor: float) -> Matrix:
    """A perspective motion in pixels of another size, counted from their middles."""
    half = (factor - 1) / 2
    there = np.array([[factor, 0, half], [0, factor, half], [0, 0, 1]])
    return np.asarray(there @ motion @ np.linalg.inv(there))


def _warped(board: Pixels, golden: Pixels, transform: Matrix) -> Pixels:
    """The golden moved as a whole, filled up from the board."""
    if board.shape == golden.shape and np.array_equal(transform, np.eye(2, 3)):
        return golden
    size, how = (board.shape[1], board.shape[0]), cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    warp = cv2.warpAffine if len(transform) == 2 else cv2.warpPerspective
    filled = warp(
        golden, transform, size, board.copy(), flags=how, borderMode=cv2.BORDER_TRANSPARENT
    )
    return np.asarray(filled, np.uint8)


def _lit(there: Pixels, board: Pixels) -> Pixels:
    """In the light and contrast of the board."""
    ours, theirs = (each[::4, ::4].astype(np.float32) for each in (board, there))
    contrast = float(ours.std()) / max(1.0, float(theirs.std()))
    offset = float(ours.mean()) - contrast * float(theirs.mean())
    return np.asarray(cv2.convertScaleAbs(there, alpha=contrast, beta=offset), np.uint8)
