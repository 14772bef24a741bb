"""An export that a page has asked for: one .zip in the cache, which the page then fetches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from backend.errors import Refused
from backend.jobs import kinds
from backend.labels import export_choice, exports
from backend.projects import catalogue
from workers.context import Context


def run(context: Context) -> Mapping[str, Any]:
    """Export; the file appears when it is complete, and half of one goes with the job's folder."""
    request = cast("kinds.Export", context.request)
    if request.project_id is None:
        raise Refused("An export needs a project.")
    written = context.folder / "export.zip"
    written.unlink(missing_ok=True)

    def told(done: int, total: int) -> None:
        context.progress(done / max(total, 1), f"{done:,} of {total:,} pictures")

    with context.database.read.begin() as session:
        name = catalogue.get(session, request.project_id).name
        asked = export_choice.asked(request.source, request.shares, request.seed)
        result = exports.run(session, context.files, name, written, request.format, told, asked)
    out = context.settings.exports / f"{context.job.id}.zip"
    out.parent.mkdir(parents=True, exist_ok=True)
    written.replace(out)
    found = {**result.as_json(), "path": str(out), "file": f"{name}-{request.format}.zip"}
    return {**found, "problems": found["problems"][:500]}
