"""Signs of layouts that are XML, JSON or lines of words and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from backend.formats.strange.peek import Peek

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_ROOT = re.compile(r"<([A-Za-z][\w.-]*)")
_DOTA_HEAD = ("imagesource", "gsd")
_KITTI = (14, 15)  # numbers behind the class, the last one a score
_MOT = range(8, 11)
_UPRIGHT = 1e-4  # of the picture; less is what a written number loses
_BOXES = re.compile(r"\S+(\s+-?\d+(\.\d+)?(,-?\d+(\.\d+)?){3,4})+")


def cvat(peek: Peek) -> bool:
    """Images or tracks below <annotations>."""
    inside = "<image " in peek.text or "<track " in peek.text or "<meta>" in peek.text
    return _root(peek) == "annotations" and inside


def dlib(peek: Peek) -> bool:
    return _root(peek) == "dataset" and "<images>" in peek.text


def label_studio(peek: Peek) -> bool:
    """Its full export, or its short one."""
    full = '"result"' in peek.text and '"from_name"' in peek.text
    short = '"original_width"' in peek.text and "labels" in peek.text
    return peek.text.startswith("[") and (full or short)


def kitti(peek: Peek) -> bool:
    """`class truncated occluded alpha x1 y1 x2 y2 …`."""
    rows = [line.split() for line in peek.lines]
    return bool(rows) and all(is_kitti(row) for row in rows)


def is_kitti(words: Sequence[str]) -> bool:
    """Whether a line is a class and fourteen or fifteen numbers."""
    return len(words) - 1 in _KITTI and not _is_number(words[0]) and _are_numbers(words[1:])


def dota(peek: Peek) -> bool:
    """`x1 y1 x2 y2 x3 y3 x4 y4 class difficult`, perhaps below two lines about the picture."""
    rows = [line.split() for line in peek.lines if not line.lower().startswith(_DOTA_HEAD)]
    return bool(rows) and all(
        len(row) in (9, 10) and _are_numbers(row[:8]) and not _is_number(row[8]) for row in rows
    )


def icdar(peek: Peek) -> bool:
    """`x1,y1,x2,y2[,x3,y3,x4,y4],text` of a picture that the file is called after."""
    stem = PurePosixPath(peek.name).stem
    if not any(peek.names_picture(one) for one in (stem, stem.removeprefix("gt_"))):
        return False
    return bool(peek.lines) and all(_is_icdar(line) for line in peek.lines)


def _is_icdar(line: str) -> bool:
    words = [word.strip() for word in line.split(",")] if "," in line else line.split()
    for corners in (8, 4):
        rest = words[corners:]
        if rest and _are_numbers(words[:corners]) and not _are_numbers(rest):
            return True
    return False


def mot(peek: Peek) -> bool:
    """Eight to ten numbers a line, between commas."""
    rows = [line.rstrip(",").split(",") for line in peek.lines]
    return bool(rows) and all(len(row) in _MOT and _are_numbers(row) for row in rows)


def listed(peek: Peek) -> bool:
    """`picture x1,y1,x2,y2,class …`, or the name of a picture above its boxes, as in WIDER FACE."""
    if not peek.lines or not peek.names_picture(peek.lines[0].split()[0]):
        return False
    if _BOXES.fullmatch(peek.lines[0]):
        return True
    below = [line.split() for line in peek.lines[1:3]]
    return (
        len(below) == 2
        and len(below[0]) == 1
        and below[0][0].isdigit()
        and (len(below[1]) >= 4 and _are_numbers(below[1]))
    )


def turned(peek: Peek) -> bool:
    """`class x1 y1 x2 y2 x3 y3 x4 y4` in fractions: rectangles, of which one at least is turned."""
    rows = [line.split() for line in peek.lines]
    if not rows or any(len(row) != 9 or not _are_numbers(row) for row in rows):
        return False
    corners = [[float(word) for word in row[1:]] for row in rows]
    return all(map(_is_rectangle, corners)) and not all(map(_is_upright, corners))


def _is_rectangle(at: Sequence[float]) -> bool:
    """Whether the diagonals halve each other; in fractions, right angles are none."""
    return abs(at[0] + at[4] - at[2] - at[6]) < 1e-3 and abs(at[1] + at[5] - at[3] - at[7]) < 1e-3


def _is_upright(at: Sequence[float]) -> bool:
    xs, ys = at[::2], at[1::2]
    sides = [(abs(xs[n] - xs[n - 1]), abs(ys[n] - ys[n - 1])) for n in range(4)]
    return all(min(side) < _UPRIGHT for side in sides)


def _root(peek: Peek) -> str:
    found = _ROOT.search(peek.text)
    return found[1] if found and peek.text.startswith("<") else ""


def _is_number(word: str) -> bool:
    return _NUMBER.fullmatch(word.strip()) is not None


def _are_numbers(words: Sequence[str]) -> bool:
    return bool(words) and all(map(_is_number, words))
