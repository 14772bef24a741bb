"""Takes in a table of boards: a line a picture or a lot, with what else is known of it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.errors import Invalid
from backend.formats import cells
from backend.formats.base import Problem
from backend.labels import facts
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.tables import ImageRow
from backend.storage.writers import locks, retries
from backend.words import many

KEYS = ("image", "lot")
PART = 1000
Line = tuple[int, dict[str, str], dict[str, str]]  # its number, its keys, what it says


@dataclass(slots=True)
class Joined:
    """Pictures that a line was found for, those of them of which something new is said."""

    pictures: int = 0
    changed: int = 0
    columns: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)

    def __str__(self) -> str:
        offered = f"; Overview filters by {', '.join(self.offered)}" if self.offered else ""
        pictures = many(self.pictures, "picture is", "pictures are")
        return f"{pictures} told of; of {self.changed:,} something is new{offered}."


@dataclass(frozen=True, slots=True)
class _Picture:
    id: int
    name: str
    lot: str
    facts: str
    facet: str


def join(database: Database, project: str, path: Path) -> Joined:
    """Keep what the table says of pictures; of each, its own line goes before that of its lot."""
    joined = Joined()
    names, lines = _lines(path, joined)
    with database.read.begin() as session:
        project_id = catalogue.find(session, project).id
        pictures = _pictures(session, project_id)
        known = facts.columns(session, project_id)
    told = _told(lines, pictures, path.name, joined)
    joined.pictures, joined.columns = len(told), names
    said = {one.id: _merged(one.facts, told.get(one.id, {})) for one in pictures}
    columns = _few(facts.offered(_values([*known, *names], said.values())), said.values())
    joined.offered = tuple(columns)
    _keep(database, project_id, columns, pictures, said, joined)
    joined.problems.sort(key=lambda one: one.line or 0)
    return joined


def _lines(path: Path, joined: Joined) -> tuple[tuple[str, ...], list[Line]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.reader(file)
            head = [cells.plain(one).strip() for one in next(table, [])]
            names = _names(head, path.name)
            return names, list(_read(table, head, path.name, joined))
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise Invalid(f"{path.name} cannot be read as a table: {error}") from error


def _names(head: Sequence[str], file: str) -> tuple[str, ...]:
    names = tuple(one for one in head if one.lower() not in KEYS)
    if len(names) == len(head) or not names or len(set(map(str.lower, head))) < len(head):
        raise Invalid(
            f"{file}, line 1: it has to name the columns, each once: image or lot, and what is "
            "said of it, such as image,line,product."
        )
    wrong = [one for one in names if not 0 < len(one) <= facts.LONGEST_NAME or _unfit(one)]
    if wrong or len(names) > facts.MOST_COLUMNS:
        raise Invalid(
            f"{file}, line 1: up to {facts.MOST_COLUMNS} columns are named by 1 to "
            f"{facts.LONGEST_NAME} printable characters without =."
        )
    return names


def _unfit(name: str) -> bool:
    return not name.isprintable() or "=" in name


def _read(
    table: Iterator[list[str]], head: Sequence[str], file: str, joined: Joined
) -> Iterator[Line]:
    for number, row in enumerate(table, 2):
        if not any(one.strip() for one in row):
            continue
        values = [cells.plain(one).strip() for one in row]
        if len(values) != len(head):
            reason = f"it has {len(values)} cells, and the first line {len(head)}."
            joined.problems.append(Problem(file, number, reason))
        elif any(len(one) > facts.LONGEST_VALUE or not one.isprintable() for one in values):
            reason = f"a cell is longer than {facts.LONGEST_VALUE} characters, or not readable."
            joined.problems.append(Problem(file, number, reason))
        else:
            told = dict(zip(head, values, strict=True))
            keys = {name.lower(): told.pop(name) for name in head if name.lower() in KEYS}
            yield number, keys, told


def _pictures(session: Session, project_id: int) -> list[_Picture]:
    row = ImageRow
    query = select(row.id, row.name, row.group, row.facts, row.facet).where(
        row.project_id == project_id, row.is_golden.is_(False), row.deleted.is_(None)
    )
    return [_Picture(*told) for told in session.execute(query.order_by(row.id))]


def _told(
    lines: Sequence[Line], pictures: Sequence[_Picture], file: str, joined: Joined
) -> dict[int, dict[str, str]]:
    """What the lines say of each picture."""
    by_name = {one.name: one.id for one in pictures}
    lots = {one.lot for one in pictures if one.lot}
    of_lots: dict[str, dict[str, str]] = {}
    of_pictures: dict[int, dict[str, str]] = {}
    for number, keys, said in lines:
        image, lot = keys.get("image", ""), keys.get("lot", "")
        named = _named(by_name, image, lot) if image else None
        if named is not None:
            of_pictures[named] = {**of_pictures.get(named, {}), **said}
        elif lot in lots and not image:
            of_lots[lot] = {**of_lots.get(lot, {}), **said}
        else:
            what = f"a picture {image!r}" if image else f"a lot {lot!r}"
            joined.problems.append(Problem(file, number, f"the project has not {what}."))
    return {
        one.id: {**of_lots.get(one.lot, {}), **of_pictures.get(one.id, {})}
        for one in pictures
        if one.lot in of_lots or one.id in of_pictures
    }


def _named(by_name: Mapping[str, int], image: str, lot: str) -> int | None:
    """The picture of that name, or of that name below its lot."""
    found = by_name.get(f"{lot}/{image}") if lot else None
    return by_name.get(image) if found is None else found


def _merged(text: str, told: Mapping[str, str]) -> str:
    """An empty cell takes away what was said."""
    return facts.written({**facts.read(text), **told}) if told else text


def _values(names: Sequence[str], texts: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in names}
    for text in set(texts):
        for name, value in facts.read(text).items():
            found.setdefault(name, set()).add(value)
    return {name: values for name, values in found.items() if values}


def _few(columns: facts.Columns, texts: Iterable[str]) -> facts.Columns:
    """The first of these columns, by which boards fall into few kinds: all are summed up."""
    told = [facts.read(text) for text in set(texts)]
    while len({tuple(one.get(name) for name in columns) for one in told}) > facts.MOST_FACETS:
        columns = dict(list(columns.items())[:-1])
    return columns


def _keep(
    database: Database,
    project_id: int,
    columns: facts.Columns,
    pictures: Sequence[_Picture],
    said: Mapping[int, str],
    joined: Joined,
) -> None:
    def rows() -> Iterator[dict[str, object]]:
        for one in pictures:
            text = said[one.id]
            told = {name: value for name, value in facts.read(text).items() if name in columns}
            facet = facts.written(told)
            joined.changed += text != one.facts
            if (text, facet) != (one.facts, one.facet):
                yield {"id": one.id, "facts": text, "facet": facet}

    with retries.patient(database.write.begin)() as session:
        locks.naming(session, project_id)
        catalogue.set_option(session, project_id, facts.OPTION, columns)
    waiting = rows()
    while part := list(islice(waiting, PART)):
        with retries.patient(database.write.begin)() as session:
            session.execute(update(ImageRow), part)
