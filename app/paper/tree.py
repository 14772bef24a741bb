"""A page of ours as a tree of its elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "img", "image", "rect"})
SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Element:
    """An element with what stands in it."""

    tag: str
    given: dict[str, str] = field(default_factory=dict)
    inside: list[Element | str] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """Its classes."""
        return self.given.get("class", "").split()

    @property
    def elements(self) -> list[Element]:
        """The elements in it, without the text between them."""
        return [one for one in self.inside if isinstance(one, Element)]

    @property
    def text(self) -> str:
        """What it says."""
        parts = (one if isinstance(one, str) else one.text for one in self.inside)
        return SPACE.sub(" ", "".join(parts)).strip()

    def all(self, *tags: str) -> Iterator[Element]:
        """The nearest elements below it that are such ones."""
        for one in self.elements:
            if one.tag in tags:
                yield one
            else:
                yield from one.all(*tags)


def parse(page: str) -> Element:
    """The body of a page."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return next(reader.root.all("body"))


class _Reader(HTMLParser):
    """Our pages close what they open."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        one = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].inside.append(one)
        if tag not in VOID:
            self._open.append(one)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._open[-1].inside.append(Element(tag, given))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].inside.append(data)
