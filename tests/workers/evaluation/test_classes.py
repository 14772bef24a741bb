"""The figures of a classifier are those of scikit-learn on the same rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import metrics as theirs

from workers.evaluation import classes

NAMES = tuple(f"class {n}" for n in range(7))


@pytest.fixture(params=range(5))
def rows(request: pytest.FixtureRequest) -> tuple[list[int], np.ndarray]:
    """Truths and chances, right about two times of three; every class is there."""
    random = np.random.default_rng(request.param)
    truths = [*range(7), *random.integers(0, 7, 300 + request.param).tolist()]
    scores = random.random((len(truths), 7))
    scores[np.arange(len(truths)), truths] += random.random(len(truths)) * 0.9
    return truths, scores / scores.sum(axis=1, keepdims=True)


def test_all_figures_are_equal(rows: tuple[list[int], np.ndarray]) -> None:
    truths, scores = rows
    found, chosen = classes.report(truths, scores, NAMES), scores.argmax(axis=1)
    near = pytest.approx
    assert found["accuracy"] == near(theirs.accuracy_score(truths, chosen), abs=1e-9)
    for most in (3, 5):
        wanted = theirs.top_k_accuracy_score(truths, scores, k=most, labels=range(7))
        assert found[f"top{most}"] == near(wanted, abs=1e-9)
    told = theirs.precision_recall_fscore_support(truths, chosen, labels=range(7))
    for index, name in enumerate(NAMES):
        one = found["per_class"][name]
        ours = [one[key] for key in ("precision", "recall", "f1", "truths")]
        assert ours == near([part[index] for part in told], abs=1e-9)
    assert found["macro_f1"] == near(theirs.f1_score(truths, chosen, average="macro"), abs=1e-9)
    assert found["confusion"]["matrix"] == theirs.confusion_matrix(truths, chosen).tolist()
    json.dumps(found, allow_nan=False)


def test_no_picture_has_no_figures_and_few_classes_no_top() -> None:
    found = classes.report([], np.zeros((0, 2)), NAMES[:2])
    assert (found["accuracy"], found["interval"], found["macro_f1"]) == (None, None, None)
    assert "top3" not in found


def test_a_class_that_nobody_has_or_names_has_no_figure() -> None:
    found = classes.report([0, 1], np.array([[1.0, 0, 0], [1.0, 0, 0]]), NAMES[:3])
    assert found["per_class"]["class 1"]["precision"] is None
    assert found["per_class"]["class 2"]["f1"] is None
    assert found["accuracy"] == 0.5


def test_no_figure_of_boxes_stands_among_them() -> None:
    found = classes.report([0, 1], np.eye(2), NAMES[:2])
    assert not {"iou", "map", "map50", "map50_95", "sizes", "curves", "score"} & {*found}
    assert not {"ap", "ap50", "ap50_95", "score"} & {*found["per_class"]["class 0"]}
