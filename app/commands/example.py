"""`loupe warehouse example`: the example of several cards, walked with our own commands."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app import terminal
from app.commands import tools
from backend import apart, families
from backend.errors import Invalid, LoupeError, Refused
from backend.incoming import names, putting, stages
from backend.projects import catalogue
from backend.runs import drawn
from backend.warehouse import administration, loading
from backend.warehouse.address import Address
from backend.warehouse.inside import example, nodes
from backend.warehouse.queries import Query

KNOWN = {
    "project": "example", "voc": "", "images": "60", "family": "yolo", "epochs": "12",
    "size": "640", "nodes": "5", "workers": "", "device": "auto", "egress": "",
    "picture": "example.png",
}  # fmt: skip
WRITTEN = (".png", ".jpg")
PARTS = ("list", "fetch", "start", "decode", "forward", "write")


@dataclass(slots=True)
class Walk:
    """One walk: what was chosen, the seconds of each step, and what the run said."""

    at: tools.Tools
    known: Address
    stage: str
    chosen: Mapping[str, str]
    quiet: bool
    seconds: dict[str, float] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)

    @property
    def project(self) -> str:
        """The project that the example makes."""
        return self.chosen["project"]

    def do(self, step: str, *words: str) -> Any:
        """One of our commands; gives its answer."""
        if not self.quiet:
            terminal.say(f"loupe {' '.join(words)}")
        began = time.perf_counter()
        done = subprocess.run(
            apart.command("app.cli", *words, "--json"), capture_output=True, text=True
        )
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - began
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
            raise LoupeError(f"The example stops at {step}: {said}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def ask(self, query: Query) -> list[dict[str, Any]]:
        """What the warehouse says of the run."""
        scratch = loading.scratch(self.at.settings) / "example"
        run = {"run": str(self.answers["detect"]["run"])}
        found = administration.ask(self.known, scratch, query, run)
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def walk(at: tools.Tools, stage: str, said: Sequence[str], quiet: bool) -> dict[str, Any]:
    """All steps, from pictures in VOC's layout to figures of the run; gives those."""
    chosen = _chosen(said)
    made = Walk(at, stages.account(at.settings), str(names.stage(stage)), chosen, quiet)
    picture = Path(chosen["picture"])
    if picture.exists() or not picture.parent.is_dir():
        raise Refused(f"{picture} is there already, or its folder is not; name picture=NEW.png.")
    if picture.suffix.lower() not in WRITTEN:
        raise Invalid(f"{picture.name[:80]} is no picture: {' or '.join(WRITTEN)}.")
    for line in _script(made):
        if not quiet:
            terminal.say(f"  {line}")
    at.settings.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=at.settings.cache) as folder:
        _train(made, Path(folder))
        _put(made, Path(folder))
    with nodes.asked_for(int(chosen["nodes"])) as told:
        if not quiet:
            terminal.say(told)
        _detect(made)
    counted = _publish(made)
    fullest = made.ask(example.FULLEST)
    if fullest:
        with at.database.read.begin() as session:
            run = int(made.answers["detect"]["run"])
            drawn.write(session, at.files, run, str(fullest[0]["file_name"]), picture)
    return _figures(made, counted, fullest)


def sentences(told: Mapping[str, Any]) -> list[str]:
    """What came of it, for people."""
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in told["parts"].items())
    steps = ", ".join(f"{name} {seconds:.1f}" for name, seconds in told["steps"].items())
    lines = [
        f"{told['pictures']:,} pictures, {told['boxes']:,} boxes in the warehouse, each once.",
        f"Seconds of the steps: {steps}.",
        f"Seconds of the run: {parts}; those of decode and forward are of all processes.",
        f"{told['images_per_second']:g} images/s, {told['per_device']:g} a device.",
    ]
    if told["file"]:
        lines.append(f"{told['file']}: {told['result']}")
        lines.append(f"{told['picture']} shows it with its boxes.")
    return lines


