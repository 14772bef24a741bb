"""A picture with the boxes that a run found in it, as a file of its own."""

from __future__ import annotations

from pathlib import Path

from PIL import ImageDraw, ImageOps
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import safe_pictures
from backend.errors import NotFound
from backend.storage import findings
from backend.storage.files import Files
from backend.storage.tables import RunImageRow

COLOUR = (220, 40, 40)
LETTERS = 14


def write(session: Session, files: Files, run: int, name: str, out: Path) -> None:
    """Write it, upright and with what each box is called."""
    found = session.execute(
        select(RunImageRow.image_id, RunImageRow.sha256).filter_by(run_id=run, name=name)
    ).first()
    if found is None or not found.sha256:
        raise NotFound(f"Run {run} has seen no picture {name[:80]}.")
    boxes = findings.detections(session, run, [found.image_id])[found.image_id]
    with files.open(found.sha256) as stream, safe_pictures.opened(stream, name) as (image, _):
        picture = ImageOps.exif_transpose(image).convert("RGB")
    pen = ImageDraw.Draw(picture)
    for one in boxes:
        pen.rectangle((one.x1, one.y1, one.x2, one.y2), outline=COLOUR, width=2)
        above = (one.x1, max(one.y1 - LETTERS - 2, 0))
        pen.text(above, f"{one.label} {one.score:.2f}", COLOUR, font_size=LETTERS)
    picture.save(out)
