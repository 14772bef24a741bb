"""What a person is offered to detect with first."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import assets


def model(name: str, map50: float | None, *, champion: bool = False, **more: float) -> Any:
    metrics = {"map50": map50, **more} if map50 is not None else more
    return {"name": name, "state": "ready", "champion": champion, "metrics": metrics}


NOTHING = model("v4", 0.001, champion=True)


@pytest.mark.parametrize(
    ("models", "goldens", "wanted"),
    [
        ([model("v2", 0.4, champion=True), model("v3", 0.6)], False, "v2"),
        ([NOTHING, model("v3", 0.6)], False, "v3"),
        ([NOTHING], False, ""),
        ([NOTHING], True, "golden"),
        ([model("v1", None)], True, "v1"),
        ([], True, "golden"),
    ],
)
def test_the_best_is_offered_and_nothing_that_is_worth_nothing(
    models: list[Any], goldens: bool, wanted: str
) -> None:
    asked = f"it.best({json.dumps(models)}, {json.dumps(goldens)})"
    assert assets.value("pages/detect/worth.js", asked) == wanted
