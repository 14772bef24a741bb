"""The golden board learns by itself: a new model after every tenth newly labelled image.

A project asks for it by its option `grow`. The new model takes over if it is measured at least as
good as a golden champion on the same pictures, and proposes for the images that are still new.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend import spaces
from backend.domain import State
from backend.errors import Busy, Refused
from backend.jobs import kinds, queue
from backend.models import registry, trainings
from backend.models.choice import GOLDEN
from backend.projects import catalogue
from backend.storage.tables import ImageRow

EVERY = 10
OPTION = "grow"
AUTHOR = "Loupe"


def wanted(session: Session, project_id: int) -> bool:
    """Whether the project wants it."""
    return bool(_kept(session, project_id).get("on"))


def choose(session: Session, project_id: int, on: bool) -> None:
    """Switch it on or off; what is labelled by then has been counted."""
    value = {"on": on, "at": labelled(session, project_id)}
    catalogue.set_option(session, project_id, OPTION, value)


def labelled(session: Session, project_id: int) -> int:
    """The images that a golden model may learn from."""
    query = select(func.count()).where(
        ImageRow.project_id == project_id,
        ImageRow.state == State.DONE,
        ImageRow.golden_id.is_not(None),
        ImageRow.deleted.is_(None),
    )
    return session.scalar(query) or 0


def after_label(session: Session, project_id: int) -> None:
    """Queue a training and its proposals if this was the tenth image since the last one."""
    kept = _kept(session, project_id)
    count = labelled(session, project_id) if kept.get("on") else 0
    if not kept.get("on") or count < kept.get("at", 0) + EVERY:
        return
    parameters = {"extra": {**_knobs(session, project_id), "grows": True}}
    try:
        with session.begin_nested():
            started = trainings.retrain(
                session, project_id, GOLDEN, parameters=parameters, author=AUTHOR
            )
            request = kinds.Propose(
                project_id, GOLDEN, started.model.id, "", {"states": [State.NEW]}
            )
            queue.enqueue(session, request, author=AUTHOR, after=started.job.id)
    except (Busy, Refused):  # one waits already, or there is too little yet: the next image asks
        return
    catalogue.set_option(session, project_id, OPTION, {"on": True, "at": count})


def _knobs(session: Session, project_id: int) -> dict[str, Any]:
    """What the best golden model was told of how it compares: the next one is told the same."""
    best = registry.best(session, project_id, (GOLDEN,))
    said = best.parameters.get("extra", {}) if best else {}
    return {one.name: said[one.name] for one in spaces.knobs(GOLDEN) if one.name in said}


def _kept(session: Session, project_id: int) -> dict[str, Any]:
    return dict(catalogue.options(session, project_id).get(OPTION, {}))
