"""How a classifier's rows become one answer a picture."""

from __future__ import annotations

import math

import numpy as np
import pytest

from backend.models.choice import Label
from backend.storage.findings import CHANCES
from workers.engine.answers import Reading

LABELS = (Label("good", 1), Label("scratched", 2), Label("good", 1))


def read(*chances: float) -> tuple[list[tuple[str, float]], list[float]]:
    rows = [(0, 0, 8, 6, chance, at) for at, chance in enumerate(chances)]
    found, told = Reading("classifier", LABELS).of(np.array(rows, np.float32).reshape(-1, 6))
    answers = [(one.label, one.score) for one in found]
    return answers, [chance for _, _, chance in told.get(CHANCES, ())]


def test_classes_that_were_merged_have_one_chance_together() -> None:
    assert read(0.125, 0.625, 0.25) == ([("scratched", 0.625)], [0.625, 0.375])
    assert read(0.375, 0.375, 0.25) == ([("good", 0.625)], [0.625, 0.375])


@pytest.mark.parametrize("chances", [(), (math.nan, math.nan, math.nan), (math.nan, 0.5, 0.5)])
def test_what_is_no_number_is_no_answer(chances: tuple[float, ...]) -> None:
    assert read(*chances) == ([], [])
