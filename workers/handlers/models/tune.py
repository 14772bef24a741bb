"""A search for better parameters: trial after trial, and the best one becomes a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from backend import settings
from backend.domain import Search
from backend.errors import Enough
from backend.jobs import kinds, needs
from backend.jobs.needs import Need
from backend.models import searches
from workers import cards, cluster, data
from workers.context import Context
from workers.handlers.models import train
from workers.training import basics
from workers.tuning import actors, conclusion, seats, trying
from workers.tuning.pool import TrialPool
from workers.tuning.processes import Processes
from workers.tuning.study import Study

MOST_AT_ONCE = 1_000


def run(context: Context) -> Mapping[str, Any]:
    """Try; a second attempt goes on with the rows and checkpoints that this one has left."""
    request = cast("kinds.Tune", context.request)
    with context.database.read() as session:
        search = searches.get(session, request.search_id)
    laid_out = data.lay_out(context, search.snapshot_id)
    processes = int(search.parameters.get("workers", 1))
    joined = processes > 1 or context.settings.ray_address
    ray = cluster.join(context) if joined else None
    context.progress(None, "Reading the libraries that train")
    train.say_where(context, ray, processes)
    train.same_classes(context.folder / "trials", laid_out)
    start = train.started_from(context, request.start, laid_out)
    study = Study(context, search, laid_out, start, _device(search))
    result = conclusion.known(study, request.model_id)
    while result is None:
        study.read()
        study.sweep()
        if not study.is_over():  # or a place would be waited for, for nothing
            _carry_out(study, request, ray)
        provenance = train.provenance_of(context, search.snapshot_id, request.start)
        result = conclusion.conclude(study, request.model_id, provenance)
    return result


def _device(search: Search) -> str:
    """What a trial computes on here, where one goes on after the other; refuses a missing card."""
    asked = str(search.parameters.get("device", needs.AUTO))
    return cards.device() if settings.current().ray_address else basics.device(asked)


def _carry_out(study: Study, request: kinds.Tune, ray: Any) -> None:
    """Several trials at once where more than one fits; those of several processes go in turn."""
    given, most = study.search.parameters, study.search.trials or MOST_AT_ONCE
    need = Need(
        given.get("device", needs.AUTO),
        memory_gb=float(given.get("memory_gb", 0.0)),
        share=request.share,
    )
    if int(given.get("workers", 1)) > 1:
        _in_turn(study)
    elif ray is not None:
        try:
            hands = actors.opened(study, ray, need, request.at_once, most)
            with TrialPool(study, hands) as pool:
                pool.run()
        except Enough as why:  # while there was no place for any trial
            study.end_all(str(why))
    elif len(places := seats.of_machine(need, request.at_once, most)) > 1:
        with TrialPool(study, Processes(places)) as pool:
            pool.run()
    else:
        _in_turn(study)


def _in_turn(study: Study) -> None:
    while (trial := study.next()) is not None:
        trying.carry_out(study, trial)
