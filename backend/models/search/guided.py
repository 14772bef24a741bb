"""Values where they seem to be worth most: Optuna's estimator, asked anew from the rows each time.

It keeps nothing of its own, so a search that was killed goes on as if it had not been, and the
same trials before and the same seed give the same values.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backend.domain import Trial, TrialState
from backend.models.search import sampling
from backend.spaces import Dimension, Spacing

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

# So many trials that were worth something are drawn by chance before anything is guessed.
FIRST = 6


def draw(
    space: Sequence[Dimension], seed: int, number: int, known: Sequence[Trial], figure: str
) -> dict[str, float] | None:
    """Values that no trial has had, None where none are left; trial 0 changes nothing."""
    tried = [dict(one.parameters) for one in known]
    if sum(one.state in (TrialState.DONE, TrialState.STOPPED) for one in known) <= FIRST:
        return sampling.draw(space, seed, number, tried)
    values = _guessed(space, random.Random(f"{seed}:{number}").getrandbits(31), known, figure)
    return values if values not in tried else sampling.draw(space, seed, number, tried)


def _guessed(
    space: Sequence[Dimension], seed: int, known: Sequence[Trial], figure: str
) -> dict[str, float]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=0, multivariate=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    distributions = {each.name: _distribution(each) for each in space}
    study.add_trials([told for one in known if (told := _told(one, distributions, figure))])
    return dict(study.ask(distributions).params)


def _distribution(each: Dimension) -> BaseDistribution:
    from optuna import distributions

    if each.scale is Spacing.CHOICE:
        return distributions.CategoricalDistribution(each.choices)
    if each.scale is Spacing.INT:
        return distributions.IntDistribution(int(each.low), int(each.high))
    return distributions.FloatDistribution(each.low, each.high, log=each.scale is Spacing.LOG)


def _told(
    one: Trial, distributions: dict[str, BaseDistribution], figure: str
) -> FrozenTrial | None:
    """A trial as Optuna knows it; the defaults lie nowhere in the space, nor does what failed."""
    from optuna import trial

    how: dict[str, Any] = {"params": dict(one.parameters), "distributions": distributions}
    if one.state is TrialState.FAILED or one.parameters.keys() != distributions.keys():
        return None
    if one.state is TrialState.DONE:
        return trial.create_trial(state=trial.TrialState.COMPLETE, value=one.value or 0.0, **how)
    if one.state is TrialState.RUNNING:
        return trial.create_trial(state=trial.TrialState.RUNNING, **how)
    curve = {int(each["epoch"]): each[figure] for each in one.epochs if figure in each}
    return trial.create_trial(state=trial.TrialState.PRUNED, intermediate_values=curve, **how)
