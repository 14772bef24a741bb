"""What a detection will take, and what a precision costs, told before it is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy.orm import Session

from backend.models import choice, registry
from backend.models.choice import Chosen
from backend.models.evaluations import RuntimeWorth
from backend.runs import known_images
from backend.runs.known_images import Recall
from backend.words import many

FEWEST = 20  # images from which a run's pace says something
PRECISE, QUICK = ("bf16", "f32"), known_images.QUICK
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
    for run in known_images.runs_of(session, project_id, chosen):
        rate = float(run.facts.get("images_per_second", 0.0))
        if run.finished and run.facts.get("looked", 0) >= FEWEST and rate:
            found.setdefault(run.runtime, Pace(run.id, run.runtime, rate))
    return list(found.values())


def pace(
    session: Session, project_id: int | None, chosen: Chosen, options: Mapping[str, Any]
) -> Pace | None:
    """The pace that a run with these options may have."""
    found = paces(session, project_id, chosen)
    return next((one for one in found if known_images.fits(one.runtime, options)), None)


def worth(session: Session, chosen: Chosen) -> list[RuntimeWorth]:
    """What the model's benchmark measured on validation pictures, a row a runtime and precision."""
    if chosen.model_id is None:
        return []
    rows = registry.details(session, chosen.model_id).runtimes
    return [cast(RuntimeWorth, row) for row in rows if "refused" not in row]


def sentences(
    session: Session,
    project_id: int | None,
    model: str,
    source: Mapping[str, Any],
    options: Mapping[str, Any],
) -> list[str]:
    """What a person should know before a run starts: what is known, its time, the loss of int8."""
    chosen = choice.choose(session, project_id, model)
    told = []
    if project_id is not None and "path" not in source:
        asked = known_images.recall(session, project_id, chosen, source, options)
        told = [_known(asked), _time(asked, chosen, pace(session, project_id, chosen, options))]
    if options.get("precision") == QUICK:
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
        if name in quick and name in precise
    ]
    return f"int8 against {precise['precision']} on validation pictures: {', '.join(parts)}."


def _known(asked: Recall) -> str:
    """What the ledger saves."""
    if not asked.known:
        return ""
    if asked.known == asked.images:
        return f"All {asked.images:,} images are known from run {asked.run_id}; --again looks anew."
    new = asked.images - asked.known
    known = many(asked.known, "image is", "images are")
    return f"{known} known from run {asked.run_id}, {many(new, 'is', 'are')} new."


def _time(asked: Recall, chosen: Chosen, pace: Pace | None) -> str:
    new = asked.images - asked.known
    if asked.known and not new:
        return ""
    if pace is None:
        return f"{many(new, 'image')}; no run of {chosen.name} says yet how long they take."
    seconds = new / pace.images_per_second
    return (
        f"{many(new, 'image')}, about {seconds:,.0f} s at the "
        f"{pace.images_per_second:,.0f} a second of run {pace.run_id}."
    )
