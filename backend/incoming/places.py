"""Where pictures are said to be, on this machine or in Snowflake: one way into a project."""

from __future__ import annotations

from pathlib import Path

from backend.formats import format_table, masks
from backend.formats.source import tree
from backend.incoming import stages
from backend.labels import imports
from backend.labels.imports import Imported, Into
from backend.settings import Settings


def import_(
    into: Into,
    said: str,
    settings: Settings,
    format_name: str = format_table.AUTO,
    masks_by: str = masks.SAID,
) -> Imported:
    """Import from a folder, an archive, a label file, a picture or a place on a stage."""
    if not stages.is_stage(said):
        return imports.run(into, Path(said), settings, format_name, masks_by)
    known = stages.account(settings)
    with stages.brought(said, known, settings.cache, into.files, into.progress) as found:
        files = ((one.name, str(into.files.local_path(one.sha256))) for one in found)
        return imports.run(into, tree.of_files(files), settings, format_name, masks_by)
