"""The table: every operation there is, by its name."""

from __future__ import annotations

from collections.abc import Mapping

from app.operations import jobs, labels, models, projects, review, runs
from app.operations.operation import Operation

ROOMS = (projects, labels, models, runs, review, jobs)
OPERATIONS: Mapping[str, Operation] = {one.name: one for room in ROOMS for one in room.OPERATIONS}
