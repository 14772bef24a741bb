"""A cluster benchmark: lay out the snapshot, take every turn that was not taken, tell the table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from backend.errors import Refused
from backend.jobs import kinds
from backend.models.scaling import scalings
from workers import cluster, data
from workers.context import Context
from workers.handlers.models import train
from workers.scaling import turns
from workers.scaling.bench import Bench


def run(context: Context) -> Mapping[str, Any]:
    """A second attempt goes on with the turn that was under way."""
    request = cast("kinds.Scale", context.request)
    laid_out = data.lay_out(context, request.snapshot_id)
    ray = cluster.join(context)
    start = train.started_from(context, request.start, laid_out)
    turns.run(Bench(context, request, laid_out, start, ray))
    with context.database.read() as session:
        found = scalings.of_job(session, context.job.id)
    if not any(line.turns for line in found.lines):
        # What was not measured is not tried again, so another attempt would say the same.
        raise Refused(f"Nothing could be measured. {found.lines[0].error}")
    return {"lines": [dataclasses.asdict(line) for line in found.lines], "about": found.about}
