"""DeepPCB's boards as the golden family sees them, and what labels of them teach."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from tests.benchmarks.golden import deeppcb, detector
from tests.benchmarks.golden.deeppcb import KINDS, Pair, Worth
from workers.families.base import NOTHING, Detections
from workers.families.golden import etching, evidence, learning, seeing
from workers.families.golden.learning import LabelledProposals
from workers.families.golden.model import GoldenModel
from workers.families.golden.options import GoldenOptions
from workers.families.golden.seeing import Seen

SETTINGS = GoldenOptions()
PART = 125
Answers = list[Detections]


@dataclasses.dataclass(frozen=True, slots=True)
class Boards:
    """Pairs, what their goldens show (None: refused), and that with a detector's evidence."""

    pairs: list[Pair]
    seen: list[Seen | None]
    joined: list[Seen | None]
    etched: Boards | None = None  # the same, etched, where lessons are to be had

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def truths(self) -> list[deeppcb.Floats]:
        """The labels."""
        return [pair.truths for pair in self.pairs]

    def some(self, chosen: Sequence[int] | NDArray[np.int64]) -> Boards:
        """A part of them."""
        parts: tuple[list[Any], ...] = (self.pairs, self.seen, self.joined)
        pairs, seen, joined = ([part[i] for i in chosen] if part else [] for part in parts)
        return Boards(pairs, seen, joined, self.etched and self.etched.some(chosen))

    def fused(self) -> Boards:
        """The same boards as a model with a detector sees them."""
        return Boards(self.pairs, self.joined, [], self.etched and self.etched.fused())


def see(pairs: Sequence[Pair]) -> tuple[list[Seen | None], float]:
    """What the goldens of some pairs show, and the seconds of one core that this took."""
    cv2.setNumThreads(1)
    seen: list[Seen | None] = []
    started = time.process_time()
    for pair in pairs:
        try:
            seen.append(seeing.look(pair.picture(), SETTINGS))
        except Refused as refusal:
            print(f"  refused: {refusal}")
            seen.append(None)
    return seen, time.process_time() - started


def look(
    split: str, pool: ProcessPoolExecutor, weights: Path | None = None, *, turned: bool = False
) -> Boards:
    """Everything that does not depend on labels; `weights` are those of a detector."""
    pairs = deeppcb.pairs(split)
    boards = _look(split, pairs, pool, weights, turned)
    if not turned:
        return boards
    wider = etching.copies(len(pairs), 0, len(pairs))
    copies = [pair.etched(wider[number]) for number, pair in enumerate(pairs)]
    etched = _look(f"{split}, etched", copies, pool, weights, turned)
    return dataclasses.replace(boards, etched=etched)


def _look(
    name: str, pairs: list[Pair], pool: ProcessPoolExecutor, weights: Path | None, turned: bool
) -> Boards:
    parts = [pairs[start : start + PART] for start in range(0, len(pairs), PART)]
    given = [weights] * len(parts), parts, [turned] * len(parts)
    asked = pool.map(detector.detections, *given) if weights else []
    done = list(pool.map(see, parts))
    seen = [each for some, _ in done for each in some]
    spent = sum(seconds for _, seconds in done) / len(pairs) * 1000
    print(f"  {name}: {len(pairs)} pairs, {spent:.1f} ms of one core each, decoding included")
    said = [each for part in asked for each in part]
    return Boards(pairs, seen, [_joined(*both) for both in zip(seen, said, strict=False)])


def _joined(seen: Seen | None, said: Detections) -> Seen | None:
    return None if seen is None else evidence.join(seen, said, len(KINDS))


def learned(boards: Boards, seed: int) -> GoldenModel:
    """The model that labels of some boards give."""
    lessons = []
    copies = etching.copies(len(boards), seed) if boards.etched else {}
    for number, (pair, seen) in enumerate(zip(boards.pairs, boards.seen, strict=True)):
        if seen is not None:
            lessons.append(_lesson(pair, seen))
            again = boards.etched.seen[number] if boards.etched and number in copies else None
            if again is not None:
                lessons[-1] = learning.once_more(lessons[-1], _lesson(pair, again))
    result = learning.learn(lessons, KINDS, seed)
    return GoldenModel(KINDS, SETTINGS, result.judge, result.edges)


def _lesson(pair: Pair, seen: Seen) -> LabelledProposals:
    return learning.lesson(seen, pair.truths, len(KINDS), pair.group)


def answers(model: GoldenModel, boards: Boards) -> Answers:
    """What a model says of each board; nothing of a refused one."""
    return [NOTHING if each is None else model.detections(each) for each in boards.seen]


def judge(model: GoldenModel, boards: Boards) -> Worth:
    """What a model is worth."""
    return deeppcb.worth(answers(model, boards), boards.truths)
