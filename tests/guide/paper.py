"""What is written for people: the README, and the guide's pages by name."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
GUIDE = ROOT / "assets" / "guide"
CONTENTS = GUIDE / "README.md"
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def page(name: str) -> str:
    """The text of a page."""
    return (GUIDE / f"{name}.md").read_text("utf-8")


def pages() -> dict[str, str]:
    """Every page of the guide but its contents."""
    return {path.stem: page(path.stem) for path in sorted(GUIDE.glob("*.md")) if path != CONTENTS}


def code(text: str) -> list[str]:
    """All that stands between code marks in the lines of a text; blocks of code are not."""
    return CODE.findall(re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def table(text: str, head: str) -> list[list[str]]:
    """The rows of each table of a text whose first column is called so."""
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        first, _, *rows = (line.strip("|").split("|") for line in block.strip().splitlines())
        if first[0].strip() == head:
            found += [[cell.strip() for cell in row] for row in rows]
    return found


def anchors(text: str) -> set[str]:
    """The headings of a text, as an address names them."""
    heads = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def broken(path: Path) -> list[str]:
    """The links of a page that lead nowhere in the repository."""
    return [link for link in LINK.findall(path.read_text("utf-8")) if not _leads(path, link)]


def _leads(path: Path, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return True
    name, _, place = link.partition("#")
    there = (path.parent / name).resolve() if name else path
    if not there.exists() or not there.is_relative_to(ROOT):
        return False
    return not place or place in anchors(there.read_text("utf-8"))
