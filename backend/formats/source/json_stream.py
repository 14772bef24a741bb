"""Reads a large JSON document one array element at a time, with the line each stands on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from backend.errors import Invalid

LARGEST = 64 * 1024 * 1024  # of one element; a longer one is no label
BLOCK = 1024 * 1024
_SPACE = re.compile(r"[ \t\r\n]*")
_ENDS = frozenset(",:]} \t\r\n")
_DECODER = json.JSONDecoder()


def elements(path: Path, name: str, block: int = BLOCK) -> Iterator[tuple[str, Any, int]]:
    """Each element of the arrays of a top-level object: the array's key, the value, its line.

    Other values of the object come as they are, under their key.
    """
    with path.open(encoding="utf-8-sig") as source:
        reader = _Reader(source, name, block)
        try:
            yield from _object(reader)
        except UnicodeDecodeError as error:
            raise Invalid(f"{name} is not UTF-8 text: {error.reason}.") from error


def _object(reader: _Reader) -> Iterator[tuple[str, Any, int]]:
    reader.expect("{")
    if reader.accept("}"):
        return
    while True:
        key = str(reader.value())
        reader.expect(":")
        if reader.accept("["):
            yield from ((key, value, line) for value, line in _array(reader))
        else:
            line = reader.line
            yield key, reader.value(), line
        if reader.accept("}"):
            return
        reader.expect(",")


def _array(reader: _Reader) -> Iterator[tuple[Any, int]]:
    if reader.accept("]"):
        return
    while True:
        reader.skip_space()
        line = reader.line
        yield reader.value(), line
        if reader.accept("]"):
            return
        reader.expect(",")


class _Reader:
    """A window over the text, and the number of the line at its start."""

    def __init__(self, source: TextIO, name: str, block: int) -> None:
        self._source = source
        self._block = block
        self._name = name
        self._text = ""
        self._at = 0
        self._ended = False
        self.line = 1

    def expect(self, letter: str) -> None:
        """Pass over this letter, which must come next."""
        if not self.accept(letter):
            raise self._wrong(f"{letter!r} was expected")

    def accept(self, letter: str) -> bool:
        """Pass over this letter if it comes next."""
        self.skip_space()
        if self._text[self._at : self._at + 1] != letter:
            return False
        self._at += 1
        return True

    def skip_space(self) -> None:
        """Pass over space, reading on as needed."""
        while True:
            found = _SPACE.match(self._text, self._at)
            assert found is not None
            self._move(found.end())
            if self._at < len(self._text) or not self._more():
                return

    def value(self) -> Any:
        """Read one value whole."""
        self.skip_space()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if not self._more():
                    raise self._wrong(str(error)) from error
                continue
            ended = self._text[end : end + 1] in _ENDS if end < len(self._text) else False
            if ended or not self._more():  # a number may go on in the next block
                self._move(end)
                return value

    def _move(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _more(self) -> bool:
        if self._ended or len(self._text) - self._at > LARGEST:
            return False
        block = self._source.read(max(self._block, len(self._text) - self._at))
        self._ended = not block
        self._text = self._text[self._at :] + block
        self._at = 0
        return not self._ended

    def _wrong(self, reason: str) -> Invalid:
        return Invalid(f"{self._name}, line {self.line}, is not JSON as expected: {reason}.")
