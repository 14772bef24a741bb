"""One table of boards, which the browser's rule and matching are tested with, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend import matching
from backend.domain import Box, Detection
from backend.review import tally

CASES = json.loads((Path(__file__).parent / "verdicts.json").read_text(encoding="utf-8"))
EACH = pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])


def boxes(case: Any) -> list[Box]:
    return [Box(**box) for box in case["boxes"]]


def detections(case: Any) -> list[Detection]:
    return [Detection(**found, idx=idx) for idx, found in enumerate(case["detections"])]


@EACH
def test_the_rule_says_of_a_board_what_the_table_says(case: Any) -> None:
    said = {*case["refused"], *case["accepted"]}
    found = tally.verdict(boxes(case), detections(case), said, case["rule"], case["severities"])
    assert found == case["verdict"]


@EACH
def test_a_detection_finds_the_label_that_the_table_names(case: Any) -> None:
    found = matching.match_boxes(detections(case), boxes(case), tally.IOU).detections
    assert [int(at) if at >= 0 else None for at in found] == case["matched"]
