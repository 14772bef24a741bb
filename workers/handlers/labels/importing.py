"""An import that a page has asked for; what was uploaded for it is removed at its end."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from backend.errors import Refused
from backend.incoming import places, stages
from backend.incoming.places import Wanted
from backend.jobs import kinds
from backend.labels.imports import Into
from backend.projects import catalogue
from backend.runs import detection
from workers.context import Context
from workers.goldens.lookalikes import Lookalikes

LISTED = 500


def run(context: Context) -> Mapping[str, Any]:
    """Import; a second attempt skips what the first one brought in."""
    request = cast("kinds.Import", context.request)
    if request.project_id is None:
        raise Refused("An import needs a project.")
    with context.database.read() as session:
        name = catalogue.get(session, request.project_id).name

    def told(done: int, total: int) -> None:
        if total:
            context.progress(done / total, f"{done:,} of {total:,} pictures")
        else:
            context.progress(None, stages.WAITING)

    author, fence, lot = context.job.author, context.fence, request.lot
    into = Into(context.database, context.files, name, author, fence, told, lot)
    wanted = Wanted(request.format, request.masks)
    result = places.import_(into, request.source, context.settings, wanted)
    _drop_upload(Path(request.source), context.settings.uploads)
    if result.goldens:
        _learn(context, request.project_id)
    found = result.as_json()
    return {**found, "problems": found["problems"][:LISTED]}


def _learn(context: Context, project_id: int) -> None:
    """Look at the goldens once, so that nobody who tries a picture waits for it."""
    with context.database.read() as session:
        goldens = detection.goldens(session, project_id)

    def told(done: int, all_: int) -> None:
        context.progress(done / all_, f"Golden {done:,} of {all_:,}")

    Lookalikes(context.files, context.settings).learn(goldens, told)


def _drop_upload(source: Path, uploads: Path) -> None:
    if uploads in source.parents:
        token = source.relative_to(uploads).parts[0]
        shutil.rmtree(uploads / token, ignore_errors=True)
