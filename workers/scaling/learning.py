"""One training of a cluster benchmark: from a clean start, with start-up and training apart."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backend import families
from backend.domain import Split
from backend.errors import Refused
from backend.models.scaling.scaling_plan import Turn
from workers.evaluation import appraisal
from workers.families import base
from workers.families.base import Parameters
from workers.scaling.bench import Bench

Tell = Callable[[float | None, str], None]
TRAINED = 0.8


@dataclass(slots=True)
class StepClock:
    """The reporter of a turn: when the first step was done, and what each epoch said."""

    tell: Tell
    began: float = field(default_factory=time.monotonic)
    stepped: float | None = None
    epochs: list[Mapping[str, float]] = field(default_factory=list)

    def progress(self, fraction: float, message: str) -> None:
        """The first that is more than nothing is told after the first step."""
        if fraction > 0 and self.stepped is None:
            self.stepped = time.monotonic()
        self.tell(fraction * TRAINED, message)

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """How fast it was, and how well."""
        self.stepped = self.stepped or time.monotonic()
        self.epochs.append(dict(figures))
        self.tell(epoch / epochs * TRAINED, f"Epoch {epoch} of {epochs}")

    def log(self, text: str) -> None:
        """Not told: a benchmark has many trainings."""


def measure(bench: Bench, turn: Turn, tell: Tell) -> dict[str, Any]:
    """Train; the first turn of a configuration is judged, too."""
    one, given = turn.configuration, bench.parameters(turn.configuration)
    data, watch = bench.learned_from(one), StepClock(tell)
    family = base.implementation(bench.request.family)
    trained = family.train(data, bench.start, Parameters(**given), watch, bench.folder)
    ended = time.monotonic()
    paces = [float(each["images_per_second"]) for each in watch.epochs[1:]]
    if watch.stepped is None or not paces:
        raise Refused("The training told of no epoch after its first one, so it has no speed.")
    return {
        "startup": round(watch.stepped - watch.began, 2),
        "seconds": round(ended - watch.began, 2),
        "rate": statistics.median(paces),
        "paces": paces,
        "loss": watch.epochs[-1].get("loss"),
        "device": bench.device,
        "cores": given["cores"],
        "batch": given["batch"],
        "batch_each": given["batch"] // one.processes,
        "images": len(data.of(Split.TRAIN)),
        "placed": trained.figures.get("placed", ()),
        "about": bench.about(one.processes),
        **(_judged(bench, trained, tell) if turn.repeat == 0 else {}),
    }


def _judged(bench: Bench, trained: base.Trained, tell: Tell) -> dict[str, Any]:
    """What the model is worth on the validation images, and beside that of the first turn."""
    name, judged_by = bench.request.family, bench.judged_by()
    classes = judged_by.classes
    figure = "accuracy" if families.answers_once(name) else "map50"

    def told(part: float, text: str) -> None:
        tell(TRAINED + part * (1 - TRAINED), text)

    def look(path: Any) -> appraisal.Appraisal:
        return appraisal.look(name, path, judged_by.examples, classes, told, classes)

    seen = look(trained.weights)
    figures = appraisal.report(name, seen, classes)
    interval = figures.get("interval") or figures.get("intervals", {}).get(figure)
    worth: dict[str, Any] = {"figure": figure, "value": figures[figure], "interval": interval}
    if not bench.weights:
        bench.weights, bench.seen = bench.context.files.put_file(trained.weights), seen
        return {"worth": worth, "weights": bench.weights}
    bench.seen = bench.seen or look(bench.context.files.local_path(bench.weights))
    beside = appraisal.compare(name, seen, bench.seen, classes)[figure]
    worth |= {
        "difference": beside["difference"],
        "difference_interval": beside["interval"],
        "equal": beside["better"] is None,
    }
    return {"worth": worth}
