"""What a detection will take, and what a precision costs, told before it is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from backend.services import detecting, registry
from backend.services.detecting import Chosen
from backend.storage import warehouse

SEEN = 50  # runs that are looked through
FEWEST = 20  # images from which a run's pace says something
PRECISE, QUICK = ("bf16", "f32"), "int8"
FIGURES = {"map50": "mAP@.5", "map50_95": "mAP .5:.95"}


@dataclass(frozen=True, slots=True)
class Pace:
    """Images a second that a finished run of the same model reached."""

    run_id: int
    runtime: str
    images_per_second: float


def paces(session: Session, project_id: int | None, chosen: Chosen) -> list[Pace]:
    """The newest pace of each runtime in which that model has run."""
    found: dict[str, Pace] = {}
    for run in warehouse.runs(session, project_id)[:SEEN]:
        same = (run.family, run.model_id, run.weights) == (
            chosen.family, chosen.model_id, chosen.weights,
        )  # fmt: skip
        rate = float(run.facts.get("images_per_second", 0.0))
        if same and run.finished and run.facts.get("looked", 0) >= FEWEST and rate:
            found.setdefault(run.runtime, Pace(run.id, run.runtime, rate))
    return list(found.values())


def worth(session: Session, chosen: Chosen) -> list[dict[str, Any]]:
    """What the model's benchmark measured on validation pictures, a row a runtime and precision."""
    if chosen.model_id is None:
        return []
    rows = registry.details(session, chosen.model_id).runtimes
    return [dict(row) for row in rows if "map50" in row]


def sentences(
    session: Session,
    project_id: int | None,
    model: str,
    source: Mapping[str, Any],
    options: Mapping[str, Any],
) -> list[str]:
    """What a person should know before a run starts: its time, and the loss of int8."""
    chosen = detecting.choose(session, project_id, model)
    precision = str(options.get("precision", ""))
    told = [_time(session, project_id, chosen, source, precision)]
    if precision == QUICK:
        told.append(loss(worth(session, chosen)))
    return [sentence for sentence in told if sentence]


def loss(rows: Sequence[Mapping[str, Any]]) -> str:
    """What int8 costs against the precise one, as it was measured."""
    quick = next((row for row in rows if row["precision"] == QUICK), None)
    precise = next((row for row in rows if row["precision"] in PRECISE), None)
    if quick is None or precise is None:
        return "What int8 costs is not measured for this model yet (loupe benchmark PROJECT does)."
    parts = [
        f"{title} {quick[name]:.3f} ({quick[name] - precise[name]:+.3f})"
        for name, title in FIGURES.items()
    ]
    return f"int8 against {precise['precision']} on validation pictures: {', '.join(parts)}."


def _time(
    session: Session,
    project_id: int | None,
    chosen: Chosen,
    source: Mapping[str, Any],
    precision: str,
) -> str:
    if project_id is None or "path" in source:
        return ""
    pace = next((p for p in paces(session, project_id, chosen) if precision in p.runtime), None)
    images = detecting.count(session, project_id, source)
    if pace is None:
        return f"{images:,} images; no run of {chosen.name} says yet how long they take."
    seconds = images / pace.images_per_second
    return (
        f"{images:,} images, about {seconds:,.0f} s at the {pace.images_per_second:,.0f} a second "
        f"of run {pace.run_id}."
    )
