"""Photographs of boards (HRIPCB) that lie turned, scaled, shifted, askew: how their golden fits.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden.turned [--lots turned,askew] [--keep NAME]

Boards 01, 05, 08 and 11 with their own labels, moved by seed, so that it is known where each corner
of the golden lies: in the same frame or in one that has grown, filled with black, grey or white.
Board 05 has no clean photograph; its golden is the median of its six pictures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from backend import matching
from backend.errors import Refused
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.golden import golden_hripcb
from tests.benchmarks.golden.golden_hripcb import CLASSES, SCORE
from workers.families import golden
from workers.families.base import Picture, Pixels
from workers.families.golden.model import GoldenModel
from workers.families.golden.seeing import Seen

Floats = NDArray[np.float64]
INSET, POINTS = 0.04, 5  # of the golden's size; a side
RIGHT, WRONG = 1.0, 2.0  # pixels of full size


@dataclass(frozen=True, slots=True)
class Motion:
    """The largest change of each sort; every picture gets its own at random."""

    angle: float = 0.0
    quarters: bool = False
    scale: float = 0.0
    shift: float = 0.0  # shares of the size
    tilt: float = 0.0
    mirrored: bool = False
    fitting: bool = True  # or beside the golden of another board


LOTS = {
    "as given": Motion(),
    "turned ±12°": Motion(angle=12),
    "turned, scaled ±8 %, shifted ±15 %": Motion(angle=12, scale=0.08, shift=0.15),
    "quarter turns and ±15°": Motion(angle=15, quarters=True),
    "askew by 2 %, turned ±3°": Motion(angle=3, tilt=0.02),
    "mirrored, turned ±3°": Motion(angle=3, mirrored=True),
    "another board's golden": Motion(angle=3, fitting=False),
}


@dataclass(frozen=True, slots=True)
class Photograph:
    """A picture beside its golden, its labels, and where each place of the golden lies in it."""

    picture: Picture
    truths: Floats
    motion: Floats


@dataclass(slots=True)
class Tally:
    """What was found of a lot."""

    refused: int = 0
    off: list[float] = field(default_factory=list)  # pixels at the worst corner, if not refused
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(4, np.int64))
    spent: list[float] = field(default_factory=list)

    def told(self, fitting: bool) -> dict[str, float]:
        """The row of the table."""
        off, count = np.array(self.off), max(1, len(self.spent))
        row = {"refused": float(self.refused), "ms": float(np.median(self.spent) * 1000)}
        if not fitting:
            return row | {"let through": float(count - self.refused)}
        right, named, calls, labelled = self.counts.tolist()
        return row | {
            "within 1 px": float((off <= RIGHT).sum()),
            "beyond 2 px": float((off > WRONG).sum()),
            "worst corner": float(off.max(initial=0)),
            "recall": right / max(1, labelled),
            "precision": right / max(1, calls),
            "types": named / max(1, right),
        }


def boards() -> Iterator[Photograph]:
    """The pictures as they are."""
    for name, numbers in (("hripcb", ("01", "05", "11")), ("hripcb_more", ("08",))):
        root = real_data.unpacked(name)
        for board in numbers:
            paths = sorted((root / "images").glob(f"*/{board}_*.jpg"))
            pixels, clean = [golden_hripcb.read(each) for each in paths], root / "PCB_USED"
            reference = (
                golden_hripcb.read(clean / f"{board}.JPG")
                if board != "05"
                else np.median(pixels, axis=0).astype(np.uint8)
            )
            for path, each in zip(paths, pixels, strict=True):
                xml = root / "Annotations" / path.parent.name / f"{path.stem}.xml"
                picture = Picture(each, reference, path.name)
                yield Photograph(picture, golden_hripcb.labels(xml), np.eye(3))


def published() -> Iterator[Photograph]:
    """The pictures that HRIPCB itself has turned; angles are whole degrees."""
    more, first = real_data.unpacked("hripcb_more"), real_data.unpacked("hripcb")
    for listed in sorted((more / "rotation").glob("*_angles.txt")):
        kind = listed.stem.removesuffix("_angles")
        angles = dict(line.split() for line in listed.read_text().splitlines() if line.strip())
        for path in sorted((more / "rotation" / f"{kind}_rotation").glob("*.jpg")):
            pixels = golden_hripcb.read(path)
            reference = golden_hripcb.read(first / "PCB_USED" / f"{path.name[:2]}.JPG")
            motion = _turned(-float(angles[path.stem]), reference.shape, pixels.shape)
            truths = golden_hripcb.labels(more / "Annotations" / kind / f"{path.stem}.xml")
            picture = Picture(pixels, reference, path.name)
            yield Photograph(picture, moved(truths, motion, pixels.shape), motion)


def disturbed(
    board: Photograph, by: Motion, chance: np.random.Generator, other: Pixels
) -> Photograph:
    """A picture moved by chance, in a frame and on a ground of its own."""
    pixels = board.picture.pixels
    if by == Motion():
        return board
    angle = chance.uniform(-by.angle, by.angle) + 90 * chance.integers(4) * by.quarters
    frame = pixels.shape if abs(angle) < 45 else (*pixels.shape[1::-1], 3)
    turned = np.abs(_turned(angle, pixels.shape, pixels.shape)[:2, :2])
    if chance.random() < 0.5:
        frame = (*np.ceil(turned @ np.array(pixels.shape[1::-1])).astype(int)[::-1].tolist(), 3)
    motion = _turned(angle, pixels.shape, frame, 1 + chance.uniform(-by.scale, by.scale))
    motion[:2, 2] += chance.uniform(-by.shift, by.shift, 2) * frame[1::-1]
    motion = motion @ _tilt(chance.uniform(-by.tilt, by.tilt, (4, 2)), pixels.shape)
    if by.mirrored:
        motion = motion @ np.array([[-1.0, 0, pixels.shape[1] - 1], [0, 1, 0], [0, 0, 1]])
    ground = int(chance.choice([0, 148, 255]))
    there = cv2.warpPerspective(
        pixels, motion, frame[1::-1], flags=cv2.INTER_CUBIC, borderValue=(ground,) * 3
    )
    reference = board.picture.golden if by.fitting else other
    picture = Picture(np.asarray(there, np.uint8), reference, board.picture.name)
    return Photograph(picture, moved(board.truths, motion, frame), motion)


def _turned(
    angle: float, shape: tuple[int, ...], frame: tuple[int, ...], scale: float = 1.0
) -> Floats:
    """About the middle of the picture, into the middle of the frame."""
    middle = np.array(shape[1::-1]) / 2 - 0.5
    motion = np.vstack([cv2.getRotationMatrix2D(middle.tolist(), angle, scale), [0, 0, 1]])
    motion[:2, 2] += np.array(frame[1::-1]) / 2 - 0.5 - middle
    return np.asarray(motion, np.float64)


def _tilt(away: Floats, shape: tuple[int, ...]) -> Floats:
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    size = np.array(shape[1::-1])
    here, there = ((size * each).astype(np.float32) for each in (corners, corners + away))
    return np.asarray(cv2.getPerspectiveTransform(here, there), np.float64)


def moved(truths: Floats, motion: Floats, frame: tuple[int, ...]) -> Floats:
    """Labels around their moved middles; those whose middle leaves the frame go."""
    middle, half = (truths[:, :2] + truths[:, 2:4]) / 2, (truths[:, 2:4] - truths[:, :2]) / 2
    there = _through(motion, middle)
    if abs(motion[0, 1]) > abs(motion[0, 0]):
        half = half[:, ::-1]
    half = half * np.sqrt(abs(np.linalg.det(motion[:2, :2])))
    inside = ((there > 0) & (there < np.array(frame[1::-1]))).all(axis=1)
    return np.hstack([there - half, there + half, truths[:, 4:]])[inside]


def _through(motion: Floats, points: Floats) -> Floats:
    there = np.column_stack([points, np.ones(len(points))]) @ motion.T
    return np.asarray(there[:, :2] / there[:, 2:])


def corner_error(seen: Seen, board: Photograph) -> float:
    """By how many pixels the golden lies off, at the worst of its places in the picture."""
    assert board.picture.golden is not None
    height, width = board.picture.pixels.shape[:2]
    size = np.array(board.picture.golden.shape[1::-1])
    shares = np.linspace(INSET, 1 - INSET, POINTS)
    across, down = np.meshgrid(shares * size[0], shares * size[1])
    grid = np.column_stack([across.ravel(), down.ravel()])
    here = _through(board.motion, np.asarray(grid, np.float64)).round().astype(int)
    here = here[((here >= 0) & (here < np.array([width, height]))).all(axis=1)]
    x, y = seen.fit.field.dense(width, height, seen.fit.transform)
    found = np.column_stack([x[here[:, 1], here[:, 0]], y[here[:, 1], here[:, 0]]])
    back = np.asarray(np.linalg.inv(board.motion), np.float64)
    real = _through(back, here.astype(np.float64))
    return float(np.linalg.norm(found - real, axis=1).max())


def judge(model: GoldenModel, board: Photograph, tally: Tally, verbose: bool) -> None:
    """Look at one picture."""
    started = time.process_time()
    answer = model.predict([board.picture])[0]
    tally.spent.append(time.process_time() - started)
    if isinstance(answer, Refused):
        tally.refused += 1
        tally.counts[3] += len(board.truths)
        if verbose:
            print(f"  {answer}")
        return
    seen = model.look(board.picture)
    tally.off.append(corner_error(seen, board))
    _, first = np.unique(answer[:, :4], axis=0, return_index=True)
    found = answer[np.sort(first)]
    found = found[found[:, 4] >= SCORE]
    overlap = matching.overlaps(found, board.truths)
    chosen = matching.assign(overlap, (0.33,), np.zeros(len(board.truths), np.bool_))[0]
    hit = chosen >= 0
    named = (found[hit, 5] == board.truths[chosen[hit], 4]).sum()
    tally.counts += np.array([hit.sum(), named, len(found), len(board.truths)])
    if verbose:
        for a, b in zip(found[hit, 5], board.truths[chosen[hit], 4], strict=True):
            if a != b:
                print(f"    {CLASSES[int(b)]} called {CLASSES[int(a)]}")
        print(
            f"  {board.picture.name}: {tally.off[-1]:.1f} px off, fit {seen.fit.confidence:.3f},"
            f" {hit.sum()} of {len(board.truths)} found, {len(found)} called"
        )


def lot(
    model: GoldenModel, pictures: list[Photograph], by: Motion, seeds: int, verbose: bool
) -> Tally:
    """All pictures of a lot, moved by each seed."""
    tally = Tally()
    for seed in range(seeds if by != Motion() else 1):
        for number, board in enumerate(pictures):
            chance = np.random.default_rng([seed, number])
            other = pictures[(number + len(pictures) // 2) % len(pictures)].picture.golden
            assert other is not None
            judge(model, disturbed(board, by, chance, other), tally, verbose)
    return tally


def main() -> None:
    """Print a line for each lot."""
    options = argparse.ArgumentParser()
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--lots", default="", help="parts of names, with commas between")
    options.add_argument("--every", type=int, default=1, help="only each so manieth picture")
    options.add_argument("--keep", default="", help="under which name")
    options.add_argument("--verbose", action="store_true")
    given = options.parse_args()
    cv2.setNumThreads(1)
    model, rows = golden.untrained(CLASSES), []
    pictures = list(boards())[:: given.every]
    lots = {**LOTS, "turned by HRIPCB itself": None}
    for name, by in lots.items():
        if not any(part in name for part in given.lots.split(",")):
            continue
        shown = pictures if by is not None else list(published())[:: given.every]
        tally = lot(model, shown, by or Motion(), given.seeds, given.verbose)
        told = tally.told(by is None or (by.fitting and not by.mirrored))
        cells = [f"{what} {value:.3f}".rstrip("0").rstrip(".") for what, value in told.items()]
        print(f"{name} ({len(tally.spent)}): {', '.join(cells)}", flush=True)
        rows += [
            results.Figure(f"{name}, {what}", round(value, 3), "", f"{len(tally.spent)} pictures",
                           how=given.keep)
            for what, value in told.items()
        ]  # fmt: skip
    if given.keep:
        results.keep("turned", rows)


if __name__ == "__main__":
    main()
