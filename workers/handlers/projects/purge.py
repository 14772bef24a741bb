"""The removal, for good, of the images of a project that were put away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.errors import Refused
from backend.upkeep import removal
from workers.context import Context


def run(context: Context) -> Mapping[str, Any]:
    """Purge; done again, it goes on where it was."""
    project_id = context.request.project_id
    if project_id is None:
        raise Refused("Images are removed from a project; this job names none.")

    def told(done: int, total: int) -> None:
        context.progress(done / max(total, 1), f"{done:,} of {total:,} images")

    return {"images": removal.purge(context.database, project_id, told)}
