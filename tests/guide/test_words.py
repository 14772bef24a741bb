"""What people read says a thing by its one word, and not by one that the glossary sets aside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from app import cli
from tests.guide import paper

ROWS = [(row[0].strip("*"), row[2].split(", ")) for row in paper.table(paper.page("words"), "word")]
# These words also mean something else that people are told of, as here.
ALSO = {
    "best": "the best of three",
    "checkpoint": "what a training goes on from",
    "duplicate": "to make a second box",
    "fold": "a part of a cross-validation, and to fold a list",
    "process": "what the operating system runs",
    "result": "what came of a run, or of another program",
    "sample": "the project that Loupe draws",
}
# What other programs call their own.
THEIRS = {
    ("formats", "template"), ("transfers.js", "template"), ("formats", "annotation"),
    ("operations", "object"),
}  # fmt: skip
SENTENCE = re.compile(r"\s*[A-Z].*[a-z] [a-z]", flags=re.DOTALL)


def helps(command: Any, name: str = "loupe") -> Iterator[tuple[str, str]]:
    """What each command and its options say of themselves."""
    told = (getattr(one, "help", None) or "" for one in command.params)
    yield name, "\n".join([command.help or "", *told])
    for word, one in (getattr(command, "commands", None) or {}).items():
        yield from helps(one, f"{name} {word}")


def scripts() -> Iterator[tuple[str, str]]:
    """The sentences and labels that stand in the scripts of the pages."""
    for path in sorted((paper.ROOT / "assets").rglob("*.js")):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"), flags=re.DOTALL)
        found = re.findall(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', text)
        told = (re.sub(r"\$\{[^}]*\}", "…", plain or filled) for plain, filled in found)
        yield path.name, "\n".join(one for one in told if SENTENCE.match(one))


def prose(text: str) -> str:
    """A page without its code."""
    blocks = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", blocks)


def read() -> dict[str, str]:
    """All that people read, by where it stands; the glossary names the words itself."""
    pages = {name: prose(text) for name, text in paper.pages().items() if name != "words"}
    return {**pages, **dict(helps(typer.main.get_command(cli.cli))), **dict(scripts())}


READ = read()


@pytest.mark.parametrize(("word", "wrong"), ROWS, ids=[word for word, _ in ROWS])
def test_a_thing_is_called_by_its_one_word(word: str, wrong: list[str]) -> None:
    found = [
        (place, one, text[max(0, hit.start() - 30) : hit.end() + 30])
        for one in wrong
        if one not in ALSO
        for place, text in READ.items()
        for hit in re.finditer(rf"\b{re.escape(one)}(?:s|es)?\b(?!=)", text, flags=re.IGNORECASE)
        if (place, one) not in THEIRS
    ]
    assert found == [], f"that is a {word}"


def test_what_is_let_through_is_still_needed() -> None:
    wrong = {one for _, words in ROWS for one in words}
    assert set(ALSO) <= wrong
    for place, word in THEIRS:
        assert re.search(word, READ[place], flags=re.IGNORECASE), (place, word)


def test_sentences_are_found_where_people_read_them() -> None:
    assert "never torn apart" in READ["bulk.js"]
    assert "Draw a sample project" in READ["loupe sample"]
    assert "The same key does the same thing" in READ["labelling"]
