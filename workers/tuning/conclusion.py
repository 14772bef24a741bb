"""The end of a search: its best trial becomes a model, and is held against the defaults once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.domain import Model, Trial, TrialState
from backend.errors import Refused
from backend.models import measurements, registry, searches, trials
from workers.evaluation import appraisal, challenge
from workers.evaluation.appraisal import Appraisal
from workers.tuning import trying
from workers.tuning.study import TRIED, Study

HALF = (TRIED + 1) / 2


@dataclass(frozen=True, slots=True)
class Worth:
    """What was measured of the best trial: alone, beside the champion, beside the defaults."""

    figures: Mapping[str, Any]
    champion: Mapping[str, Any]
    defaults: Mapping[str, Any]


def known(study: Study, model_id: int) -> Mapping[str, Any] | None:
    """What an attempt before this one has found, where it was killed behind its conclusion."""
    if study.search.facts.get("model_id") != model_id:
        return None
    with study.context.database.read() as session:
        return _result(study, trials.counts(session, study.search.id), study.search.facts)


def conclude(
    study: Study, model_id: int, provenance: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Measure the best trial on the held-out images, and let it stand in the registry.

    None where somebody has allowed the search more meanwhile, so that it goes on.
    """
    best = searches.best(list(study.known.values()))
    if best is None:
        raise Refused(f"No trial was finished, so there is no model. {_why(study)}".strip())
    context, laid_out = study.context, study.laid_out
    stored = {one.number: _stored(study, one) for one in (study.known[0], best) if _is_done(one)}
    with context.database.read() as session:
        model = registry.get(session, model_id)
    worth = _worth(study, model, best, stored)
    facts = _facts(study, model, best, worth)
    with context.database.write.begin() as session:
        context.fence(session)
        if searches.has_grown(session, study.search):
            return None
        registry.complete(
            session,
            model.id,
            stored[best.number],
            worth.figures,
            against=worth.champion,
            provenance={**provenance, "search": study.search.id, "trial": best.number},
            classes=laid_out.classes,
            parameters={**study.parameters(best), "start": study.search.start},
        )
        measurements.keep(session, context.job.id, model.id, worth.figures)
        trials.keep_weights(session, study.search.id, stored)
        searches.conclude(session, study.search.id, facts)
        counts = trials.counts(session, study.search.id)
    context.log(str(facts["verdict"]))
    return _result(study, counts, facts)


def _result(study: Study, counts: Mapping[str, int], facts: Mapping[str, Any]) -> Mapping[str, Any]:
    search = study.search
    return {**facts, "search": search.id, "family": search.family, "trials": counts}


def _worth(study: Study, model: Model, best: Trial, stored: Mapping[int, str]) -> Worth:
    context, laid_out = study.context, study.laid_out
    seen, figures = challenge.judged(context, model, stored[best.number], laid_out, (TRIED, HALF))
    champion = challenge.beside_champion(context, model, laid_out, seen, (HALF, 1.0))
    defaults: Mapping[str, Any] = {}
    if best.number and 0 in stored:
        path = context.files.local_path(stored[0])
        defaults = _beside(study, seen, path)
    return Worth(figures, champion, defaults)


def _beside(study: Study, seen: Appraisal, path: Path) -> Mapping[str, Any]:
    """How much better the best trial is than the defaults on the held-out images."""
    family, classes = study.search.family, study.laid_out.set.classes
    tell = challenge.telling(study.context, (HALF, 1.0), searches.DEFAULTS.capitalize())
    theirs = appraisal.look(family, path, seen.examples, classes, tell, classes)
    found = appraisal.compare(family, seen, theirs, classes)
    return {study.figure: found[study.figure]}


def _facts(study: Study, model: Model, best: Trial, worth: Worth) -> dict[str, Any]:
    split = str(worth.figures["split"])
    said = searches.NO_DEFAULTS
    if not best.number or worth.defaults:
        said = searches.verdict(best, model.name, worth.defaults, split)
    return {
        "best": best.number,
        "parameters": dict(best.parameters),
        "value": best.value,
        "figure": study.figure,
        "model": model.name,
        "model_id": model.id,
        "split": split,
        "held_out": worth.figures[study.figure],
        "against": dict(worth.defaults),
        "verdict": said,
    }


def _stored(study: Study, trial: Trial) -> str:
    """Its weights, in the store; where they were lost, the trial is trained once more."""
    path = trying.weights(study, trial)
    if path is None:
        study.context.log(f"The weights of {study.title(trial)} are gone: it is trained again.")
        path = trying.train(study, trial, trying.Again(study, trial)).weights
    return study.context.files.put_file(path)


def _is_done(trial: Trial) -> bool:
    return trial.state is TrialState.DONE


def _why(study: Study) -> str:
    """The reason that most trials gave."""
    reasons = [one.error for one in study.known.values() if one.error]
    return max(reasons, key=reasons.count, default="")
