"""Small pictures and label sets that tests draw for themselves."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from PIL import Image

from backend.domain import Box, Split
from backend.formats import format_table
from backend.formats.base import Item, OutgoingPicture, Problem
from backend.formats.source import tree
from backend.formats.source.tree import Tree

ENDINGS = {".jpg": "JPEG", ".png": "PNG", ".bmp": "BMP", ".webp": "WEBP", ".tif": "TIFF"}


def picture(
    width: int = 64, height: int = 48, *, shade: int = 90, mode: str = "L", kind: str = "JPEG"
) -> bytes:
    """The bytes of a picture of one shade."""
    out = io.BytesIO()
    image = Image.new("L", (width, height), shade % 256)
    image.putpixel((shade % width, shade % height), 255 - shade % 256)
    image.convert(mode).save(out, kind)
    return out.getvalue()


def written(
    name: str,
    *corners: tuple[float, float, float, float, str],
    split: Split | None = None,
    golden: OutgoingPicture | None = None,
    labelled: bool = True,
    label: str = "",
    group: str = "",
    is_golden: bool = False,
    shade: int = 90,
) -> OutgoingPicture:
    """A picture to export."""
    content = picture(shade=shade, kind=ENDINGS[Path(name).suffix])
    return OutgoingPicture(
        name,
        lambda: content,
        64,
        48,
        tuple(Box(*corner) for corner in corners),
        labelled,
        label,
        split,
        group,
        golden.name if golden else "",
        golden.read if golden else None,
        is_golden,
    )


def read_back(folder: Path, name: str = format_table.AUTO) -> tuple[dict[str, Item], list[Problem]]:
    """What the readers make of a folder."""
    found: dict[str, Item] = {}
    problems: list[Problem] = []
    for part in format_table.parts(opened(folder), name):
        for item in part.format.read(part.tree):
            if isinstance(item, Problem):
                problems.append(item)
            elif isinstance(item, Item):
                assert item.name not in found
                found[item.name] = item
    return found, problems


def opened(source: Path) -> Tree:
    """The tree of a source that needs no unpacking."""
    return tree.open_source(source, source / "never", 10**9)


def corners(boxes: Iterable[object]) -> list[tuple[object, ...]]:
    """Boxes as plain tuples, whatever shape they have."""
    return [tuple(getattr(box, n) for n in ("x1", "y1", "x2", "y2", "label")) for box in boxes]


def lay(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def numbered(number: int) -> bytes:
    """A picture that no other number has."""
    image = Image.new("L", (64, 48))
    image.putdata([(number >> bit) % 2 * 255 for bit in range(24)] * 128)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
