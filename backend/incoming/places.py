"""Where pictures are said to be, on this machine or in Snowflake: one way into a project."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from backend.errors import NotFound, Refused
from backend.formats import format_table, masks
from backend.formats.source import tree
from backend.formats.source.tree import Tree
from backend.incoming import stages, tables
from backend.incoming.tables import Elsewhere, TableOptions
from backend.labels import imports, intake
from backend.labels.imports import Imported, Into
from backend.projects import catalogue
from backend.settings import Settings
from backend.warehouse.address import Address
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a source is read: its format, its masks; of a table also where its pictures are."""

    format: str = format_table.AUTO
    masks: str = masks.SAID
    table: TableOptions = field(default_factory=TableOptions)
    pictures: str = ""


def import_(into: Into, said: str, settings: Settings, wanted: Wanted | None = None) -> Imported:
    """Import from a folder, an archive, a label file, a picture, a stage or a table."""
    wanted = wanted or Wanted()
    if tables.is_table(said):
        return from_table(into, said, stages.account(settings), settings, wanted)
    if wanted.pictures or wanted.table != TableOptions():
        raise Refused("Columns and pictures are said of a table: table:DATABASE.SCHEMA.TABLE.")
    if not stages.is_stage(said):
        return imports.run(into, Path(said), settings, wanted.format, wanted.masks)
    with _on_stage(into, said, stages.account(settings), settings) as found:
        return imports.run(into, found, settings, wanted.format, wanted.masks)


def from_table(
    into: Into, said: str, known: Address, settings: Settings, wanted: Wanted
) -> Imported:
    """Import from a table of the Snowflake at that address."""
    with (
        closing(SnowflakeConnection(known)) as connection,
        _elsewhere(into, wanted.pictures, known, settings) as elsewhere,
    ):
        table = tables.opened(connection, known.digest, said, wanted.table)
        waits = functools.partial(into.progress, 0, 0)
        found = tables.found(table, elsewhere, settings.cache, into.files, waits)
        with closing(found):
            return imports.take(into, found, table.count(), settings)


@contextmanager
def _on_stage(into: Into, said: str, known: Address, settings: Settings) -> Iterator[Tree]:
    with stages.brought(said, known, settings.cache, into.files, into.progress) as found:
        yield tree.of_files((one.name, str(into.files.local_path(one.sha256))) for one in found)


@contextmanager
def _elsewhere(into: Into, said: str, known: Address, settings: Settings) -> Iterator[Elsewhere]:
    """Where the pictures are that a table only names: said, or in the project already."""
    if not said:
        yield lambda files: _own(into, files)
    elif stages.is_stage(said):
        with _on_stage(into, said, known, settings) as found:
            yield lambda files: _of_tree(into, found, files)
    else:
        folder = Path(said).expanduser()
        if not folder.is_dir():
            raise NotFound(f"There is no folder {folder} with the pictures of the table.")
        here = tree.open_source(folder, folder, 0)
        yield lambda files: _of_tree(into, here, files)


def _own(into: Into, files: Sequence[str]) -> Mapping[str, str]:
    """Those of a lot stand below its name, except goldens and what came in without one."""
    names = {file: f"{into.lot}/{file}" if into.lot else file for file in files}
    with into.database.read.begin() as session:
        try:
            project = catalogue.find(session, into.project)
        except NotFound:
            return {}
        known = intake.known(session, project.id, [*names, *names.values()])
    found = ((file, known.get(name) or known.get(file), name) for file, name in names.items())
    return {
        file: one.sha256
        for file, one, name in found
        if one and (one.name == name or one.lot == into.lot or one.is_golden)
    }


def _of_tree(into: Into, there: Tree, files: Sequence[str]) -> Mapping[str, str]:
    found = ((name, there.find(name)) for name in files)
    return {name: into.files.put_file(there.path(one)) for name, one in found if one}
