"""How often something happens by what it looks like: small regressions, robust against the rare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

DRAWN = 1.0  # towards no effect, as that of so many cases
USUAL = -3.5  # log odds where nothing is known; the first of what a case looks like is always 1
SELDOM = 0.05  # what happens though it hardly ever does is left out when learned once more
STEPS = 50
LEAST_SPREAD = 0.3
ENOUGH = 1e-6


def log_odds(chance: Values) -> Values:
    """Of chances, none of which is taken for quite sure."""
    held = np.clip(chance, 1e-3, 1 - 1e-3)
    return np.asarray(np.log(held) - np.log(1 - held))


def rates(looks: Values, happened: Flags) -> Values:
    """How likely it was for each to happen; what ought not to have happened teaches nothing."""
    if not len(looks):
        return np.zeros(0)
    first = _chances(looks, _fitted(looks, happened))
    kept = ~happened | (first >= SELDOM)
    return _chances(looks, _fitted(looks[kept], happened[kept]))


def worse(looks: Values, values: Values) -> Values:
    """How seldom a value falls so far short of those of what looks like it.

    As seldom as it does here, and as its distance beside the usual one makes likely.
    """
    if not len(looks):
        return np.zeros(0)
    pull = DRAWN * np.eye(looks.shape[1])
    line = np.linalg.solve(looks.T @ looks + pull, looks.T @ values)
    short = values - looks @ line
    ranked = (np.argsort(np.argsort(short, kind="stable")) + 1) / (len(short) + 1)
    spread = 1.5 * float(np.median(np.abs(short - np.median(short))))
    far = -short / max(spread, LEAST_SPREAD)
    return np.asarray(np.maximum(ranked, np.exp(-np.clip(far, 0, None)) / 2))


def _fitted(looks: Values, happened: Flags) -> Values:
    """Logistic regression by Newton's steps, none of which makes it worse."""
    line = start = np.zeros(looks.shape[1])
    start[0] = USUAL
    for _ in range(STEPS):
        chance = _chances(looks, line)
        gradient = looks.T @ (chance - happened) + DRAWN * (line - start)
        curvature = looks.T @ (looks * (chance * (1 - chance))[:, None])
        step = np.linalg.solve(curvature + DRAWN * np.eye(len(line)), gradient)
        before = _loss(looks, happened, line, start)
        while np.abs(step).max() > ENOUGH:
            if _loss(looks, happened, line - step, start) < before:
                break
            step = step / 2
        else:
            break
        line = line - step
    return line


def _loss(looks: Values, happened: Flags, line: Values, start: Values) -> float:
    said = looks @ line
    away = line - start
    return float((np.logaddexp(0, said) - happened * said).sum() + DRAWN * (away @ away) / 2)


def _chances(looks: Values, line: Values) -> Values:
    return np.asarray(1 / (1 + np.exp(-np.clip(looks @ line, -30, 30))))
