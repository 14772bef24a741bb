"""The surest doubts as crops beside the golden: the label red, what was found green."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.domain import Box
from backend.labels import gallery
from backend.review.doubts.inbox import Held
from backend.storage.files import Files
from tests.workers.handlers.places import Place

ROOM, SIDE = 3.5, 240
Pixels = NDArray[np.uint8]
LABEL, FOUND = (30, 30, 230), (30, 180, 30)
PAGE = """<!doctype html><meta charset="utf-8"><title>Labels in doubt</title>
<style>body {{ font: 13px system-ui; background: #1b1e24; color: #ddd }} figure {{ margin: 6px;
display: inline-block; width: 490px; vertical-align: top }}</style>
<h1>{title}</h1><p>Red: the label. Green: what was found instead.</p>{figures}
"""


def write(path: Path, place: Place, found: Sequence[Held]) -> int:
    """Write the page; returns how many it shows."""
    with place.database.read() as session:
        shown = gallery.items(session, [one.image.id for one in found])
    goldens = {one.image.id: one.golden_sha256 for one in shown}
    figures = [
        _figure(at, place.files, one, goldens[one.image.id]) for at, one in enumerate(found, 1)
    ]
    title = f"The {len(figures)} surest doubts"
    path.write_text(PAGE.format(title=title, figures="".join(figures)), encoding="utf-8")
    return len(figures)


def _crop(files: Files, one: Held, sha256: str, *, drawn: bool) -> Pixels:
    """The place with room around it, and both boxes."""
    raw = np.fromfile(files.local_path(sha256), np.uint8)
    picture = np.asarray(cv2.imdecode(raw, cv2.IMREAD_COLOR), np.uint8)
    boxes = [box for box in (one.label, one.found) if box]
    x1, y1 = min(b.x1 for b in boxes), min(b.y1 for b in boxes)
    x2, y2 = max(b.x2 for b in boxes), max(b.y2 for b in boxes)
    wide = int(max(x2 - x1, y2 - y1, 16) * ROOM / 2)
    left, top = int((x1 + x2 - wide) / 2), int((y1 + y2 - wide) / 2)
    padded = cv2.copyMakeBorder(picture, wide, wide, wide, wide, cv2.BORDER_CONSTANT)
    part = padded[top + wide : top + 2 * wide, left + wide : left + 2 * wide]
    shown = np.asarray(cv2.resize(part, (SIDE, SIDE), interpolation=cv2.INTER_NEAREST), np.uint8)
    for box, color in ((one.label, LABEL), (one.found, FOUND)) if drawn else ():
        if box:
            _draw(shown, box, left, top, SIDE / wide, color)
    return shown


def _draw(
    shown: Pixels, box: Box, left: int, top: int, by: float, color: tuple[int, int, int]
) -> None:
    first = int((box.x1 - left) * by), int((box.y1 - top) * by)
    last = int((box.x2 - left) * by), int((box.y2 - top) * by)
    cv2.rectangle(shown, first, last, color, 1)


def _figure(at: int, files: Files, one: Held, golden: str) -> str:
    crops = [_crop(files, one, one.image.sha256, drawn=True)]
    if golden:
        crops.append(_crop(files, one, golden, drawn=False))
    png = base64.b64encode(cv2.imencode(".png", np.hstack(crops))[1].tobytes()).decode()
    label = one.label.label if one.label else "no label"
    found = f"{one.found.label} {one.score:.2f}" if one.found else "nothing"
    told = f"{at}. {one.kind}: {label} → {found}, {one.certainty:.2f}, {one.image.name}"
    caption = f"<figcaption>{html.escape(told)}</figcaption>"
    return f'<figure><img src="data:image/png;base64,{png}" alt="">{caption}</figure>'
