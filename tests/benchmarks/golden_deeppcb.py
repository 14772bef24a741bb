"""Golden boards on DeepPCB: nothing labelled, a few labels, all labels.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden_deeppcb [--split trainval]

`--split trainval` is for development: it learns from some trainval pictures and judges others.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Sequence

import cv2
import numpy as np

from backend.errors import Refused
from tests.benchmarks import deeppcb
from tests.benchmarks.deeppcb import KINDS, Pair, Worth
from workers.models import golden
from workers.models.base import NOTHING
from workers.models.golden import learning, seeing
from workers.models.golden.learning import Lesson
from workers.models.golden.model import GoldenModel
from workers.models.golden.seeing import Seen
from workers.models.golden.settings import Settings

SETTINGS = Settings()


def look(pairs: Sequence[Pair]) -> list[Seen | None]:
    """What the golden shows on each board; None where the pair was refused."""
    seen: list[Seen | None] = []
    started = time.process_time()
    for pair in pairs:
        try:
            seen.append(seeing.look(pair.picture(), SETTINGS))
        except Refused as refusal:
            print(f"  refused: {refusal}")
            seen.append(None)
    spent = (time.process_time() - started) / len(pairs) * 1000
    print(f"  {len(pairs)} pairs, {spent:.1f} ms of one core each, decoding included")
    return seen


def lesson(pair: Pair, seen: Seen) -> Lesson:
    """A labelled board."""
    return learning.lesson(
        seen.rows, seen.corners, SETTINGS.pad, pair.truths, len(KINDS), pair.group
    )


def learned(lessons: Sequence[Lesson], seed: int) -> tuple[GoldenModel, float]:
    """The model of some lessons, and the weight of its forest."""
    result = learning.learn(lessons, KINDS, SETTINGS.pad, seed)
    return GoldenModel(KINDS, SETTINGS, result.judge, result.margins), result.judge.weight


def judge(model: GoldenModel, pairs: Sequence[Pair], seen: Sequence[Seen | None]) -> Worth:
    """What a model is worth on some boards."""
    found = [NOTHING if each is None else model.detections(each) for each in seen]
    return deeppcb.worth(found, [pair.truths for pair in pairs])


def show(name: str, worths: Sequence[Worth]) -> None:
    """One line: means, and the spread where there are several."""
    values = np.array([dataclasses.astuple(worth) for worth in worths])
    spread = values.std(axis=0)
    cells = [
        f"{value:.4f}" + (f"±{wide:.4f}" if len(worths) > 1 else "")
        for value, wide in zip(values.mean(axis=0), spread, strict=True)
    ]
    print(f"{name:<14}" + " ".join(f"{cell:>13}" for cell in cells), flush=True)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--split", default="test", choices=("test", "trainval"))
    options.add_argument("--labels", default="5,10,300,1000")
    options.add_argument("--seeds", type=int, default=5)
    chosen = options.parse_args()
    cv2.setNumThreads(1)
    school, school_seen = deeppcb.pairs("trainval"), []
    school_seen = look(school)
    exam, exam_seen = school, school_seen
    if chosen.split == "test":
        exam = deeppcb.pairs("test")
        exam_seen = look(exam)
    names = [field.name for field in dataclasses.fields(Worth)]
    print(f"{'':<14}" + " ".join(f"{name:>13}" for name in names))
    show("rules", [judge(golden.untrained(KINDS), exam, exam_seen)])
    known = [i for i, each in enumerate(school_seen) if each is not None]
    for count in map(int, chosen.labels.split(",")):
        worths, weights = [], []
        for seed in range(chosen.seeds if count < len(known) else 1):
            order = np.random.default_rng(seed).permutation(known)
            taught = [(school[i], school_seen[i]) for i in order[:count]]
            model, weight = learned([lesson(p, s) for p, s in taught if s is not None], seed)
            rest = range(len(exam)) if chosen.split == "test" else order[count : count + 400]
            worths.append(judge(model, [exam[i] for i in rest], [exam_seen[i] for i in rest]))
            weights.append(weight)
        show(f"{count} labels", worths)
        print(f"{'':<14} weight of the forest: {weights}")


if __name__ == "__main__":
    main()
