"""What a second stage saves behind a half-trained YOLO on DeepPCB, each product held out in turn.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.second_stage --keep

A product's boards are judged by what was learned from all other products. The YOLO itself has
learned from all of trainval, so the folds are honest for the second stage alone; `--split test`
judges boards that neither has seen, by what trainval teaches. False calls are places a board,
whatever their class, at the highest score at which at most so many of all labelled defects escape,
as a run's figures count them; where more escape however low the score, there is no figure.
Intervals are of 500 draws of boards.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from backend.domain import Box, Split
from backend.errors import Refused
from backend.review.filtering import Count
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.golden.deeppcb import KINDS, Pair, pairs
from tests.benchmarks.models import classes_read
from tests.benchmarks.results import Figure
from workers.families.base import Example, TrainingSet
from workers.families.golden.learning import LabelledProposals
from workers.families.golden.options import GoldenOptions
from workers.families.golden.partner import Partner
from workers.families.second_stage import school
from workers.families.second_stage.model import TwoStages
from workers.runtimes import ModelSource, preparing

ESCAPES = (0.01, 0.02, 0.05)
DRAWS = 500
NAMES = tuple(name.replace("-", "") for name in KINDS)  # as the YOLO calls them


@dataclass
class Judged:
    """What both stages said of some boards, a count each."""

    first: list[Count] = field(default_factory=list)
    both: list[Count] = field(default_factory=list)
    defects: list[int] = field(default_factory=list)
    refused: int = 0
    seconds: float = 0.0


def main() -> None:
    """Learn without a product, judge its boards; count all together."""
    asked = _asked()
    told, began = classes_read.Telling(), time.process_time()
    partner = _partner(asked.folder)
    learned = _spread(pairs("trainval"), asked.boards)
    read = _read(learned, partner, told)
    told.log(f"{len(read)} boards read, {time.process_time() - began:.0f} s of processor")
    if asked.split == "test":
        folds = [("", _spread(pairs("test"), asked.boards))]
    else:
        known = sorted({pair.group for pair in learned})
        folds = [(held, [pair for pair in learned if pair.group == held]) for held in known]
    judged = Judged()
    for held, boards in folds:
        others = [each for each in read if each.group != held]
        forest, _ = school.learn(others, len(NAMES), partner, 0, told)
        _judge(TwoStages(NAMES, GoldenOptions(), forest, partner), boards, judged)
        told.log(f"{held or 'test'}: {len(boards)} boards by {len(others)} others")
    turns = "learned from trainval" if asked.split == "test" else f"{len(folds)} products in turn"
    how = f"{len(judged.first)} boards of {asked.split}, {turns}, {results.machine()}"
    rows = [*_figures(judged), *_spent(judged)]
    for row in rows:
        told.log(f"{row.what}: {row.value:.4g} {row.unit} {row.spread}")
    if asked.keep:
        kept = [Figure(row.what, row.value, row.unit, row.spread, how=how) for row in rows]
        results.keep("second_stage", kept)


def _partner(folder: Path) -> Partner:
    """The detector as runs load it."""
    weights = real_data.weights() / "yolo11n_deeppcb.pt"
    prepared = preparing.prepare(ModelSource("yolo", weights), folder, "openvino", "bf16", [])
    return Partner("YOLO", "yolo", b"", preparing.load(prepared, 0.001, 1))


def _spread(found: Sequence[Pair], count: int) -> list[Pair]:
    """So many of the boards, of all products."""
    return list(found[:: max(1, len(found) // count)][:count])


def _read(
    found: Sequence[Pair], partner: Partner, told: classes_read.Telling
) -> list[LabelledProposals]:
    examples = tuple(_example(pair) for pair in found)
    looking = school.StageSchool(TrainingSet(NAMES, examples), GoldenOptions(), told, partner)
    return looking.read()[0]


def _example(pair: Pair) -> Example:
    boxes = tuple(Box(x1, y1, x2, y2, NAMES[int(kind)]) for x1, y1, x2, y2, kind in pair.truths)
    return Example(pair.board, 640, 640, Split.TRAIN, boxes, "", pair.golden, pair.group, pair.name)


def _judge(model: TwoStages, boards: Sequence[Pair], judged: Judged) -> None:
    for pair in boards:
        picture, began = pair.picture(), time.process_time()
        (rows,) = model.predict([picture])
        judged.seconds += time.process_time() - began
        first, both, truths = Count(), Count(), pair.truths[:, :4]
        if isinstance(rows, Refused):
            judged.refused += 1
        else:
            wide = rows.astype(np.float64)
            first.add(wide[:, :4], wide[:, 6], truths)
            both.add(wide[:, :4], wide[:, 4], truths)
        judged.first.append(first)
        judged.both.append(both)
        judged.defects.append(len(truths))


def _figures(judged: Judged) -> Iterator[Figure]:
    found = sum(len(one.found) for one in judged.first)
    yield Figure("defects", sum(judged.defects), "", f"{found} found at any score")
    yield Figure("boards refused", judged.refused, "")
    every = np.arange(len(judged.first))
    random = np.random.default_rng(0)
    draws = [random.choice(every, len(every)) for _ in range(DRAWS)]
    for escapes in ESCAPES:
        for name, counts in (("YOLO alone", judged.first), ("both stages", judged.both)):
            calls = _calls(counts, judged.defects, every, escapes)
            if np.isnan(calls):  # more escape however low the score
                continue
            drawn = [_calls(counts, judged.defects, draw, escapes) for draw in draws]
            low, high = np.nanpercentile(drawn, (2.5, 97.5))
            what = f"false calls at {escapes:.0%} escapes, {name}"
            yield Figure(what, calls, "a board", f"95 % {low:.3f} to {high:.3f}")


def _calls(
    counts: Sequence[Count], defects: Sequence[int], boards: Iterable[int], escapes: float
) -> float:
    """False calls a board over some boards; not a number where more escape at any score."""
    whole = Count()
    chosen = list(boards)
    for at in chosen:
        whole.found += counts[at].found
        whole.false += counts[at].false
    calls = whole.false_calls(sum(defects[at] for at in chosen), escapes)
    return float("nan") if calls is None else calls / len(chosen)


def _spent(judged: Judged) -> Iterator[Figure]:
    spent = judged.seconds / len(judged.first) * 1000
    yield Figure("processor for both stages", spent, "ms a board", f"load {os.getloadavg()[1]:.0f}")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", default="trainval", choices=("trainval", "test"))
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    asked.folder = asked.folder or Path(tempfile.mkdtemp(prefix="loupe-second-stage-"))
    return asked


if __name__ == "__main__":
    main()
