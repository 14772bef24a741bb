"""What a detection need not look at: images that an equal run has seen already.

The worker's ledger decides it once the model is prepared; this foresees it from the newest run
that was asked for in the same way, so that a person is told before the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from backend import families
from backend.domain import Run
from backend.models.choice import Chosen
from backend.projects import large_pictures
from backend.runs import detection
from backend.storage import findings

SEEN = 50  # runs that are looked through
QUICK = "int8"  # never what is taken where no precision is asked for


@dataclass(frozen=True, slots=True)
class Recall:
    """How many images a run was asked to look at, and how many of them which run knows."""

    images: int
    known: int = 0
    run_id: int | None = None


def recall(
    session: Session,
    project_id: int,
    chosen: Chosen,
    source: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Recall:
    """What will be taken from the ledger if that run starts now."""
    detection.check_images(session, project_id, source)
    equal = None if options.get("again") else _equal(session, project_id, chosen, options)
    if equal is None:
        return Recall(detection.count(session, project_id, source))
    seen = findings.ledger(session, equal.ledger_key)
    wanted = list(detection.subjects(session, project_id, source))
    known = sum(seen.get(one.sha256) == one.golden_sha256 for one in wanted)
    return Recall(len(wanted), known, equal.id if known else None)


def runs_of(session: Session, project_id: int | None, chosen: Chosen) -> list[Run]:
    """The newest runs of that model in the project."""
    same = (chosen.family, chosen.model_id, chosen.weights)
    newest = findings.runs(session, project_id, most=SEEN)
    return [one for one in newest if (one.family, one.model_id, one.weights) == same]


def fits(runtime: str, options: Mapping[str, Any]) -> bool:
    """Whether a run in that runtime and precision is what these options would bring."""
    way, _, precision = runtime.partition(" ")
    wanted = options.get("precision") or ""
    precise = precision == wanted if wanted else precision != QUICK
    return precise and options.get("runtime") in (way, "", None)


def _equal(
    session: Session, project_id: int, chosen: Chosen, options: Mapping[str, Any]
) -> Run | None:
    confidence = detection.confidence(chosen.family, options)
    tiles = str(options.get(large_pictures.OPTION) or large_pictures.wish(session, project_id))
    generation = families.find(chosen.family).generation
    for run in runs_of(session, project_id, chosen):
        if run.parameters.get("generation", 0) != generation:
            continue
        tiled = "on" if run.parameters.get("tile") else "off"
        same = run.parameters.get("confidence") == confidence and tiles in (
            large_pictures.AUTO,
            tiled,
        )
        if same and run.ledger_key and fits(run.runtime, options):
            return run
    return None
