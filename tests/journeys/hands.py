"""What a person's hands do on the canvas, and what the server then has."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page

from backend.domain import Box, Revision
from backend.labels import labelling
from tests.journeys.conftest import Site

PAGE = "document.querySelector('#shell-{name} .shell').page"
SPOT = """([x, y]) => {{
  const page = {page};
  const frame = page.stage.above.getBoundingClientRect();
  const at = page.stage.view.toScreen(x, y);
  return [at.x + frame.left, at.y + frame.top];
}}"""
HIT = """control => {
  const at = control.getBoundingClientRect();
  return control.contains(document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2));
}"""
STANDS_ON = """([tag, words]) => {
  const at = document.activeElement;
  return at.matches(tag) && `${at.ariaLabel} ${at.innerText}`.includes(words);
}"""

MOST_TABS = 150
PATIENCE = 60.0

Point = tuple[float, float]


@dataclass
class Hands:
    """One person at one page of the site."""

    page: Page
    site: Site
    name: str = "annotate"

    def open(self, project: str, image: int | None = None, **query: str) -> None:
        """Open the page by its address and wait until a picture stands there."""
        pairs = {"project": project, "tab": self.name, **query}
        if image is not None:
            pairs["image"] = str(image)
        address = "&".join(f"{name}={value}" for name, value in pairs.items())
        self.page.goto(f"{self.site.url}/?{address}")
        self.ready()

    def turn_to(self, image: int) -> None:
        """Bring another image onto the desk without loading the page again."""
        self.page.evaluate(f"id => {self.js}.jump(id)", image)
        self.press("Escape", "Escape", "Escape")
        self.page.wait_for_function(f"{self.js}.desk.item.id === {image}")
        self.page.evaluate(f"{self.js}.lastCursor = null; {self.js}.stage.view.fit()")
        self.page.evaluate(f"{self.js}.stage.redraw()")

    def ready(self) -> None:
        """Wait until a picture is painted."""
        shell = f"document.querySelector('#shell-{self.name} .shell')"
        self.page.wait_for_function(
            f"{shell}?.page?.desk.item && {shell}.page.pictures.kept.size > 0"
        )

    @property
    def js(self) -> str:
        return PAGE.format(name=self.name)

    def ask(self, expression: str) -> Any:
        """A value of the page's own state."""
        return self.page.evaluate(f"{self.js}.{expression}")

    @property
    def image(self) -> int:
        return int(self.ask("desk.item.id"))

    def spot(self, x: float, y: float) -> Point:
        """Where a point of the image stands on the screen."""
        found = self.page.evaluate(SPOT.format(page=self.js), [x, y])
        return float(found[0]), float(found[1])

    def point(self, x: float, y: float) -> Point:
        """Which point of the image stands there on the screen."""
        at = self.page.evaluate(f"at => {self.js}.stage.locate(at)", {"clientX": x, "clientY": y})
        return float(at["x"]), float(at["y"])

    def drag(self, start: Point, end: Point, button: Any = "left") -> None:
        """Press at a point of the image, move, let go."""
        self.page.mouse.move(*self.spot(*start))
        self.page.mouse.down(button=button)
        self.page.mouse.move(*self.spot(*end), steps=4)
        self.page.mouse.up(button=button)

    def click(self, x: float, y: float) -> None:
        """Click a point of the image."""
        self.page.mouse.click(*self.spot(x, y))

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def reach(self, tag: str, words: str, key: str = "Tab") -> None:
        """Press Tab until the focus stands on what says these words, or is named so."""
        for _ in range(MOST_TABS):
            if self.page.evaluate(STANDS_ON, [tag, words]):
                return
            self.press(key)
        raise AssertionError(f"No Tab leads to {words!r}.")

    def saved(self) -> None:
        """Wait until the page says that everything is on the server."""
        self.page.wait_for_function(
            f"{self.js}.saver.status.kind === 'saved' && !{self.js}.saver.entries.size"
        )

    def says(self, kind: str) -> None:
        """Wait until the status of saving is this."""
        self.page.wait_for_function(f"{self.js}.saver.status.kind === '{kind}'")

    def stored(self, image: int | None = None) -> Revision:
        """The newest revision in the database, after everything was saved."""
        self.saved()
        return self._newest(self.image if image is None else image)

    def arrived(self, image: int) -> Revision:
        """The first revision of an image, however late it comes."""
        end = time.monotonic() + PATIENCE
        while not self._newest(image).version and time.monotonic() < end:
            self.page.wait_for_timeout(50)
        return self._newest(image)

    def _newest(self, image: int) -> Revision:
        with self.site.database.read.begin() as session:
            found = labelling.history(session, image)
            return found[0] if found else labelling.revision(session, image, 0)


def hit(control: Locator) -> bool:
    """Whether a click at the middle of it reaches it."""
    return bool(control.evaluate(HIT))


@dataclass
class Desk:
    """One page of Annotate for all tests of a file, where each works on an image of its own."""

    hands: Hands
    images: Iterator[int]

    @classmethod
    def at(cls, page: Page, site: Site, project: str, images: Sequence[int]) -> Desk:
        """Open the first image; the tests have them in this order."""
        hands = Hands(page, site)
        hands.open(project, images[0])
        return cls(hands, iter(images))

    def turn(self) -> Hands:
        """The next image, with the proposals out of the way."""
        self.hands.turn_to(next(self.images))
        self.hands.page.evaluate(f"{self.hands.js}.setThreshold(1)")
        return self.hands


def corners(box: Box) -> tuple[float, float, float, float]:
    """The corners of a box."""
    return box.x1, box.y1, box.x2, box.y2


def near(box: Box, wanted: Sequence[float], within: float = 1.0) -> bool:
    """Whether a box stands where it should, to less than a pixel."""
    pairs = zip(corners(box), wanted, strict=True)
    return all(abs(is_ - should) < within for is_, should in pairs)
