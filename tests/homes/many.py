"""Pictures by the thousand that are small, and whose files many of them share."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.files import Files

DIFFERENT = 40


def boards(
    database: Database, files: Files, name: str, count: int, different: int = DIFFERENT
) -> int:
    """Boards of 96×96 with one defect each, and their golden; gives the project's id."""
    golden = np.zeros((96, 96), np.uint8)
    golden[20:30, :] = golden[60:70, :] = 255
    stored = [_stored(files, golden)]
    for i in range(different):
        board = golden.copy()
        at = 8 + 2 * (i % DIFFERENT)
        board[20:30, at : at + 6] = 0
        board[95, : i // DIFFERENT] = 255
        stored.append(_stored(files, board))
    new = [NewImage("golden", stored[0], 96, 96, is_golden=True)]
    new += [
        NewImage(f"{i:05}", stored[1 + i % different], 96, 96, golden="golden")
        for i in range(count)
    ]
    with database.write.begin() as session:
        project = catalogue.create(session, name).id
        images.add(session, project, new, "ann")
    return project


def photo(path: Path, seed: int) -> None:
    """A small picture that no other seed gives, put into its folder in one step."""
    pixels = np.random.default_rng(seed).integers(0, 255, (60, 80, 3), np.uint8)
    part = path.with_suffix(".part")
    part.write_bytes(cv2.imencode(".png", cv2.resize(pixels, (640, 480)))[1].tobytes())
    part.rename(path)


def _stored(files: Files, pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> str:
    return files.put(cv2.imencode(".png", pixels)[1].tobytes())