def _chosen(said: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in said]
    for name, mark, _ in pairs:
        if name not in KNOWN or not mark:
            raise Invalid(f"{name[:80]!r} is nothing of the example's: {', '.join(KNOWN)}.")
    chosen = {**KNOWN, **{name: value for name, _, value in pairs}}
    if chosen["family"] not in families.detectors():
        raise Invalid(
            f"The example looks at pictures alone: family={' or '.join(families.detectors())}."
        )
    for name in ("images", "epochs", "nodes", "size"):
        if not chosen[name].isdecimal() or not 0 < int(chosen[name]) <= 100_000:
            raise Invalid(f"{name}={chosen[name][:40]} is no number from 1 to 100,000.")
    return chosen


def _script(made: Walk) -> list[str]:
    place = names.stage(made.stage)
    stage = place.names if place.is_named else ()
    return example.script(made.known, stage, int(made.chosen["nodes"]), made.chosen["egress"])


def _train(made: Walk, folder: Path) -> None:
    """A set in VOC's layout, drawn where nobody has named one, and a model that learns it."""
    chosen, voc = made.chosen, made.chosen["voc"]
    if not voc:
        voc = str(folder / "voc")
        source = f"{made.project}-drawn"
        with made.at.database.read.begin() as session:
            is_drawn = catalogue.known(session, source)  # by an earlier walk
        if not is_drawn:
            made.do("draw", "sample", source, "--images", chosen["images"])
        made.do("draw", "export", source, voc, "--format", "voc")
    made.do("import", "import", made.project, voc, "--format", "voc")
    more = ["--epochs", chosen["epochs"], "--image-size", chosen["size"]]
    made.do("train", "train", made.project, "--family", chosen["family"], *more, "--wait")


def _put(made: Walk, folder: Path) -> None:
    """Pictures and weights onto the stage."""
    stage = f"{made.stage}/pictures"
    made.do("put", "publish", made.project, "--images", "--stage", stage)
    model = folder / "model.zip"
    made.do("weights", "publish", made.project, str(model))
    began = time.perf_counter()
    putting.put_file(made.known, model, f"{made.stage}/models")
    made.seconds["weights"] += time.perf_counter() - began


def _detect(made: Walk) -> None:
    """One process a device, over all pictures of the stage."""
    chosen = made.chosen
    wanted = ["--workers", chosen["workers"]] if chosen["workers"] else []
    source = ["--source", f"{made.stage}/pictures", "--device", chosen["device"]]
    words = ("detect", made.project, *source, *wanted, "--again", "--wait")
    made.answers["detect"] = made.do("detect", *words)


def _publish(made: Walk) -> dict[str, Any]:
    """Published twice, the rows are there once."""
    made.do("publish", "publish", made.project, "--wait")
    (counted,) = made.ask(example.COUNTED)
    made.do("publish again", "publish", made.project, "--wait")
    (again,) = made.ask(example.COUNTED)
    run = made.answers["detect"]
    found = {"boxes": run["detections"], "pictures": run["images"] - run["failed"]}
    if not found == counted == again:
        raise LoupeError(
            f"The run has {found}, the warehouse {counted}, and {again} once published again."
        )
    return counted


def _figures(
    made: Walk, counted: Mapping[str, Any], fullest: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    run = made.answers["detect"]
    devices = max(int(run.get("workers", 1)), 1)
    rate = float(run.get("images_per_second", 0.0))
    first = fullest[0] if fullest else {"file_name": "", "result": None}
    result = first["result"]
    parts = run.get("parts", {})
    return {
        "pictures": int(counted["pictures"]),
        "boxes": int(counted["boxes"]),
        "steps": {name: round(seconds, 2) for name, seconds in made.seconds.items()},
        "parts": {name: parts[name] for name in PARTS if name in parts},
        "images_per_second": rate,
        "devices": devices,
        "per_device": round(rate / devices, 2),
        "file": first["file_name"],
        "result": json.loads(result) if isinstance(result, str) else result,
        "picture": made.chosen["picture"] if fullest else "",
    }
