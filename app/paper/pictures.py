"""What is drawn on paper: a picture with frames over it, and a bar."""

from __future__ import annotations

import base64
import io

from reportlab.lib.colors import HexColor
from reportlab.lib.utils import ImageReader
from reportlab.platypus import Flowable

from app.paper.tree import Element

GROUND, EDGE = "#1b1e24", "#d9dde3"
DASHES = [3.0, 2.0]


class Picture(Flowable):
    """An `svg` of a picture with frames, or an `img`, as large as the room that it is given."""

    def __init__(self, drawn: Element, wide: float, high: float) -> None:
        super().__init__()
        self._drawn = drawn
        self._left, self._top, across, down = _view(drawn)
        self._scale = min(wide / across, high / down) if across and down else 0.0
        self.width, self.height = across * self._scale or wide, down * self._scale or high

    def wrap(self, aW: float, aH: float) -> tuple[float, float]:  # noqa: ARG002, N803
        """So large it is."""
        return self.width, self.height

    def draw(self) -> None:
        """The picture, cut off where it leaves its view, and the frames over it."""
        page = self.canv
        page.saveState()
        edge = page.beginPath()
        edge.rect(0, 0, self.width, self.height)
        page.clipPath(edge, stroke=0, fill=0)
        page.setFillColor(HexColor(GROUND))
        page.rect(0, 0, self.width, self.height, stroke=0, fill=1)
        if self._drawn.tag == "img":
            page.drawImage(_image(self._drawn.given["src"]), 0, 0, self.width, self.height)
        for one in self._drawn.elements:
            if one.tag == "image":
                page.drawImage(_image(one.given["href"]), *self._placed(one))
            elif one.tag == "rect":
                page.setStrokeColor(HexColor(one.given["stroke"]))
                page.setDash(DASHES if "stroke-dasharray" in one.given else [])
                page.rect(*self._placed(one), stroke=1, fill=0)
        page.setDash([])
        page.setStrokeColor(HexColor(EDGE))
        page.rect(0, 0, self.width, self.height, stroke=1, fill=0)
        page.restoreState()

    def _placed(self, one: Element) -> tuple[float, float, float, float]:
        """Where it stands on paper, whose heights are counted from below."""
        x, y, wide, high = (float(one.given.get(name, 0)) for name in ("x", "y", "width", "height"))
        below = self.height - (y + high - self._top) * self._scale
        return (x - self._left) * self._scale, below, wide * self._scale, high * self._scale


class Bar(Flowable):
    """A bar of so much of its cell."""

    def __init__(self, share: float, color: str, high: float = 7) -> None:
        super().__init__()
        self._share, self._color, self.height = share, color, high

    def wrap(self, aW: float, aH: float) -> tuple[float, float]:  # noqa: ARG002, N803
        """As wide as there is room."""
        self.width = aW
        return aW, self.height

    def draw(self) -> None:
        """The part of it that is filled."""
        self.canv.setFillColor(HexColor(self._color))
        self.canv.rect(0, 0, max(1.0, self.width * self._share), self.height, stroke=0, fill=1)


def _view(drawn: Element) -> tuple[float, float, float, float]:
    told = drawn.given.get("viewbox", "0 0 1 1").split()
    left, top, across, down = (float(one) for one in told)
    return left, top, across, down


def _image(address: str) -> ImageReader:
    """The picture that an address holds."""
    return ImageReader(io.BytesIO(base64.b64decode(address.partition(",")[2])))
