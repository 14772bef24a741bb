"""Weights rounded for int8 keep what they answer to even areas."""

from __future__ import annotations

import numpy as np

from workers.runtimes import rounding


def test_rounded_weights_keep_the_sum_of_each_window() -> None:
    weights = np.random.default_rng(0).normal(0, 0.1, (16, 3, 3, 3)).astype(np.float32)
    found = rounding.settled(weights)
    step = np.abs(weights).max((1, 2, 3), keepdims=True) / rounding.STEPS
    steps = found / step
    assert np.allclose(steps, np.round(steps), atol=1e-3)
    assert np.abs(steps).max() <= rounding.STEPS + 1e-3
    assert (np.abs(found - weights) <= 1.001 * step).all()
    missed = np.abs(found.sum((2, 3)) - weights.sum((2, 3)))
    assert (missed <= 0.51 * step[:, :, 0, 0]).all()
