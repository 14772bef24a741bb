"""What the rules and the forest look at in each proposal: one row of numbers."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden import rules
from workers.families.golden.candidates import Floats, Regions
from workers.families.golden.difference import Difference, Mask

NAMES = (
    "added", "area", "core", "width", "height", "fill", "deepest", "mean_depth",
    "thickness", "perimeter", "compactness", "long", "short", "aspect",
    "around", "best_around", "unexplained",
    "ring_golden", "ring_board", "copper_here", "edges_here", "border",
    "touched", "second", "laminate", "parted", "cut",
    "proposals", "changed_share", "area_rank", "depth_rank", "covered",
    "left", "top", "right", "bottom",
    *(f"rule_{kind}" for kind in rules.KINDS),
)  # fmt: skip
COLUMN = {name: index for index, name in enumerate(NAMES)}
Rows = NDArray[np.float32]
STAIN = 0.97  # of what surrounds a blot
FAR = 50  # pixels
CUT = 3  # pixels from where a picture ends
NEAR = 10  # pixels of surroundings for what is counted around a proposal
BEYOND = ("left", "top", "right", "bottom")  # by how much a proposal reaches beyond its core
LENGTHS = [
    COLUMN[name] for name in ("width", "height", "thickness", "perimeter", "long", "short", *BEYOND)
]
AREAS = [COLUMN[name] for name in ("area", "core", "around", "best_around")]
_THREE, _RING = np.ones((3, 3), np.uint8), np.ones((7, 7), np.uint8)
SHIFTS = tuple((dx, dy) for dx in (-2, -1, 0, 1, 2) for dy in (-2, -1, 0, 1, 2))


def measure(difference: Difference, regions: Regions, scale: float = 1.0) -> Rows:
    """The features of each proposal; `scale` is how much larger than usual the picture is."""
    rows = np.zeros((len(regions), len(NAMES)), np.float32)
    if len(regions):
        put = _Writer(rows)
        _shape(put, regions)
        _picture(put, difference, regions)
        _surroundings(put, difference, regions)
        rows[:, LENGTHS] /= scale
        rows[:, AREAS] /= scale * scale
    return rows


def votes(rows: Rows) -> Rows:
    """For each proposal the share of the rules that say each kind."""
    return rows[:, COLUMN["rule_open"] : len(NAMES)]


def stains(rows: Rows) -> NDArray[np.bool_]:
    """Which proposals are blots of the golden itself: copper on bare laminate, or holes in copper.

    The board shows none there; what is around is the same on both.
    """
    ring = rows[:, COLUMN["ring_golden"]]
    around = np.where(rows[:, COLUMN["added"]] > 0, ring, 1 - ring)
    return np.asarray((around >= STAIN) & (rows[:, COLUMN["area"]] > 0))


def cut(rows: Rows) -> NDArray[np.bool_]:
    """Which proposals lie where the picture or its golden ends: there the board may end as well."""
    return np.asarray((rows[:, COLUMN["border"]] <= CUT) & (rows[:, COLUMN["area"]] > 0))


def end_at(rows: Rows, border: Floats) -> None:
    """Say how near each proposal is to another end of the picture than its border."""
    column = COLUMN["border"]
    rows[:, column] = np.minimum(rows[:, column], np.clip(border, 0, FAR))


class _Writer:
    """Writes columns by name."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        self.rows = rows

    def __setitem__(self, name: str, values: NDArray[np.generic] | float) -> None:
        self.rows[:, COLUMN[name]] = values


def _shape(put: _Writer, regions: Regions) -> None:
    wide = regions.corners[:, 2] - regions.corners[:, 0]
    high = regions.corners[:, 3] - regions.corners[:, 1]
    long, short = _axes(regions)
    put["added"], put["area"], put["core"] = regions.polarity, regions.area, regions.core
    put["width"], put["height"] = wide, high
    put["fill"] = regions.area / (wide * high)
    put["deepest"], put["mean_depth"] = regions.deepest, regions.mean_depth
    put["long"], put["short"], put["aspect"] = long, short, short / long
    for side, gap in zip(BEYOND, np.abs(regions.inner - regions.corners).T, strict=True):
        put[side] = gap


def _axes(regions: Regions) -> tuple[Floats, Floats]:
    """The lengths of the axes of the ellipse that spreads as the pixels do."""
    n, count = regions.area, len(regions)

    def mean(values: NDArray[np.generic]) -> Floats:
        return np.bincount(regions.owner, values, count) / n

    start = regions.corners[regions.owner]
    x, y = regions.x - start[:, 0], regions.y - start[:, 1]
    mx, my = mean(x), mean(y)
    xx, yy, xy = mean(x * x) - mx * mx, mean(y * y) - my * my, mean(x * y) - mx * my
    half, root = (xx + yy) / 2, np.sqrt(((xx - yy) / 2) ** 2 + xy * xy)
    return 4 * np.sqrt(half + root + 1 / 12), 4 * np.sqrt(np.maximum(half - root, 0) + 1 / 12)


