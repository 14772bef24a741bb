"""DeepPCB's pairs for the golden family's benchmarks, and what detections on them are worth."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from backend import matching
from tests import real_data
from workers.evaluation import average_precision, metrics
from workers.evaluation.average_precision import Ranking, Weighed
from workers.families.base import Detections, Picture
from workers.families.golden import etching

Floats = NDArray[np.float64]
KINDS = ("open", "short", "mousebite", "spur", "copper", "pin-hole")


@dataclass(frozen=True, slots=True)
class Pair:
    """A tested board, its golden and its labels; `truths` are corners and class index."""

    name: str
    board: Path
    golden: Path
    truths: Floats
    wider: float = 0.0  # pixels by which the copper is etched wider than on the picture

    @property
    def group(self) -> str:
        """The product."""
        return self.name.split("/")[0]

    def picture(self) -> Picture:
        """The decoded pair."""
        board = _grey(self.board)
        board = etching.etched(board, self.wider) if self.wider else board
        return Picture(board, _grey(self.golden), self.name)

    def etched(self, wider: float) -> Pair:
        """The same board of another lot."""
        name = f"{self.name} etched by {wider:.2f}"
        return dataclasses.replace(self, name=name, wider=wider)


def pairs(split: str) -> list[Pair]:
    """All pairs of `trainval` or `test`."""
    root = real_data.unpacked("deeppcb") / "PCBData"
    return [_pair(root, line.split()) for line in (root / f"{split}.txt").read_text().splitlines()]


def _pair(root: Path, columns: list[str]) -> Pair:
    image, labels = columns
    name = image.removesuffix(".jpg")
    truths = np.loadtxt(root / labels, ndmin=2).reshape(-1, 5)
    truths[:, 4] -= 1
    return Pair(name, root / f"{name}_test.jpg", root / f"{name}_temp.jpg", truths)


def _grey(path: Path) -> NDArray[np.uint8]:
    return np.asarray(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), np.uint8)


@dataclass(frozen=True, slots=True)
class Worth:
    """mAP as the area under the curve (and as COCO's 101 points), and places whatever their type.

    `false_calls` are places a board that a person would look at in vain when the threshold lets
    one defect in a hundred escape. `dishonest` is how far the scores of places are from the share
    of them that are defects, in the mean over tenths of the scores.
    """

    map33: float
    map50: float
    coco33: float
    coco50: float
    f1: float
    precision: float
    recall: float
    typed_f1: float
    types: float
    false_calls: float
    dishonest: float


def worth(found: Sequence[Detections], truths: Sequence[Floats]) -> Worth:
    """What detections of all boards are worth."""
    images = [Weighed(d, t) for d, t in zip(found, truths, strict=True)]
    rankings = [average_precision.rank(images, index, (0.33, 0.5)) for index in range(len(KINDS))]
    areas = np.array([[area(ranking, at) for at in (0, 1)] for ranking in rankings]).mean(axis=0)
    coco = np.array([average_precision.average_precision(ranking) for ranking in rankings]).mean(
        axis=0
    )
    places = average_precision.rank([Weighed(*_untyped(image)) for image in images], 0, (0.33,))
    _, precision, recall, f1 = average_precision.operating_point(places)
    return Worth(
        areas[0], areas[1], coco[0], coco[1], f1, precision, recall,
        _typed_f1(rankings), types_right(images), false_calls(places, 0.01), dishonest(places),
    )  # fmt: skip


def area(ranking: Ranking, at: int) -> float:
    """The area under the precision-recall curve, without sampling."""
    right, wrong = ranking.right[at].cumsum(), ranking.wrong[at].cumsum()
    precision = right / np.maximum(right + wrong, 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float((precision * ranking.right[at]).sum() / ranking.truths.sum())


def false_calls(places: Ranking, escapes: float) -> float:
    """Wrong places a board at the threshold where this share of the defects escapes."""
    right = places.right[0].cumsum()
    last = int(np.searchsorted(right, (1 - escapes) * places.truths.sum()))
    if last >= len(right):
        return float("inf")
    return float(places.wrong[0][: last + 1].sum() / len(places.truths))


def dishonest(places: Ranking) -> float:
    """The expected calibration error: tenths of the scores, each weighing as many places it has."""
    counted = places.right[0] | places.wrong[0]
    scores, right = places.scores[counted], places.right[0][counted]
    tenth = np.minimum((scores * 10).astype(int), 9)
    apart = [abs(float((scores - right)[tenth == each].sum())) for each in set(tenth.tolist())]
    return sum(apart) / max(1, len(scores))


def types_right(images: Sequence[Weighed]) -> float:
    """The share of found defects, whatever type they were found as, whose best type is right."""
    right = total = 0
    for image in images:
        best, truths = _best_of_place(image.detections), image.truths
        chosen = matching.assign(
            matching.overlaps(best, truths), (0.33,), np.zeros(len(truths), np.bool_)
        )[0]
        hit = chosen >= 0
        total += int(hit.sum())
        right += int((best[hit, 5] == truths[chosen[hit], 4]).sum())
    return right / max(1, total)


def _best_of_place(found: Detections) -> Detections:
    """Of several types at one place the likeliest; detections come best first."""
    if not len(found):
        return found
    _, first = np.unique(found[:, :4], axis=0, return_index=True)
    return found[np.sort(first)]


def _untyped(image: Weighed) -> Iterator[Floats]:
    for rows in (_best_of_place(np.asarray(image.detections, np.float32)), image.truths):
        plain = np.array(rows, np.float64)
        plain[:, -1] = 0
        yield plain


def _typed_f1(rankings: list[Ranking]) -> float:
    score = metrics.best_score(rankings)
    right = sum(int(r.right[0][r.scores >= score].sum()) for r in rankings)
    found = sum(int((r.scores >= score).sum()) for r in rankings)
    return 2 * right / (found + sum(int(r.truths.sum()) for r in rankings))
