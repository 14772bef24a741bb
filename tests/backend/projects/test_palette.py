"""The colours that classes get by themselves, as eyes see them that lack one kind of cone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from backend.projects import classes

# What reaches the eye of linear red, green and blue; the full lack after Machado and others, 2009.
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "no blue": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
TO_XYZ = np.array(((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)))
WHITE = np.array((0.9505, 1, 1.089))
# About 2.3 is what is just noticed of two colours side by side.
CLEAR = 15


def seen(color: str, eye: str) -> NDArray[np.float64]:
    """A colour in CIELAB, where the distance of two is how different they look."""
    values = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    t = TO_XYZ @ np.clip(np.array(EYES[eye]) @ linear, 0, 1) / WHITE
    x, y, z = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array((116 * y - 16, 500 * (x - y), 200 * (y - z)))


@pytest.mark.parametrize("eye", EYES)
def test_the_first_seven_classes_look_different_to_everybody(eye: str) -> None:
    colors = [seen(color, eye) for color in classes.PALETTE[:7]]
    nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(colors, 2))
    assert nearest > CLEAR


def test_two_dozen_classes_look_different_to_most() -> None:
    colors = [seen(color, "all cones") for color in classes.PALETTE]
    nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(colors, 2))
    assert len(colors) == 24
    assert nearest > 25


def test_two_colours_that_only_some_eyes_tell_apart_are_found() -> None:
    red, green = "#b04040", "#606020"
    assert np.linalg.norm(seen(red, "all cones") - seen(green, "all cones")) > CLEAR
    assert np.linalg.norm(seen(red, "no green") - seen(green, "no green")) < CLEAR
