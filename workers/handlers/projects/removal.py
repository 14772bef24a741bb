"""The removal of a project: it waits for the jobs that were under way, then takes the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from backend.jobs import kinds
from backend.upkeep import removal
from workers.context import Context

# A training may still write its last checkpoint.
PATIENCE = 600.0


def run(context: Context) -> Mapping[str, Any]:
    """Remove; done again, it goes on where it was."""
    request = cast("kinds.Remove", context.request)

    def told(done: int, total: int) -> None:
        context.progress(done / total, f"{done} of {total} tables")

    removal.finish(context.database, request.removed, told, PATIENCE)
    return {"removed": request.name}
