"""Which golden shows the same product as a picture: the one way to find it, among thousands.

Each golden has a small signature, kept by the hash of its bytes. The signatures say which few
goldens are alike; those alone are laid on the picture, and the best must fit.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import LoupeError
from backend.runs.detection import Target
from backend.settings import Settings
from backend.storage.files import Files
from workers.engine import decoding
from workers.families.golden import difference
from workers.families.golden.fit import registration

CLOSEST = 4  # of which a picture is laid on, by look
SIDE, GLANCE, ICON = 320, 96, 24  # pixels, of the pictures that are compared
LEAST = 0.8  # agreement from which a golden shows the same product
SURE = 0.95  # from which no other is laid on
EDGE = 4  # pixels
KEPT = 64  # small pictures in memory
THREADS = 4
FILE = "signatures"
RECORD = np.dtype([("sha256", "V32"), ("icon", np.uint8, (ICON * ICON,))])
Pixels = NDArray[np.uint8]
Signature = NDArray[np.float32]


class Lookalikes:
    """Signatures of goldens, and the small pictures of the last ones that were laid on."""

    def __init__(self, files: Files, settings: Settings) -> None:
        self._files = files
        self._file = settings.cache / FILE
        self._signatures: dict[str, Signature | None] = {}
        self._small: OrderedDict[str, Pixels | None] = OrderedDict()

    def learn(
        self, goldens: Sequence[Target], told: Callable[[int, int], None] = lambda *_: None
    ) -> None:
        """See to it that each golden has its signature; the first time they are all opened."""
        if all(one.sha256 in self._signatures for one in goldens):
            return
        icons = _kept(self._file)
        unknown = list({one.sha256 for one in goldens} - {*self._signatures, *icons})
        with ThreadPoolExecutor(THREADS) as pool:
            made = zip(unknown, pool.map(self._icon, unknown), strict=True)
            for done, (sha256, icon) in enumerate(made, 1):
                self._signatures[sha256] = None
                if icon is not None:
                    icons[sha256] = icon
                told(done, len(unknown))
        if unknown:
            _keep(self._file, icons)
        self._signatures |= {sha256: _normal(icon) for sha256, icon in icons.items()}

    def best(self, board: Pixels, goldens: Sequence[Target]) -> Target | None:
        """The golden that lies best; a lone one must fit all the same, so no other product does."""
        fits: list[tuple[float, Target]] = []
        for golden in self.closest(board, goldens):
            fits.append((self._worth(board, golden), golden))
            if fits[-1][0] >= SURE:
                break
        worth, best = max(fits, key=lambda one: one[0], default=(0.0, None))
        return best if worth >= LEAST else None

    def closest(self, board: Pixels, goldens: Sequence[Target]) -> list[Target]:
        """The few goldens that look most like the picture, best first."""
        self.learn(goldens)
        known = [one for one in goldens if self._signatures[one.sha256] is not None]
        if len(known) <= 1:
            return known
        signatures = np.stack([_there(self._signatures[one.sha256]) for one in known])
        alike = np.max([signatures @ turned for turned in _turned(signature(board))], axis=0)
        return [known[at] for at in np.argsort(-alike, kind="stable")[:CLOSEST]]

    def open(self, picture: Target) -> Pixels | None:
        """A small picture; None where it cannot be read, which the run itself will tell."""
        if picture.sha256 not in self._small:
            self._small[picture.sha256] = self._opened(picture.sha256)
            if len(self._small) > KEPT:
                self._small.popitem(last=False)
        self._small.move_to_end(picture.sha256)
        return self._small[picture.sha256]

    def _worth(self, board: Pixels, golden: Target) -> float:
        pixels = self.open(golden)
        return 0.0 if pixels is None else worth(board, pixels)

    def _icon(self, sha256: str) -> Pixels | None:
        found = self._opened(sha256, GLANCE)
        return None if found is None else _icon(found).ravel()

    def _opened(self, sha256: str, side: int = SIDE) -> Pixels | None:
        try:
            data = decoding.read(self._files.location(sha256))
            return small(decoding.decode(data, sha256, side).pixels, side)
        except LoupeError:
            return None


def small(pixels: Pixels, side: int = SIDE) -> Pixels:
    """A picture as it is compared: grey, of equal levels, and small."""
    grey = difference.grey(pixels)
    scale = side / max(grey.shape)
    reduced = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return difference.stretched(np.asarray(reduced, np.uint8))


def signature(board: Pixels) -> Signature:
    """What a small picture shows at a glance, of length 1."""
    return _normal(_icon(board).ravel())


def worth(board: Pixels, golden: Pixels) -> float:
    """How well a golden fits, times how much of the board it shows; both are small pictures."""
    if not (registration.comparable(board) and registration.comparable(golden)):
        return 0.0
    found = registration.best(board, golden, SURE)
    height, width = board.shape
    across, down = np.meshgrid(np.linspace(0, width, 17), np.linspace(0, height, 17))
    here = np.column_stack([across.ravel(), down.ravel(), np.ones(across.size)])
    there = here @ found.whole(width, height).T
    inside = (there > -EDGE) & (there < np.array([width, height]) + EDGE)
    return float(found.confidence * inside.all(axis=1).mean())


def _icon(picture: Pixels) -> Pixels:
    return np.asarray(cv2.resize(picture, (ICON, ICON), interpolation=cv2.INTER_AREA), np.uint8)


def _normal(icon: Pixels) -> Signature:
    values = icon.astype(np.float32) - icon.mean(dtype=np.float32)
    return np.asarray(values / max(1e-6, float(np.linalg.norm(values))), np.float32)


def _turned(one: Signature) -> list[Signature]:
    """As it is, and as it looks when the board lies on another side."""
    square = one.reshape(ICON, ICON)
    return [np.rot90(square, quarter).ravel() for quarter in range(4)]


def _there(one: Signature | None) -> Signature:
    assert one is not None
    return one


def _kept(file: Path) -> dict[str, Pixels]:
    """The icons by the hash of their picture; none where the file is not whole."""
    try:
        records = np.frombuffer(file.read_bytes(), RECORD)
    except (OSError, ValueError):
        return {}
    return {bytes(one["sha256"]).hex(): one["icon"] for one in records}


def _keep(file: Path, icons: Mapping[str, Pixels]) -> None:
    """Written whole or not at all; who cannot write it makes them anew the next time."""
    rows = [(np.void(bytes.fromhex(sha256)), icon) for sha256, icon in icons.items()]
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(np.array(rows, RECORD).tobytes())
        part.rename(file)
    except OSError:
        part.unlink(missing_ok=True)
