"""Reads a Pascal VOC annotation, with the line of each box; entities are refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from backend.errors import Invalid


@dataclass(slots=True)
class Annotation:
    """What one XML file says; numbers are still text."""

    filename: str = ""
    width: str = ""
    height: str = ""
    objects: list[Object] = field(default_factory=list)


@dataclass(slots=True)
class Object:
    """One `<object>`: its name and corners as text, and its line."""

    line: int
    name: str = ""
    corners: dict[str, str] = field(default_factory=dict)


def read(data: bytes) -> Annotation:
    """Parse an annotation."""
    builder = _Builder()
    parser = expat.ParserCreate()
    builder.parser = parser
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise Invalid(f"it is not XML: {error}.") from error
    if not builder.started:
        raise Invalid("it is not a Pascal VOC annotation: no <annotation> at its root.")
    return builder.found


def _refuse(*_: Any) -> None:
    raise Invalid("it declares an XML entity, which no annotation needs.")


class _Builder:
    """Gathers the elements that matter by the path to them."""

    parser: expat.XMLParserType

    def __init__(self) -> None:
        self.found = Annotation()
        self.started = False
        self._path: list[str] = []
        self._text: list[str] = []

    def start(self, tag: str, _: dict[str, str]) -> None:
        if not self._path and tag == "annotation":
            self.started = True
        self._path.append(tag)
        self._text.clear()
        if self._path == ["annotation", "object"]:
            self.found.objects.append(Object(self.parser.CurrentLineNumber))

    def text(self, text: str) -> None:
        self._text.append(text)

    def end(self, tag: str) -> None:
        value = "".join(self._text).strip()
        match self._path:
            case ["annotation", "filename"]:
                self.found.filename = value
            case ["annotation", "size", "width"]:
                self.found.width = value
            case ["annotation", "size", "height"]:
                self.found.height = value
            case ["annotation", "object", "name"]:
                self.found.objects[-1].name = value
            case ["annotation", "object", "bndbox", _]:
                self.found.objects[-1].corners[tag] = value
        self._path.pop()
        self._text.clear()
