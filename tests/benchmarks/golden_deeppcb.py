"""Golden boards on DeepPCB: nothing labelled, a few labels, all labels, and with a detector.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden_deeppcb [--split trainval]

`--split trainval` is for development: it learns from some trainval pictures and judges others.
The detector was trained on all of trainval, so there its part is too good to be true.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Sequence

import cv2
import numpy as np

from backend.errors import Refused
from tests import real_data
from tests.benchmarks import deeppcb, detector
from tests.benchmarks.deeppcb import KINDS, Pair, Worth
from workers.models import golden
from workers.models.base import NOTHING, Detections
from workers.models.golden import fusion, learning, seeing
from workers.models.golden.learning import Lesson
from workers.models.golden.model import GoldenModel
from workers.models.golden.seeing import Seen
from workers.models.golden.settings import Settings

SETTINGS = Settings()


@dataclasses.dataclass(frozen=True, slots=True)
class Boards:
    """Pairs, what their goldens show (None: refused), and what the detector says."""

    pairs: list[Pair]
    seen: list[Seen | None]
    evidence: list[Detections]

    def __len__(self) -> int:
        return len(self.pairs)

    def some(self, chosen: Sequence[int]) -> Boards:
        """A part of them."""
        parts = (self.pairs, self.seen, self.evidence)
        return Boards(*([part[i] for i in chosen] if part else [] for part in parts))  # type: ignore[arg-type]


def look(split: str, with_detector: bool, step: int) -> Boards:
    """Everything that does not depend on labels."""
    pairs = deeppcb.pairs(split)[::step]
    seen: list[Seen | None] = []
    started = time.process_time()
    for pair in pairs:
        try:
            seen.append(seeing.look(pair.picture(), SETTINGS))
        except Refused as refusal:
            print(f"  refused: {refusal}")
            seen.append(None)
    spent = (time.process_time() - started) / len(pairs) * 1000
    print(f"  {split}: {len(pairs)} pairs, {spent:.1f} ms of one core each, decoding included")
    weights = real_data.weights() / "yolo11n_deeppcb.pt"
    return Boards(pairs, seen, detector.detections(weights, pairs) if with_detector else [])


def learned(boards: Boards, seed: int) -> tuple[GoldenModel, float]:
    """The model that labels of some boards give, and the weight of its forest."""
    lessons = [
        _lesson(pair, seen)
        for pair, seen in zip(boards.pairs, boards.seen, strict=True)
        if seen is not None
    ]
    result = learning.learn(lessons, KINDS, seed)
    return GoldenModel(KINDS, SETTINGS, result.judge, result.margins), result.judge.weight


def _lesson(pair: Pair, seen: Seen) -> Lesson:
    return learning.lesson(seen, pair.truths, len(KINDS), pair.group)


def judge(model: GoldenModel, boards: Boards, fused: bool = False) -> Worth:
    """What a model is worth, alone or with the detector."""
    found = [NOTHING if each is None else model.detections(each) for each in boards.seen]
    if fused:
        both = zip(found, boards.evidence, strict=True)
        found = [fusion.fuse(ours, theirs, len(KINDS)) for ours, theirs in both]
    return deeppcb.worth(found, [pair.truths for pair in boards.pairs])


def show(name: str, worths: Sequence[Worth]) -> None:
    """One line: means, and the spread where there are several."""
    values = np.array([dataclasses.astuple(worth) for worth in worths])
    cells = [
        f"{value:.4f}" + (f"±{wide:.4f}" if len(worths) > 1 else "")
        for value, wide in zip(values.mean(axis=0), values.std(axis=0), strict=True)
    ]
    print(f"{name:<22}" + " ".join(f"{cell:>13}" for cell in cells), flush=True)


def taught(count: int, seeds: int, school: Boards, exam: Boards | None) -> None:
    """The lines for some labelled boards, drawn anew by each seed."""
    alone, together, weights = [], [], []
    for seed in range(seeds if count < len(school) else 1):
        order = np.random.default_rng(seed).permutation(len(school))
        model, weight = learned(school.some(order[:count].tolist()), seed)
        judged = exam or school.some(order[count : count + 400].tolist())
        weights.append(weight)
        alone.append(judge(model, judged))
        if judged.evidence:
            together.append(judge(model, judged, fused=True))
    show(f"{count} labels", alone)
    if together:
        show(f"{count} labels + detector", together)
    print(f"{'':<22} weight of the forest: {weights}")


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--split", default="test", choices=("test", "trainval"))
    options.add_argument("--labels", default="5,10,300,1000")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--step", type=int, default=1, help="every how manyth pair")
    options.add_argument("--no-detector", action="store_true")
    chosen = options.parse_args()
    cv2.setNumThreads(1)
    tests, detects = chosen.split == "test", not chosen.no_detector
    school = look("trainval", detects and not tests, chosen.step)
    exam = look("test", detects, chosen.step) if tests else None
    names = [field.name for field in dataclasses.fields(Worth)]
    print(f"{'':<22}" + " ".join(f"{name:>13}" for name in names))
    rules, all_boards = golden.untrained(KINDS), exam or school
    show("rules", [judge(rules, all_boards)])
    if detects:
        show("detector", [deeppcb.worth(all_boards.evidence, [p.truths for p in all_boards.pairs])])
        show("rules + detector", [judge(rules, all_boards, fused=True)])
    for count in map(int, chosen.labels.split(",")):
        taught(count, chosen.seeds, school, exam)


if __name__ == "__main__":
    main()
