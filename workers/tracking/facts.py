"""What is told of a training beside its curves: parameters, tags, figures, files."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from backend import families
from backend.domain import JobEvent
from backend.formats import cells
from backend.jobs import queue
from backend.models import registry, snapshots
from backend.models.registry import Details
from backend.models.tracked import Tracked
from workers.families.base import Parameters
from workers.tracking.store import Point, moment

NO_CURVES = {"epoch", "epochs"}


def parameters(session: Session, run: Tracked) -> dict[str, Any]:
    """All that was asked for, what nobody has asked for as it usually is."""
    found = dict(run.parameters)
    if run.model_id is not None:
        family = families.find(registry.get(session, run.model_id).family)
        usual = dataclasses.asdict(Parameters()) if family.defaults else {}
        found = {"family": family.name, **usual, **family.defaults, **found}
    return dict(_flat(found))


def tags(session: Session, run: Tracked) -> dict[str, Any]:
    """Where it comes from, and over how many processes it goes."""
    found = {"loupe.project": run.project_id, **run.tags}
    if run.job_id is not None:
        job = queue.get(session, run.job_id)
        found |= {"loupe.job": job.id, "mlflow.user": job.author or "loupe"}
    if run.model_id is not None:
        model = registry.get(session, run.model_id)
        processes = int(model.parameters.get("workers", 1))
        found |= {
            "loupe.model": model.id,
            "family": model.family,
            "snapshot": model.snapshot_id,
            "workers": processes,
            "processes": processes,
            "distributed": processes > 1,
        }
    return found


def snapshot(session: Session, run: Tracked) -> tuple[str, str, dict[str, Any]] | None:
    """The name, the digest and the size of what a training learns from."""
    if run.model_id is None:
        return None
    number = registry.get(session, run.model_id).snapshot_id
    if number is None:
        return None
    frozen = snapshots.get(session, number)
    told = {"seed": frozen.seed, "classes": list(frozen.classes), **frozen.counts}
    return f"snapshot-{number}", snapshots.digest(session, number), told


def about(events: Iterable[JobEvent]) -> dict[str, Any]:
    """What the training's own processes have said of where they run."""
    found: dict[str, Any] = {}
    for event in events:
        found.update(event.data.get("about", {}))
    return dict(_flat(found))


def curves(events: Iterable[JobEvent]) -> Iterator[Point]:
    """Every figure of every epoch, at the moment it was told."""
    for event in events:
        epoch = event.data.get("epoch")
        for name, value in event.data.items():
            if epoch is not None and name not in NO_CURVES and _is_number(value):
                yield name, float(value), moment(event.at), int(epoch)


def held_out(details: Details, events: Sequence[JobEvent]) -> Iterator[Point]:
    """What was measured at the end."""
    at = moment(events[-1].at) if events else 0
    for name, value in details.model.metrics.items():
        if _is_number(value):
            yield f"held_out_{name}", float(value), at, 0
    if (seconds := details.provenance.get("seconds")) is not None:
        yield "duration", float(seconds), at, 0


def ended(details: Details, run: Tracked) -> dict[str, Any]:
    """What is known at the end alone; of a search, what its best trial was trained with.

    A run's parameters stand when it opens, and cannot be said otherwise any more.
    """
    found = {"loupe.weights": details.model.weights}
    if (trial := details.provenance.get("trial")) is None:
        return found
    asked = dict(_flat(run.parameters))
    other = {
        f"best.{name}": value
        for name, value in _flat(details.model.parameters)
        if asked.get(name) != value
    }
    return {**found, "best.trial": trial, **other}


def write(folder: Path, details: Details, events: Sequence[JobEvent]) -> None:
    """The curves, the confusion and all figures as files."""
    rows = [event.data for event in events if "epoch" in event.data]
    names = list(dict.fromkeys(name for row in rows for name in row))
    _table(folder / "curves.csv", [names, *([row.get(name) for name in names] for row in rows)])
    confusion = details.evaluation.get("confusion")
    if confusion:
        labels = confusion["labels"]
        pairs = zip(labels, confusion["matrix"], strict=False)
        table = [["true \\ found", *labels], *([label, *row] for label, row in pairs)]
        _table(folder / "confusion.csv", table)
    told = {"figures": details.evaluation, "against": details.against}
    (folder / "evaluation.json").write_text(json.dumps(told, indent=1, default=str), "utf-8")


def _table(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([cells.safe(cell) for cell in row] for row in rows)


def _flat(found: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """What stands in `extra` beside all others; a document keeps its name before its parts."""
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _flat(value, "" if name == "extra" else f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