def _picture(put: _Writer, difference: Difference, regions: Regions) -> None:
    height, width = difference.changed.shape
    corners, area = regions.corners, regions.area
    x1, y1 = np.maximum(corners[:, 0] - NEAR, 0), np.maximum(corners[:, 1] - NEAR, 0)
    x2, y2 = np.minimum(corners[:, 2] + NEAR, width), np.minimum(corners[:, 3] + NEAR, height)
    total = cv2.integral(difference.changed)
    put["around"] = total[y2, x2] - total[y1, x2] - total[y2, x1] + total[y1, x1] - area
    put["border"] = np.minimum(
        corners[:, :2].min(axis=1), np.minimum(width - corners[:, 2], height - corners[:, 3])
    ).clip(0, FAR)
    put["proposals"] = len(regions)
    put["changed_share"] = total[-1, -1] / (height * width)
    put["area_rank"] = _rank(regions.core)
    put["depth_rank"] = _rank(regions.deepest)
    put["covered"] = _covered(regions)


def _covered(regions: Regions) -> Floats:
    """How much of each proposal's neighbourhood a larger proposal's takes up."""
    near = regions.corners + np.array([-NEAR, -NEAR, NEAR, NEAR])
    low = np.maximum(near[:, None, :2], near[None, :, :2])
    high = np.minimum(near[:, None, 2:], near[None, :, 2:])
    shared = (high - low).clip(0).prod(axis=2)
    larger = regions.core[None, :] > regions.core[:, None]
    return np.asarray((shared * larger).max(axis=1) / (near[:, 2:] - near[:, :2]).prod(axis=1))


def _rank(values: NDArray[np.generic]) -> Floats:
    return np.argsort(np.argsort(-values.astype(float), kind="stable"), kind="stable") / len(values)


def _surroundings(put: _Writer, difference: Difference, regions: Regions) -> None:
    own = np.zeros(difference.changed.shape, np.uint8)
    for index in range(len(regions)):
        mine = regions.owner == index
        y, x = regions.y[mine], regions.x[mine]
        own[y, x] = 1
        corners, row = regions.box(index), put.rows[index]
        _near(row, *_windows(difference, own, corners, NEAR))
        topology = rules.topology(
            *_windows(difference, own, corners, rules.MARGIN), int(regions.polarity[index])
        )
        for name in ("touched", "second", "laminate", "parted", "cut"):
            row[COLUMN[name]] = getattr(topology, name)
        row[COLUMN["rule_open"] :] = topology.votes
        own[y, x] = 0


def _windows(
    difference: Difference, own: Mask, corners: tuple[int, int, int, int], margin: int
) -> tuple[Mask, Mask, Mask]:
    window = rules.around(own.shape, corners, margin)
    return own[window], difference.board[window], difference.golden[window]


def _near(row: NDArray[np.float32], mine: Mask, board: Mask, golden: Mask) -> None:
    area = cv2.countNonZero(mine)
    perimeter = area - cv2.countNonZero(cv2.erode(mine, _THREE))
    ring = np.asarray(cv2.dilate(mine, _RING), np.uint8) - mine
    size = max(1, cv2.countNonZero(ring))
    best = _best_shift(board, golden)
    row[COLUMN["thickness"]] = cv2.distanceTransform(mine, cv2.DIST_L2, cv2.DIST_MASK_3).max()
    row[COLUMN["perimeter"]] = perimeter
    row[COLUMN["compactness"]] = perimeter * perimeter / max(1, area)
    row[COLUMN["ring_golden"]] = cv2.countNonZero(ring & golden) / size
    row[COLUMN["ring_board"]] = cv2.countNonZero(ring & board) / size
    row[COLUMN["copper_here"]] = cv2.countNonZero(golden) / golden.size
    row[COLUMN["edges_here"]] = _edges(golden)
    row[COLUMN["best_around"]] = best
    row[COLUMN["unexplained"]] = best / max(1, cv2.countNonZero(board ^ golden))


def _edges(golden: NDArray[np.uint8]) -> float:
    """The share of pixels whose right or lower neighbour differs."""
    across = cv2.countNonZero(golden[:, 1:] ^ golden[:, :-1])
    down = cv2.countNonZero(golden[1:] ^ golden[:-1])
    return (across + down) / golden.size


def _best_shift(board: NDArray[np.uint8], golden: NDArray[np.uint8]) -> int:
    """The least disagreement over small shifts: low where a difference is misalignment only."""
    if min(golden.shape) <= 4:
        return cv2.countNonZero(board ^ golden)
    inner = np.ascontiguousarray(board[2:-2, 2:-2])
    height, width = inner.shape
    return min(
        cv2.countNonZero(inner ^ golden[2 + dy : 2 + dy + height, 2 + dx : 2 + dx + width])
        for dx, dy in SHIFTS
    )
