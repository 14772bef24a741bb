"""Rounds the weights of a graph's first layer so that even areas of a picture lose nothing in int8.

Rounded one by one, the weights of a filter that looks for edges do not add up to zero any more: it
then answers every white area a little, which on boards in black and white is most of the picture.
Later layers see less even things: there the coarser rounding costs more than it gains.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS = 127  # of int8 from zero to the largest weight of a filter


def settle(model: Any) -> None:
    """Replace the weights of the first convolution, in place."""
    from openvino import opset13

    layers = model.get_ordered_ops()
    first = next(layer for layer in layers if layer.get_type_name() == "Convolution")
    held = first.input_value(1).get_node()
    rounded = opset13.constant(settled(np.asarray(held.get_data(), np.float32)))
    first.input(1).replace_source_output(rounded.output(0))


def settled(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Weights (outputs, inputs, h, w) on the steps of int8, each window with the sum it had."""
    step = np.abs(weights).max((1, 2, 3), keepdims=True) / STEPS
    exact = (weights / step).reshape(*weights.shape[:2], -1)
    rounded = np.round(exact)
    missing = np.round(exact.sum(2) - rounded.sum(2)).astype(int)
    for place in zip(*np.nonzero(missing), strict=True):
        errors = (exact[place] - rounded[place]) * np.sign(missing[place])
        chosen = np.argsort(-errors)[: abs(missing[place])]
        rounded[(*place, chosen)] += np.sign(missing[place])
    rounded = rounded.clip(-STEPS, STEPS)
    return np.asarray(rounded.reshape(weights.shape) * step, np.float32)
