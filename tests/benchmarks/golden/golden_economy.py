"""What labelling costs with a golden, against drawing every box: a simulated inspector on DeepPCB.

Part of `python -m tests.benchmarks.golden.golden_deeppcb`.

The inspector goes through boards of trainval in a random order. Proposals above the score where
the rules' F1 is best are shown. A proposal that shows a defect (IoU ≥ .5) is accepted (one key),
given another class if that was wrong (one more key), an ill-fitting one (.33 to .5) is corrected by
dragging, a false call is rejected (one key), and what no proposal shows is drawn (a drag and a
key). After every tenth board the model learns from all boards so far and proposes from then on.
Judged on the test split after the last board, beside as many boards labelled from nothing: there
every defect is drawn and named.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from backend import matching
from tests.benchmarks.golden.deeppcb import KINDS, Floats
from tests.benchmarks.golden.golden_boards import Boards, judge, learned
from workers.families import golden
from workers.families.base import Detections
from workers.families.golden.model import GoldenModel

SHOWN = 0.5
EVERY = 10
COUNTS, SEEDS = (10, 30, 100), 2


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
            model = learned(boards.some(range(number)), seed)
        found = model.detections(seen) if seen else np.zeros((0, 6), np.float32)
        work.look_at(found, pair.truths)
    return work, learned(boards, seed)


def line(count: int, seed: int, school: Boards, exam: Boards | None) -> str:
    """What some boards cost, and what they are worth."""
    order = np.random.default_rng(seed).permutation(len(school))
    judged = exam or school.some(order[max(COUNTS) : max(COUNTS) + 300])
    work, model = inspect(school.some(order[:count]), seed)
    worth = judge(model, judged)
    saved = work.defects / max(1, work.drawn)
    nothing = 2 * work.defects + work.boards
    return (
        f"{work.boards} boards, {work.defects} defects: {work.drawn} drawn"
        f" ({saved:.0f} times fewer), {work.corrected} corrected, {work.accepted} accepted,"
        f" {work.renamed} renamed, {work.rejected} rejected, {work.keys} keys and drags"
        f" (from nothing {nothing}); mAP@.33 {worth.map33:.4f}, mAP@.5 {worth.map50:.4f}"
    )


def report(pool: ProcessPoolExecutor, school: Boards, exam: Boards | None) -> None:
    """Print a line for each number of boards."""
    for seed in range(SEEDS):
        given = COUNTS, [seed] * len(COUNTS), [school] * len(COUNTS), [exam] * len(COUNTS)
        for each in pool.map(line, *given):
            print(each, flush=True)
