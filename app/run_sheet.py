"""A run as one page that can be sent: HTML that asks for nothing from outside, or its PDF."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from app import assets
from backend import version
from backend.domain import Image
from backend.errors import LoupeError
from backend.previews.previews import Previews
from backend.review import tally
from backend.review.boards.sheet import MOST_LISTED, RunSheet
from backend.review.boards.verdicts import StandingBoard, StandingDefect

HTML, PDF = "html", "pdf"
KINDS = (HTML, PDF)
TEMPLATE = "run_sheet.html"
STYLE = "styles/run_sheet.css"
CROPS = 3
SIDE = 240
LEAST = 48
ROOM = 2.2  # a crop is so many times as wide as its defect
Place = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Crop:
    """A defect from near, and the same place of the golden where there is one."""

    defect: StandingDefect
    place: Place
    picture: str
    golden: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One of the worst boards, whole and with its defects from near."""

    board: StandingBoard
    picture: str
    crops: tuple[Crop, ...]
    lost: str = ""


def write(read: RunSheet, previews: Previews, author: str, kind: str = HTML) -> Iterator[bytes]:
    """The page, or the PDF of it, part by part; what is wrong is said before the first of them."""
    shown = [_shown(previews, read, board) for board in read.worst]
    parts = _parts(read, shown, author)
    return parts if kind == HTML else _paper(read, parts)


def _paper(read: RunSheet, parts: Iterator[bytes]) -> Iterator[bytes]:
    from app.paper import printing  # which takes a third of a second, and few ask for it

    page = b"".join(parts).decode()
    yield printing.write(page, f"{read.project.name}, run {read.run.id}")


def _parts(read: RunSheet, shown: list[Shown], author: str) -> Iterator[bytes]:
    page = _pages().get_template(TEMPLATE)
    stream = page.stream(
        sheet=read,
        worst=shown,
        colors={one.name: one.color for one in read.project.classes},
        thresholds=_thresholds(read),
        bound=MOST_LISTED,
        style=assets.content(assets.FOLDER / STYLE).decode(),
        author=author,
        at=datetime.now(UTC),
        code=version.code(),
    )
    for part in stream:
        yield part.encode()


def _thresholds(read: RunSheet) -> Mapping[float, list[str]]:
    """The classes that fail a board, by the score from which they count."""
    found: dict[float, list[str]] = {}
    for one in read.project.classes:
        if read.ruled.fails(one.name):
            found.setdefault(tally.least(read.ruled.rule, one.name), []).append(one.name)
    return found


def _shown(previews: Previews, read: RunSheet, board: StandingBoard) -> Shown:
    try:
        crops = () if read.ruled.once else _crops(previews, read, board)
        return Shown(board, _inline(previews.thumb(board.image.sha256)), crops)
    except LoupeError as error:
        # A picture that is lost is no reason to say nothing of a lot.
        return Shown(board, "", (), str(error))


def _crops(previews: Previews, read: RunSheet, board: StandingBoard) -> tuple[Crop, ...]:
    failing = [one for one in board.defects if read.ruled.fails(one.label)]
    first = sorted(failing, key=lambda one: (-one.severity, -(one.score or 1.0)))[:CROPS]
    return tuple(_crop(previews, board, one) for one in first)


def _crop(previews: Previews, board: StandingBoard, defect: StandingDefect) -> Crop:
    image = board.image
    place = around(defect.place, image.width, image.height)
    near = previews.piece(image.sha256, _shares(place, image), SIDE)
    golden = ""
    if board.golden_sha256:
        there = _shares(_laid(place, board.lie), image)
        golden = _inline(previews.piece(board.golden_sha256, there, SIDE))
    return Crop(defect, place, _inline(near), golden)


def around(place: Place, width: int, height: int) -> Place:
    """A square around a defect with room, within its picture as far as that is large enough."""
    x1, y1, x2, y2 = place
    side = max(LEAST, ROOM * max(x2 - x1, y2 - y1))
    wide, high = min(side, width), min(side, height)
    left = min(max(0.0, (x1 + x2 - wide) / 2), width - wide)
    top = min(max(0.0, (y1 + y2 - high) / 2), height - high)
    return left, top, left + wide, top + high


def _laid(place: Place, lie: tuple[float, ...]) -> Place:
    """Where a place of a board lies on its golden, which is stretched to the board's size."""
    if not lie:
        return place
    x1, y1, x2, y2 = place
    a, b, c, d, e, f = lie
    corners = [(x1, y1), (x2, y1), (x1, y2), (x2, y2)]
    across = [a * x + b * y + c for x, y in corners]
    down = [d * x + e * y + f for x, y in corners]
    return min(across), min(down), max(across), max(down)


def _shares(place: Place, image: Image) -> Place:
    x1, y1, x2, y2 = place
    return x1 / image.width, y1 / image.height, x2 / image.width, y2 / image.height


def _inline(picture: Path) -> str:
    """A small picture as an address that holds it."""
    return f"data:image/jpeg;base64,{base64.b64encode(picture.read_bytes()).decode()}"


@cache
def _pages() -> Environment:
    """Whatever a value says, it is text."""
    pages = Environment(
        loader=FileSystemLoader(assets.FOLDER),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"percent": _percent, "score": _score, "moment": _moment}
    return pages


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _score(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
