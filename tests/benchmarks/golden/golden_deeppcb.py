"""Golden boards on DeepPCB, the whole table: labels, fusion, economy, robustness, and HRIPCB.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden.golden_deeppcb
        [--split trainval] [--processes 2]

Everything was chosen on trainval. `--split trainval` is for development: by turns it learns from
three quarters of the products and judges the rest. The detector was trained on all of trainval;
lessons ask it about boards on their side, which it has never seen (see `partner`). As in a
training, up to 200 of the boards teach once more etched wider or narrower (see `etching`).
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests import real_data
from tests.benchmarks.golden import deeppcb, golden_economy, golden_hripcb, golden_robustness
from tests.benchmarks.golden.deeppcb import KINDS, Pair, Worth
from tests.benchmarks.golden.golden_boards import Boards, answers, judge, learned, look
from workers.families import golden
from workers.families.base import NOTHING

FOLDS = 4


def show(name: str, worths: Sequence[Worth]) -> None:
    """One line: means, and the spread where there are several."""
    values = np.array([dataclasses.astuple(worth) for worth in worths])
    cells = [
        f"{value:.4f}" + (f"±{wide:.4f}" if len(worths) > 1 else "")
        for value, wide in zip(values.mean(axis=0), values.std(axis=0), strict=True)
    ]
    print(f"{name:<22}" + " ".join(f"{cell:>13}" for cell in cells), flush=True)


def taught(count: int, seed: int, school: Boards, exam: Boards | None) -> Worth:
    """What some boards teach, drawn by a seed; without an exam each product is one by turns."""
    chance = np.random.default_rng(seed)
    if exam is not None:
        chosen = chance.permutation(len(school))[:count]
        return judge(learned(school.some(chosen), seed), exam)
    folds, found = _folds(school.pairs), [NOTHING] * len(school)
    for fold in range(FOLDS):
        held = np.flatnonzero(folds == fold)
        chosen = chance.permutation(np.flatnonzero(folds != fold))[:count]
        said = answers(learned(school.some(chosen), seed), school.some(held))
        for place, each in zip(held, said, strict=True):
            found[place] = each
    return deeppcb.worth(found, school.truths)


def _folds(pairs: Sequence[Pair]) -> NDArray[np.int64]:
    """A fold for each pair; products stay whole, the large ones are dealt out first."""
    groups = [pair.group for pair in pairs]
    load, place = np.zeros(FOLDS, np.int64), {}
    for group in sorted(set(groups), key=lambda each: -groups.count(each)):
        place[group] = int(load.argmin())
        load[place[group]] += groups.count(group)
    return np.array([place[group] for group in groups])


def table(
    pool: ProcessPoolExecutor,
    school: Boards,
    exam: Boards | None,
    counts: Sequence[int],
    seeds: int,
) -> None:
    """Rules and labels, alone and with the detector."""
    names = [field.name for field in dataclasses.fields(Worth)]
    print(f"{'':<22}" + " ".join(f"{name:>13}" for name in names))
    judged = exam or school
    show("rules", [judge(golden.untrained(KINDS), judged)])
    show("rules + detector", [judge(golden.untrained(KINDS), judged.fused())])
    sides = [("", school, exam), (" + detector", school.fused(), exam and exam.fused())]
    for count in counts:
        for name, here, there in sides:
            many = seeds if count < len(school) else 1
            given = [count] * many, range(many), [here] * many, [there] * many
            show(f"{count} labels{name}", list(pool.map(taught, *given)))


def main() -> None:
    """Print the table, part by part."""
    options = argparse.ArgumentParser()
    options.add_argument("--split", default="test", choices=("test", "trainval"))
    options.add_argument("--labels", default="5,10,300,1000")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--processes", type=int, default=2)
    known = real_data.weights() / "yolo11n_deeppcb.pt"
    options.add_argument("--detector", type=Path, default=known, help="weights of a YOLO")
    options.add_argument("--table", action="store_true", help="nothing but the table of labels")
    chosen = options.parse_args()
    tests, began = chosen.split == "test", time.monotonic()
    with ProcessPoolExecutor(chosen.processes) as pool:
        school = look("trainval", pool, chosen.detector, turned=True)
        exam = look("test", pool, chosen.detector) if tests else None
        table(pool, school, exam, [int(each) for each in chosen.labels.split(",")], chosen.seeds)
        if not chosen.table:
            _rest(pool, school, exam)
    print(f"{time.monotonic() - began:.0f} s in all")


def _rest(pool: ProcessPoolExecutor, school: Boards, exam: Boards | None) -> None:
    """What labels save, what disturbs, and colour."""
    parts: list[tuple[str, Callable[[], None]]] = [
        ("Label economy", lambda: golden_economy.report(pool, school, exam)),
        (
            "Robustness (rules)",
            lambda: golden_robustness.report(pool, exam.pairs if exam else school.pairs[::5]),
        ),
        ("HRIPCB", golden_hripcb.main),
    ]
    for title, part in parts:
        print(f"\n{title}", flush=True)
        part()


if __name__ == "__main__":
    main()
