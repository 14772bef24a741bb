"""The guide: the pages of assets/guide as the site shows them."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app import assets
from backend.errors import NotFound

FOLDER = assets.FOLDER / "guide"
CONTENTS = "README"
STYLE = "styles/guide.css"
ADDRESS = re.compile(r"[a-z]+:")
ASIDE = re.compile(r"^(\* \[.+?\]\(.+?\)).*$", re.MULTILINE)
TOPIC = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page, with the anchor that leads to it."""

    level: int
    words: str
    anchor: str


def shown(text: str) -> str:
    """What is written, as HTML; HTML that stands in it is the text that it is."""
    return _html(_parsed(text))


def names() -> list[str]:
    """The pages there are; the contents are one of them."""
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def address(name: str) -> str:
    """Where the site has a page."""
    return "/guide" if name == CONTENTS else f"/guide/{name}"


@cache
def page(name: str = CONTENTS) -> str:
    """A page as HTML, with the contents of the guide beside it."""
    if name not in names():
        raise NotFound("The guide has no such page; /guide lists those that it has.")
    tokens = _parsed(_text(name))
    heads = headings(tokens)
    filled = {
        "TITLE": html.escape(heads[0].words),
        "LOOKS": assets.url("styles/style.css"),
        "STYLE": assets.url(STYLE),
        "THEME": assets.url("common/theme.js"),
        "CONTENTS": _beside(name, heads),
        "PAGE": _html(tokens),
    }
    text = (assets.FOLDER / "guide.html").read_text("utf-8")
    return re.sub(r"{{([A-Z]+)}}", lambda found: filled[found[1]], text)


def headings(tokens: Sequence[Token]) -> list[Heading]:
    """The headings of a page, from its title on; each is given its anchor."""
    found: list[Heading] = []
    for head, inline in pairwise(tokens):
        if head.type == "heading_open":
            words = "".join(one.content for one in inline.children or ())
            head.attrSet("id", anchor(words))
            found.append(Heading(int(head.tag[1:]), words, anchor(words)))
    return found


def anchor(words: str) -> str:
    """How an address names a heading; the same where the repository shows the page."""
    return re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-")


def _text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text("utf-8")


def _beside(here: str, heads: Sequence[Heading]) -> str:
    """The list of all pages; below the one that is shown, its own headings."""
    listed = "## " + _text(CONTENTS).partition("\n## ")[2]
    short = TOPIC.sub(r"**\1**", ASIDE.sub(r"\1", listed))
    below = "".join(f"\n  * [{head.words}](#{head.anchor})" for head in heads if head.level == 2)
    own = f"]({here}.md)"
    tokens = _parsed(short.replace(own, own + below))
    for link in (one for token in tokens for one in token.children or ()):
        if link.type == "link_open" and link.attrGet("href") == address(here):
            link.attrSet("aria-current", "page")
    return _html(tokens)


def _parsed(text: str) -> list[Token]:
    tokens = []
    for token in _reader().parse(text):
        if token.type == "inline":
            token.children = _led(token.children or [])
        # The policy of the page knows no style that stands in it.
        if str(token.attrs.pop("style", "")).endswith("right"):
            token.attrSet("class", "number")
        if token.type == "table_open":
            tokens.append(Token("wide_open", "div", 1, {"class": "wide"}, block=True))
        tokens.append(token)
        if token.type == "table_close":
            tokens.append(Token("wide_close", "div", -1, block=True))
    return tokens


def _led(tokens: list[Token]) -> list[Token]:
    """Links as the site has their places; what the site does not have stays as words."""
    kept, shut = [], False
    for token in tokens:
        if token.type == "link_open":
            there = _leads(str(token.attrGet("href")))
            shut = not there
            token.attrSet("href", there)
        if not (shut and token.type.startswith("link_")):
            kept.append(token)
        shut = shut and token.type != "link_close"
    return kept


def _leads(link: str) -> str:
    """The address of what a page links to, or nothing where only the repository has it."""
    if ADDRESS.match(link) or link.startswith("#"):
        return link
    name, mark, place = link.partition("#")
    file = (FOLDER / name).resolve()
    if file.parent == FOLDER and file.suffix == ".md" and file.is_file():
        return address(file.stem) + mark + place
    return ""


def _html(tokens: Sequence[Token]) -> str:
    reader = _reader()
    return str(reader.renderer.render(tokens, reader.options, {}))


@cache
def _reader() -> MarkdownIt:
    """Reads tables too, and no HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")
