"""What a new user waits for: a sample project, then Retrain with the defaults, on two cores.

    python -m tests.benchmarks.first_run [--epochs N --image-size N --kind pcb --look binary]

Works in a new home folder and off the network; the figures are of the sample's test split, whose
products neither the training nor the start model have seen. Processor seconds tell how long it
takes on idle cores when these are not.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

OFFLINE = {"no_proxy": "", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kind", default="pcb")
    parser.add_argument("--look", default="binary")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--image-size", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        drawing = ["sample", "first", "--kind", given.kind, "--look", given.look]
        _loupe(home, *drawing, "--seed", str(given.seed))
        settings = [
            part
            for name, value in (("--epochs", given.epochs), ("--image-size", given.image_size))
            if value is not None
            for part in (name, str(value))
        ]
        trained = _loupe(home, "train", "first", "--family", "yolo", *settings, "--wait")
        for name in ("map50", "map50_95"):
            print(f"{trained['model']} on the test split: {name} {trained['metrics'].get(name)}")


def _loupe(home: str, *words: str) -> Any:
    """Run a command, say what it took, and return its answer."""
    before, start = _processor_seconds(), time.monotonic()
    environment = {**os.environ, **OFFLINE, "LOUPE_HOME": home}
    command = [sys.executable, "-m", "app.cli", *words, "--json"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=3600, check=False
    )
    if done.returncode:
        raise SystemExit(f"loupe {' '.join(words)} failed: {done.stdout}{done.stderr}")
    seconds, worked = time.monotonic() - start, _processor_seconds() - before
    print(f"loupe {' '.join(words)}: {seconds:.0f} s, {worked:.0f} processor seconds")
    return json.loads(done.stdout)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
