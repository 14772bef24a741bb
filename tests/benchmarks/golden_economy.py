"""What labelling costs with a golden, against drawing every box: a simulated inspector on DeepPCB.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden_economy [--boards 100]

The inspector goes through boards of trainval in a random order. Proposals above the score where
the rules' F1 is best are shown. A proposal that shows a defect (IoU ≥ .5) is accepted (one key),
given another class if that was wrong (one more key), an ill-fitting one (.33 to .5) is corrected by
dragging, a false call is rejected (one key), and what no proposal shows is drawn (a drag and a
key). After every tenth board the model learns from all boards so far and proposes from then on.
Judged on the test split after the last board.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import cv2
import numpy as np

from backend import matching
from tests.benchmarks.deeppcb import KINDS, Floats
from tests.benchmarks.golden_deeppcb import Boards, judge, learned, look
from workers.models import golden
from workers.models.base import Detections
from workers.models.golden.model import GoldenModel

SHOWN = 0.5
EVERY = 10


@dataclass
class Work:
    """What the inspector did."""

    boards: int = 0
    defects: int = 0
    drawn: int = 0
    corrected: int = 0
    accepted: int = 0
    renamed: int = 0
    rejected: int = 0

    @property
    def keys(self) -> int:
        """Key presses: one an answer, one a class, one a board to go on."""
        answers = self.accepted + self.renamed + self.rejected
        return answers + self.corrected + self.drawn + self.boards

    def look_at(self, found: Detections, truths: Floats) -> None:
        """Answer every proposal of one board and draw what is missing."""
        _, first = np.unique(found[:, :4], axis=0, return_index=True)
        shown = found[np.sort(first)]
        shown = shown[shown[:, 4] >= SHOWN]
        overlap = matching.overlaps(shown, truths)
        chosen = matching.assign(overlap, (0.33,), np.zeros(len(truths), np.bool_))[0]
        hit = np.flatnonzero(chosen >= 0)
        fits = overlap[hit, chosen[hit]] >= 0.5
        self.boards += 1
        self.defects += len(truths)
        self.accepted += int(fits.sum())
        self.corrected += int((~fits).sum())
        self.renamed += int((shown[hit, 5] != truths[chosen[hit], 4]).sum())
        self.rejected += len(shown) - len(hit)
        self.drawn += len(truths) - len(hit)


def inspect(boards: Boards, seed: int) -> tuple[Work, GoldenModel]:
    """Label all boards in turn; the last model has learned from all of them."""
    work, model = Work(), golden.untrained(KINDS)
    for number, (pair, seen) in enumerate(zip(boards.pairs, boards.seen, strict=True)):
        if number and number % EVERY == 0:
            model, _ = learned(boards.some(list(range(number))), seed)
        found = model.detections(seen) if seen else np.zeros((0, 6), np.float32)
        work.look_at(found, pair.truths)
    return work, learned(boards, seed)[0]


def main() -> None:
    """Print a line for each number of boards."""
    options = argparse.ArgumentParser()
    options.add_argument("--boards", default="0,10,30,100")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--split", default="test", choices=("test", "trainval"))
    chosen = options.parse_args()
    cv2.setNumThreads(1)
    counts = [int(count) for count in chosen.boards.split(",")]
    school = look("trainval", with_detector=False, step=1)
    order = np.random.default_rng(chosen.seed).permutation(len(school)).tolist()
    rest = school.some(order[max(counts) : max(counts) + 300])
    exam = look("test", with_detector=False, step=1) if chosen.split == "test" else rest
    for count in counts:
        if count:
            work, model = inspect(school.some(order[:count]), chosen.seed)
        else:
            work, model = Work(), golden.untrained(KINDS)
        worth = judge(model, exam)
        saved = work.defects / max(1, work.drawn)
        print(
            f"{work.boards} boards, {work.defects} defects: {work.drawn} drawn"
            f" ({saved:.0f} times fewer), {work.corrected} corrected, {work.accepted} accepted,"
            f" {work.renamed} renamed, {work.rejected} rejected, {work.keys} keys;"
            f" mAP@.33 {worth.map33:.4f}, mAP@.5 {worth.map50:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
