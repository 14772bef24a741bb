"""What Snowflake calls things: identifiers and places on stages, read as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backend.errors import Invalid

LONGEST = 255
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
_NAME = re.compile(r'"((?:[^"]|"")+)"|([^."/]+)')
_FORMS = "@STAGE/path, @DATABASE.SCHEMA.STAGE/path, @~/path or @%TABLE/path"


@dataclass(frozen=True, slots=True)
class Stage:
    """A place on a stage: the names of database, schema and stage as far as told, and a path."""

    names: tuple[str, ...]
    path: str = ""

    @property
    def is_named(self) -> bool:
        """Whether it is a stage of its own, not that of a user or a table."""
        return self.names != ("~",) and not self.names[-1].startswith("%")

    @property
    def whole(self) -> Stage:
        """The stage without a path."""
        return Stage(self.names)

    def at(self, path: str) -> str:
        """A path on this stage, in SQL's words; to be bound as one value."""
        return f"{self}/{path}"

    def __str__(self) -> str:
        """As SQL and people write it."""
        last = self.names[-1]
        shown = last if last == "~" else ("%" if last[0] == "%" else "") + quoted(last.lstrip("%"))
        place = ".".join([*map(quoted, self.names[:-1]), shown])
        return f"@{place}/{self.path}" if self.path else f"@{place}"


def stage(said: str) -> Stage:
    """The place that somebody has written."""
    if said == "@~" or said.startswith("@~/"):
        return Stage(("~",), said[3:].strip("/"))
    names, rest = _read(said.removeprefix("@"), said, _FORMS)
    if not said.startswith("@") or (rest and not rest.startswith("/")):
        raise Invalid(f"{said[:80]!r} is no place on a stage of Snowflake: {_FORMS}.")
    if "/" in names[-1]:
        raise Invalid(f"The stage {names[-1]!r} has a slash in its name, which Loupe cannot read.")
    return Stage(tuple(names), rest.strip("/"))


def table(said: str) -> tuple[str, ...]:
    """The names of database, schema and table that somebody has written, as far as told."""
    names, rest = _read(said, said, "TABLE or DATABASE.SCHEMA.TABLE")
    if rest:
        raise Invalid(f"{said[:80]!r} is no table: TABLE or DATABASE.SCHEMA.TABLE.")
    return tuple(names)


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever stands in it."""
    if not name or len(name) > LONGEST or "\0" in name:
        raise Invalid(
            f"{name[:40]!r} is no name in Snowflake, where one has 1 to {LONGEST} characters."
        )
    if PLAIN.fullmatch(name) and name == name.upper():
        return name
    return '"' + name.replace('"', '""') + '"'


def _read(text: str, said: str, forms: str) -> tuple[list[str], str]:
    """The names at the beginning of a text, and what follows them."""
    names: list[str] = []
    while True:
        mark = "%" if text.startswith("%") else ""
        found = _NAME.match(text.removeprefix(mark))
        if found is None or len(names) == 3:
            raise Invalid(f"{said[:80]!r} names nothing in Snowflake: {forms}.")
        names.append(mark + _folded(found))
        text = text[len(mark) + found.end() :]
        if mark or not text.startswith("."):
            return names, text
        text = text[1:]


def _folded(found: re.Match[str]) -> str:
    """A name without quotes is one in capitals."""
    if found[1]:
        name = found[1].replace('""', '"')
    elif PLAIN.fullmatch(found[2]):
        name = found[2].upper()
    else:
        raise Invalid(f'The name {found[2][:80]} has to stand in double quotes: "{found[2][:80]}".')
    quoted(name)
    return name
