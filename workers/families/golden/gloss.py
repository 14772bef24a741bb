"""Where good photographs of a lot differ from their golden all the same: gloss, texture, shadow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden import difference

Pixels = NDArray[np.uint8]
FEWEST = 3  # boards of one golden
SMALLER = 4  # how much smaller the maps are
ICON, SAME = 16, 2.0  # pixels; grey levels, between two readings of one golden
AROUND = 6  # pixels around a label
FAINTEST = 6  # grey levels; less is noise
SPREAD = np.ones((3, 3), np.uint8)


@dataclass(frozen=True, slots=True)
class Map:
    """By how much good boards stand out from what one golden shows, small, in its frame."""

    icon: Pixels
    size: tuple[int, int]
    levels: Pixels

    def shows(self, golden: Pixels) -> bool:
        """Whether it is about this golden, which may have been decoded by other means."""
        apart = np.abs(self.icon.astype(np.float32) - icon(golden)).mean()
        return self.size == (golden.shape[1], golden.shape[0]) and bool(apart < SAME)


def of(maps: Sequence[Map], golden: Pixels) -> Pixels | None:
    """What may stand out from a golden, in its full size; None where nothing is known."""
    found = next((each for each in maps if each.shows(golden)), None)
    return None if found is None else np.asarray(cv2.resize(found.levels, found.size), np.uint8)


def icon(golden: Pixels) -> Pixels:
    """The golden at a glance."""
    small = cv2.resize(difference.grey(golden), (ICON, ICON), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


@dataclass(slots=True)
class Lot:
    """The boards of one golden; what stands out on two of them at least is the lot's own."""

    icon: Pixels
    size: tuple[int, int]
    most: Pixels
    second: Pixels
    count: int = 0

    def add(self, away: Pixels) -> None:
        """One more board, in the golden's frame."""
        self.second = np.maximum(self.second, np.minimum(self.most, away))
        self.most = np.maximum(self.most, away)
        self.count += 1


@dataclass(slots=True)
class GlossKeeper:
    """Looks at labelled photographs and keeps where they differ beside the labels."""

    lots: list[Lot] = field(default_factory=list)

    def see(
        self,
        golden: Pixels,
        away: Pixels,
        whole: NDArray[np.float64],
        labelled: NDArray[np.float64],
    ) -> None:
        """One board: how far it stands out, how the golden lies, and where its defects are."""
        good = away.copy()
        for x1, y1, x2, y2 in labelled[:, :4].round().astype(int).tolist():
            good[max(0, y1 - AROUND) : y2 + AROUND, max(0, x1 - AROUND) : x2 + AROUND] = 0
        good = np.where(good >= FAINTEST, good, 0).astype(np.uint8)
        lot = self._lot(golden)
        width, height = lot.size
        scale = np.array([[width / away.shape[1]], [height / away.shape[0]]])
        moved = cv2.warpAffine(good, whole * scale, lot.size)
        wide = cv2.dilate(moved, np.ones((SMALLER, SMALLER), np.uint8))
        small = (lot.most.shape[1], lot.most.shape[0])
        lot.add(np.asarray(cv2.resize(wide, small, interpolation=cv2.INTER_NEAREST), np.uint8))

    def maps(self) -> tuple[Map, ...]:
        """What is known of goldens with enough boards."""
        return tuple(
            Map(lot.icon, lot.size, np.asarray(cv2.dilate(lot.second, SPREAD), np.uint8))
            for lot in self.lots
            if lot.count >= FEWEST and lot.second.any()
        )

    def _lot(self, golden: Pixels) -> Lot:
        size, seen = (golden.shape[1], golden.shape[0]), icon(golden)
        for lot in self.lots:
            if Map(lot.icon, lot.size, lot.most).shows(golden):
                return lot
        blank = np.zeros((-(-size[1] // SMALLER), -(-size[0] // SMALLER)), np.uint8)
        self.lots.append(Lot(seen, size, blank, blank.copy()))
        return self.lots[-1]
