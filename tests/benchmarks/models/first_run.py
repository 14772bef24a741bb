"""What a new user waits for: a sample project, then a click on Retrain, on two cores.

    python -m tests.benchmarks.models.first_run [--epochs N --image-size N --kind pcb --keep]

Works in a new home folder and off the network, over HTTP as the browser does, with the worker that
`loupe serve` keeps. The figures are of the sample's test split, whose products neither the training
nor the start model have seen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib import request

from tests.benchmarks import results
from tests.journeys import conftest

OFFLINE = {"no_proxy": "127.0.0.1", "http_proxy": "http://127.0.0.1:9",
           "https_proxy": "http://127.0.0.1:9"}  # fmt: skip
OVER = ("done", "failed", "cancelled")
Json = dict[str, Any]


def main() -> None:
    """Print what each wait has taken, and what the model is worth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kind", default="pcb")
    parser.add_argument("--look", default="binary")
    parser.add_argument("--family", default="yolo")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--image-size", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    os.environ.update(OFFLINE)
    with tempfile.TemporaryDirectory() as home:
        began = time.monotonic()
        drawing = ["first", "--kind", given.kind, "--look", given.look, "--seed", str(given.seed)]
        _loupe(home, "sample", *drawing)
        rows = [_say("sample drawn", began)]
        url, server = conftest.start(Path(home))
        try:
            _until(lambda: _ask(f"{url}/api/jobs/cluster"))
            rows += _retrain(url, given)
        finally:
            conftest.stop(server)
    if given.keep:
        how = f"{given.family} on a {given.look} {given.kind} sample, {results.machine()}"
        results.keep("first_run", [results.Figure(*row, how=how) for row in rows])


def _retrain(url: str, given: argparse.Namespace) -> list[tuple[str, float, str]]:
    values = {"epochs": given.epochs, "image_size": given.image_size}
    parameters = {name: value for name, value in values.items() if value is not None}
    wanted = {"family": given.family, "parameters": parameters, "seed": given.seed}
    began = time.monotonic()
    made = _ask(f"{url}/api/projects/first/training", wanted)
    job = f"{url}/api/jobs/{made['job']['id']}"
    place = _ask(job)["position"]
    rows = [_say(f"click on Retrain answered, place {place} in the queue", began)]
    _until(lambda: "loss" in _ask(job)["message"] or _ask(job)["state"] in OVER)
    rows.append(_say("first loss after the click", began))
    _until(lambda: _ask(job)["state"] in OVER)
    rows.append(_say("model in the registry after the click", began))
    ended = _ask(job)
    if ended["state"] != "done":
        raise SystemExit(f"The training {ended['state']}: {ended['error']}")
    (model,) = _ask(f"{url}/api/projects/first/models")
    for event in _ask(f"{job}/events"):
        if "start weights" in event["text"]:
            print(event["text"])
    for name in ("map50", "map50_95"):
        print(f"{model['name']} on the {model['metrics']['split']} split: {name} "
              f"{model['metrics'][name]:.4f}")  # fmt: skip
        rows.append(
            (f"{name} on the {model['metrics']['split']} split", model["metrics"][name], "")
        )
    return rows


def _ask(url: str, body: Json | None = None) -> Any:
    """Ask the site as a page does."""
    content = None if body is None else json.dumps(body).encode()
    asked = request.Request(url, content, {"X-Loupe": "1", "Content-Type": "application/json"})
    with request.urlopen(asked, timeout=60) as answer:
        return json.load(answer)


def _until(true: Callable[[], Any], seconds: float = 3600.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise SystemExit("It takes too long.")
        time.sleep(0.1)


def _loupe(home: str, *words: str) -> None:
    environment = {**os.environ, "LOUPE_HOME": home}
    command = [sys.executable, "-m", "app.cli", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"loupe {' '.join(words)} failed: {done.stdout}{done.stderr}")


def _say(what: str, since: float) -> tuple[str, float, str]:
    taken = time.monotonic() - since
    print(f"{taken:7.1f} s  {what}", flush=True)
    return what, round(taken, 1), "s"


if __name__ == "__main__":
    main()
