"""A search of twelve trials killed twenty times at random: `python -m … [SEEDS]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.workers.tuning import killing

TRIALS, KILLS = 12, 20


def main(seeds: int) -> None:
    """Each seed once undisturbed and once killed; prints a line a seed."""
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            undisturbed = killing.searched(Path(folder) / "first", TRIALS, 0, seed)
            killed = killing.searched(Path(folder) / "second", TRIALS, KILLS, seed)
        same = killed.trials == undisturbed.trials and killed.best == undisturbed.best
        print(
            f"seed {seed}: {killed.kills} kills, {killed.again} of {len(killed.epochs)} epochs "
            f"done again, trials and best {'the same' if same else 'NOT the same'}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
