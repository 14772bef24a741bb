"""Small squares of a picture, looked for at full size: they show whether its golden lies right."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden.fit import alignment
from workers.families.golden.fit.alignment import Field, Matrix

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float64]
GLANCE, CELLS, EDGE = 320, 6, 6  # pixels, of the picture they are chosen on; cells a side; pixels
CLEAR = 0.02  # of the picture's clearest corner
LARGE, SIDE, LARGER = 1500, 32, 48  # pixels: a picture's longer side, and a square's
STRUCTURE = 6.0  # grey levels, standard deviation
ALIKE = 0.6  # correlation from which a square is found again
NEAR = 1.8  # pixels within which it lies right
FARTHEST = 40.0  # pixels, a step
FEWEST = 6  # marks from which anything can be said
DOUBTS = (16.0, 8.0, 4.0, 2.0, 1.0, 1.0)  # pixels, turn by turn
STEADY = 0.05 * np.array([1, 1, 0.02, 1, 1, 0.02, 1, 1])  # how much each unknown resists


@dataclass(frozen=True, slots=True)
class MarkSet:
    """`here` in the picture; the golden shows the same `apart` from where it is laid.

    Along a straight track all places look alike: `told` is how much a mark says of each direction.
    """

    here: Floats  # (n, 2)
    apart: Floats  # (n, 2)
    alike: Floats  # (n,), the correlation there
    told: Floats  # (n, 2, 2), 1 in the direction of which it says most

    def __len__(self) -> int:
        return len(self.here)

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which the golden shows nearby."""
        return np.asarray(self.alike >= ALIKE)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which it shows where they are."""
        return self.found & (aside(self.apart, self.told) <= NEAR)

    @property
    def off(self) -> float:
        """How far a usual one lies off."""
        return float(np.median(aside(self.apart, self.told)[self.found]))


def aside(apart: Floats, told: Floats) -> Floats:
    """How long each way is, as far as the mark can say."""
    return np.asarray(np.sqrt(np.einsum("ni,nij,nj->n", apart, told, apart).clip(0)))


def choose(golden: Pixels) -> Floats:
    """(n, 2): the clearest corner of each cell of a grid, where it is clear enough."""
    scale = min(GLANCE / max(golden.shape), 1.0)
    small = cv2.resize(golden, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    clear = np.zeros(small.shape, np.float32)
    inner = (slice(EDGE, -EDGE), slice(EDGE, -EDGE))
    clear[inner] = cv2.cornerMinEigenVal(small, 5)[inner]
    least, points = CLEAR * float(clear.max()), []
    for top, rows in _cells(clear, 0):
        for left, cell in _cells(rows, 1):
            y, x = np.unravel_index(int(cell.argmax()), cell.shape)
            if cell[y, x] > least:
                points.append((left + x, top + y))
    return np.asarray((np.array(points, np.float64).reshape(-1, 2) + 0.5) / scale - 0.5)


def _cells(array: NDArray[np.float32], axis: int) -> list[tuple[int, NDArray[np.float32]]]:
    parts = np.array_split(array, CELLS, axis)
    starts = np.cumsum([0, *(part.shape[axis] for part in parts[:-1])])
    return list(zip(starts.tolist(), parts, strict=True))


def look(
    board: Pixels, golden: Pixels, transform: Matrix, field: Field, points: Floats, reach: int
) -> MarkSet:
    """Where a golden that is laid on a picture shows the squares around some of its points."""
    side = LARGER if max(board.shape) > LARGE else SIDE
    size, half = np.array(board.shape[::-1]), side // 2 + reach
    back: Matrix = np.linalg.inv(alignment.joined(transform, field.whole)).astype(np.float64)
    here = alignment.moved(back, points).round().clip(-1e6, 1e6).astype(np.int64)
    here = here[((here >= half) & (here < size - half)).all(axis=1)]
    if not len(here):
        return MarkSet(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0), np.zeros((0, 2, 2)))
    windows, inside = _windows(golden, transform, field, here, half, board.shape)
    found = [
        _found(
            board[y - half + reach : y + half - reach, x - half + reach : x + half - reach], each
        )
        for (x, y), each in zip(here[inside].tolist(), windows[inside], strict=True)
    ]
    told = np.array(found, np.float64).reshape(-1, 6)
    clear = told[:, 2] >= 0
    here, told = here[inside][clear], told[clear]
    says = told[:, [3, 4, 4, 5]].reshape(-1, 2, 2)
    return MarkSet(here.astype(np.float64), told[:, :2], told[:, 2], says)


def _windows(
    golden: Pixels, transform: Matrix, field: Field, here: NDArray[np.int64],
    half: int, shape: tuple[int, ...],
) -> tuple[Pixels, NDArray[np.bool_]]:  # fmt: skip
    """What the golden shows around some places of the picture, and whether it shows all of it."""
    axis = np.arange(-half, half, dtype=np.float32)
    x = here[:, 0, None, None].astype(np.float32) + axis[None, None, :]
    y = here[:, 1, None, None].astype(np.float32) + axis[None, :, None]
    (a, b, c), (d, e, f), (g, h, i) = alignment.joined(transform, field.whole).astype(np.float32)
    behind = g * x + h * y + i
    shift = field.at(here, shape) @ transform[:, :2].T.astype(np.float32)
    across = (a * x + b * y + c) / behind + shift[:, 0, None, None]
    down = (d * x + e * y + f) / behind + shift[:, 1, None, None]
    high, wide = golden.shape
    inside = (across >= 0) & (across <= wide - 1) & (down >= 0) & (down <= high - 1)
    rows = (len(here) * 2 * half, 2 * half)
    shown = cv2.remap(
        golden, across.reshape(rows), down.reshape(rows), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return np.asarray(shown, np.uint8).reshape(across.shape), inside.all(axis=(1, 2))


def _found(square: Pixels, window: Pixels) -> tuple[float, ...]:
    """Where in the window the square is, from its middle, how alike, and how much that says.

    Alike is -1 where it shows nothing.
    """
    if float(square.std()) < STRUCTURE:
        return 0.0, 0.0, -1.0, 0.0, 0.0, 0.0
    told = cv2.matchTemplate(window, np.ascontiguousarray(square), cv2.TM_CCOEFF_NORMED)
    alike, (x, y) = float(told.max()), cv2.minMaxLoc(told)[3]
    middle = told.shape[0] // 2
    across, down = _peak(*told[y, x - 1 : x + 2]), _peak(*told[y - 1 : y + 2, x])
    return x + across - middle, y + down - middle, alike, *_says(square)


def _says(square: Pixels) -> tuple[float, float, float]:
    """What a square tells of a motion across, of both at once, and down."""
    gx, gy = cv2.Sobel(square, cv2.CV_32F, 1, 0), cv2.Sobel(square, cv2.CV_32F, 0, 1)
    xx, xy, yy = (float((a * b).sum()) for a, b in ((gx, gx), (gx, gy), (gy, gy)))
    most = (xx + yy) / 2 + float(np.hypot((xx - yy) / 2, xy)) + 1e-9
    return xx / most, xy / most, yy / most


def _peak(*line: float) -> float:
    """How far beside the middle one three numbers have their peak; there, where one is missing."""
    if len(line) < 3:
        return 0.0
    before, here, after = (float(each) for each in line)
    bend = before - 2 * here + after
    return 0.0 if bend >= 0 else (before - after) / (2 * bend)


def motion(marks: MarkSet, shape: tuple[int, ...]) -> Matrix:
    """The perspective motion of the picture on which most of the marks agree."""
    size = np.array(shape[::-1], np.float64)
    places = 2 * (marks.here[marks.found] + 0.5) / size - 1
    unknowns = _agreed(places, marks.apart[marks.found], marks.told[marks.found])
    corners = np.array([[-1.0, -1], [1, -1], [-1, 1], [1, 1]])
    steps = [each @ unknowns for each in alignment.bases(*corners.T, bend=True)]
    here = ((corners + 1) / 2 * size - 0.5).astype(np.float32)
    there = here + np.column_stack(steps).astype(np.float32)
    return np.asarray(cv2.getPerspectiveTransform(here, there), np.float64)


def _agreed(places: Floats, apart: Floats, told: Floats) -> Floats:
    """What each unknown of a motion is, with less and less regard for marks that it leaves off."""
    ways = np.stack(alignment.bases(*places.T, bend=True), axis=1)  # (n, 2, unknowns)
    found: Floats = np.zeros(ways.shape[2])
    found[[2, 5]] = np.median(apart, axis=0)
    for doubt in DOUBTS:
        off = aside(apart - ways @ found, told)
        weight = told * ((1 + (off / doubt) ** 2) ** -2.0)[:, None, None]
        square = np.einsum("nik,nij,njl->kl", ways, weight, ways) + np.diag(STEADY)
        there = np.einsum("nik,nij,nj->k", ways, weight, apart)
        found = np.asarray(np.linalg.solve(square, there), np.float64).clip(-FARTHEST, FARTHEST)
    return found
