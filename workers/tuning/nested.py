"""What mlflow is to know of a search: a run a trial, under the run of the search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from backend.domain import JobState, Search, Trial, TrialState
from backend.models import tracked

STATES = {
    TrialState.RUNNING: JobState.RUNNING,
    TrialState.DONE: JobState.DONE,
    TrialState.STOPPED: JobState.CANCELLED,
    TrialState.FAILED: JobState.FAILED,
}


def begin(session: Session, search: Search, trial: Trial, parameters: Mapping[str, Any]) -> None:
    """A run for a trial that was just drawn."""
    if not tracked.wanted():
        return
    tracked.begin(
        session,
        search.project_id,
        _name(trial),
        parent=tracked.of_job(session, search.job_id),
        parameters={"family": search.family, **parameters},
        tags={"search": search.id, "trial": trial.number, "snapshot": search.snapshot_id},
    )


def tell(
    session: Session, search: Search, trial: Trial, figures: Mapping[str, float], epoch: int
) -> None:
    """What a trial has measured after an epoch."""
    if (run := tracked.named(session, search.project_id, _name(trial))) is not None:
        tracked.tell(session, run, figures, epoch)


def end(session: Session, search: Search, trial: Trial, state: TrialState) -> None:
    """How a trial has ended."""
    if (run := tracked.named(session, search.project_id, _name(trial))) is not None:
        tracked.end(session, run, STATES[state])


def _name(trial: Trial) -> str:
    return f"search {trial.search_id}, trial {trial.number}"
