"""Matching detections with labels."""

from __future__ import annotations

import numpy as np

from backend import matching
from backend.domain import Box, Detection


def test_the_better_of_two_detections_takes_the_truth() -> None:
    truths = np.array([[0, 0, 10, 10, 0]], float)
    found = np.array([[0, 0, 10, 9, 0.4, 0], [0, 0, 10, 8, 0.9, 0]], float)
    matched = matching.match(found, truths)
    assert matched.detections.tolist() == [-1, 0]
    assert matched.truths.tolist() == [1]
    assert (matched.found, matched.false_calls, matched.missed) == (1, 1, 0)


def test_a_detection_of_another_class_finds_nothing_but_is_confused() -> None:
    truths = np.array([[0, 0, 10, 10, 0]], float)
    found = np.array([[0, 0, 10, 10, 0.9, 1]], float)
    assert matching.match(found, truths).missed == 1
    assert matching.confuse(found, truths).detections.tolist() == [0]


def test_confusing_never_takes_a_truth_from_the_right_class() -> None:
    truths = np.array([[0, 0, 10, 10, 0]], float)
    found = np.array([[0, 0, 10, 10, 0.9, 1], [0, 0, 10, 8, 0.3, 0]], float)
    assert matching.confuse(found, truths).detections.tolist() == [-1, 0]


def test_the_iou_of_the_match_is_the_callers() -> None:
    truths = np.array([[0, 0, 10, 10, 0]], float)
    found = np.array([[0, 0, 10, 4, 0.9, 0]], float)
    assert matching.match(found, truths, 0.5).found == 0
    assert matching.match(found, truths, 0.33).found == 1


def test_labels_are_matched_by_name() -> None:
    boxes = [Box(0, 0, 10, 10, "open"), Box(20, 20, 30, 30, "short")]
    found = [Detection(20, 20, 30, 31, "short", 0.8), Detection(0, 0, 10, 10, "spur", 0.7)]
    matched = matching.match_boxes(found, boxes)
    assert matched.detections.tolist() == [1, -1]
    assert matched.truths.tolist() == [-1, 0]


def test_nothing_against_nothing_is_nothing() -> None:
    matched = matching.match_boxes([], [])
    assert (matched.found, matched.false_calls, matched.missed) == (0, 0, 0)
    assert matching.match_boxes([], [Box(0, 0, 1, 1, "open")]).missed == 1
    assert matching.match_boxes([Detection(0, 0, 1, 1, "open", 0.5)], []).false_calls == 1


def test_a_box_without_area_overlaps_nothing() -> None:
    assert matching.overlaps(np.zeros((1, 4)), np.zeros((1, 4))).tolist() == [[0.0]]
