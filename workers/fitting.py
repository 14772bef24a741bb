"""Finds the golden of an image that has none: by group, by name, or by look."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import LoupeError
from backend.services import detecting, images
from backend.services.detecting import Subject
from workers.context import Context
from workers.engine import pictures
from workers.models.golden import difference, registration

MOST = 500  # goldens of a project
CLOSEST = 4  # of which a picture is laid on, by look
SIDE, ICON = 320, 24  # pixels, of the pictures that are compared
LEAST = 0.8  # agreement from which a golden shows the same product
EDGE = 4  # pixels
PART = 200  # images at a time
Pixels = NDArray[np.uint8]
Found = dict[int, list[int]]  # images by their golden


def fit(context: Context, project_id: int, source: Mapping[str, object]) -> None:
    """Give each image of the source that has no golden the project's golden that fits it best."""
    with context.database.read() as session:
        lost = [s for s in detecting.subjects(session, project_id, source) if not s.golden_sha256]
        goldens = detecting.goldens(session, project_id, MOST) if lost else []
    if not goldens:
        return
    shelf = _Shelf(context)
    for start in range(0, len(lost), PART):
        context.progress(0.0, f"Finding goldens: image {start + 1} of {len(lost)}")
        _keep(context, _fitted(lost[start : start + PART], goldens, shelf))


def candidates(image: Subject, goldens: Sequence[Subject]) -> Sequence[Subject]:
    """The goldens of the image's group, else those whose name its own begins with, else all."""
    group = [golden for golden in goldens if image.group and golden.group == image.group]
    named = [golden for golden in goldens if _stem(image.name).startswith(_stem(golden.name))]
    return group or named or goldens


def _stem(name: str) -> str:
    """What names the product: `line3/a7_golden.png` is `line3/a7`."""
    stem = posixpath.splitext(name)[0].lower()
    for word in ("golden", "template", "temp", "reference", "ref", "clean"):
        stem = stem.removesuffix(word).rstrip("-_ .")
    return stem or name


def _fitted(lost: Sequence[Subject], goldens: Sequence[Subject], shelf: _Shelf) -> Found:
    found: Found = {}
    for image in lost:
        best = _best(image, candidates(image, goldens), shelf)
        if best is not None:
            found.setdefault(best.image_id, []).append(image.image_id)
    return found


def _best(image: Subject, goldens: Sequence[Subject], shelf: _Shelf) -> Subject | None:
    """The golden that lies best; one alone must fit all the same, so that no other product does."""
    board = shelf.open(image, keep=False)
    if board is None:
        return None
    close = [(golden, pixels) for golden in goldens if (pixels := shelf.open(golden)) is not None]
    close = sorted(close, key=lambda one: -_alike(board, one[1]))[:CLOSEST]
    fits = [(_worth(board, pixels), golden) for golden, pixels in close]
    worth, golden = max(fits, key=lambda one: one[0], default=(0.0, None))
    return golden if worth >= LEAST else None


def _worth(board: Pixels, golden: Pixels) -> float:
    """How well the golden fits, times how much of the board it shows."""
    if not (registration.comparable(board) and registration.comparable(golden)):
        return 0.0
    found = registration.best(board, golden)
    height, width = board.shape
    across, down = np.meshgrid(np.linspace(0, width, 17), np.linspace(0, height, 17))
    here = np.column_stack([across.ravel(), down.ravel(), np.ones(across.size)])
    there = here @ found.whole(width, height).T
    inside = (there > -EDGE) & (there < np.array([width, height]) + EDGE)
    return float(found.confidence * inside.all(axis=1).mean())


def _alike(board: Pixels, golden: Pixels) -> float:
    """How well two pictures agree at a glance."""
    ours, theirs = (
        cv2.resize(each, (ICON, ICON), interpolation=cv2.INTER_AREA).ravel()
        for each in (board, golden)
    )
    ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    return float(ours @ theirs / max(1e-9, np.linalg.norm(ours) * np.linalg.norm(theirs)))


def _keep(context: Context, found: Found) -> None:
    if not found:
        return
    with context.database.write.begin() as session:
        context.fence(session)
        for golden, ids in found.items():
            images.set_golden(session, ids, golden)


class _Shelf:
    """Small grey pictures; those of goldens stay."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._kept: dict[str, Pixels | None] = {}

    def open(self, picture: Subject, keep: bool = True) -> Pixels | None:
        """The picture; None where it cannot be read, which the run itself will tell."""
        if picture.sha256 in self._kept:
            return self._kept[picture.sha256]
        pixels = self._read(picture)
        if keep:
            self._kept[picture.sha256] = pixels
        return pixels

    def _read(self, picture: Subject) -> Pixels | None:
        try:
            data = pictures.read(self._context.files.location(picture.sha256))
            grey = difference.grey(pictures.decode(data, picture.name).pixels)
        except LoupeError:
            return None
        scale = SIDE / max(grey.shape)
        small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        return difference.stretched(np.asarray(small, np.uint8))
