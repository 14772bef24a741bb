"""How far confidence and accuracy lie apart, counted by hand and by another way of counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from workers.evaluation import calibration, classes


def test_who_is_as_often_right_as_sure_is_not_off() -> None:
    sure = np.array([0.75] * 4 + [0.5] * 2)
    right = np.array([True, True, True, False, True, False])
    found = calibration.report(sure, right)
    assert found["ece"] == pytest.approx(0)
    assert [row["images"] for row in found["reliability"]] == [2, 4]
    assert [row["accuracy"] for row in found["reliability"]] == [0.5, 0.75]


def test_the_figure_is_the_sum_over_parts_weighed_by_their_pictures() -> None:
    random = np.random.default_rng(0)
    sure, right = random.uniform(0.1, 1, 500), random.random(500) < 0.6
    edges, wanted = np.linspace(0, 1, calibration.BINS + 1), 0.0
    for low, high in itertools.pairwise(edges):
        within = (sure > low) & (sure <= high)
        if within.any():
            wanted += within.mean() * abs(sure[within].mean() - right[within].mean())
    assert calibration.report(sure, right)["ece"] == pytest.approx(wanted, abs=1e-9)


def test_nothing_seen_is_nothing_said_and_who_is_wholly_sure_is_counted() -> None:
    assert calibration.report(np.zeros(0), np.zeros(0, bool)) == {"ece": None, "reliability": []}
    found = calibration.report(np.array([1.0, 0.0]), np.array([False, False]))
    assert found["ece"] == 0.5
    assert sum(row["images"] for row in found["reliability"]) == 2


def test_answers_without_chances_have_no_calibration() -> None:
    found = classes.report([0, 1, 2, 0], np.eye(4)[[0, 1, 2, 3]], list("abcd"), chances=False)
    assert found["accuracy"] == 0.75
    assert not {"ece", "reliability", "top3"} & {*found}
