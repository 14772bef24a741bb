"""What is drawn of a search."""

from __future__ import annotations

import json

import pytest

from tests import assets


@pytest.mark.parametrize(
    ("rise", "tried", "wanted"),
    [
        ([], 3, []),
        ([(0, 0.5), (2, 0.75)], 3, [[0, 0.5], [2, 0.75]]),
        ([(0, 0.5), (2, 0.75)], 5, [[0, 0.5], [2, 0.75], [4, 0.75]]),
        ([(0, 0.5), (3, 0.6), (2, 0.75)], 4, [[0, 0.5], [2, 0.75], [3, 0.75]]),
    ],
)
def test_the_best_so_far_never_falls_and_never_goes_back(
    rise: list[tuple[int, float]], tried: int, wanted: list[list[float]]
) -> None:
    steps = [{"number": number, "value": value, "seconds": 1.0} for number, value in rise]
    asked = f"it.risen({json.dumps({'rise': steps, 'counts': {'done': tried}})})"
    assert assets.value("pages/train/trials.js", asked) == wanted
