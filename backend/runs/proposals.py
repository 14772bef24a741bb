"""What models propose for images that a person labels: for each image, what the best one found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import families
from backend.domain import Detection, Job
from backend.jobs import kinds, queue
from backend.models import registry
from backend.models.choice import GOLDEN
from backend.projects import selections
from backend.runs import detection
from backend.storage import findings
from backend.storage.tables import ModelRow, RunImageRow, RunRow

PURPOSES = ("detect", "propose")
# Older runs are superseded; their detections stay reachable under Review.
NEWEST = 30
Rank = tuple[bool, float, int]


@dataclass(frozen=True, slots=True)
class Proposed:
    """What one run proposes for one image."""

    run_id: int
    proposer: str
    detections: tuple[Detection, ...]
    chances: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Run:
    words: str
    rank: Rank


def ask(
    session: Session,
    project_id: int,
    source: Mapping[str, Any] | None = None,
    author: str = "",
    key: str = "",
) -> Job:
    """Queue proposals from the goldens: by the project's best golden model, else by the rules."""
    detection.check_images(session, project_id, source or {})
    asked = request(session, project_id, source or {})
    return queue.enqueue(session, asked, author=author, key=key)


def request(session: Session, project_id: int, source: Mapping[str, Any]) -> kinds.Propose:
    """What such a job is asked."""
    source = selections.kept(session, project_id, source)
    model = registry.best(session, project_id, (GOLDEN,))
    if model is None:
        return kinds.Propose(project_id, GOLDEN, source=dict(source))
    return kinds.Propose(project_id, model.family, model.id, model.weights, dict(source))


def best(session: Session, project_id: int, image_ids: Collection[int]) -> dict[int, Proposed]:
    """The proposals of the best model that saw each image; an image no run saw is left out."""
    runs = _runs(session, project_id)
    if not runs or not image_ids:
        return {}
    query = select(RunImageRow.image_id, RunImageRow.run_id).where(
        RunImageRow.run_id.in_(runs),
        RunImageRow.image_id.in_(image_ids),
        RunImageRow.status == "ok",
    )
    chosen: dict[int, int] = {}
    for image_id, run_id in session.execute(query):
        chosen[image_id] = max(chosen.get(image_id, run_id), run_id, key=lambda id_: runs[id_].rank)
    by_run: dict[int, list[int]] = {}
    for image_id, run_id in chosen.items():
        by_run.setdefault(run_id, []).append(image_id)
    return {
        image_id: Proposed(run_id, runs[run_id].words, detections, chances.get(image_id, {}))
        for run_id, images in by_run.items()
        for chances in [_chances(session, run_id, images)]
        for image_id, detections in findings.detections(session, run_id, images).items()
    }


def _chances(
    session: Session, run_id: int, image_ids: Collection[int]
) -> dict[int, dict[str, float]]:
    run = findings.get(session, run_id)
    return findings.chances(session, run, image_ids) if families.answers_once(run.family) else {}


def _runs(session: Session, project_id: int) -> dict[int, _Run]:
    """The newest runs by id, each with the words for who proposes and how good that one is."""
    query = (
        select(RunRow.id, RunRow.family, RunRow.model, RunRow.model_id)
        .where(RunRow.project_id == project_id, RunRow.purpose.in_(PURPOSES))
        .order_by(RunRow.id.desc())
        .limit(NEWEST)
    )
    found = session.execute(query).all()
    ids = {model_id for *_, model_id in found if model_id is not None}
    models = {row.id: row for row in session.scalars(select(ModelRow).where(ModelRow.id.in_(ids)))}
    return {
        id_: _Run(words(family, name, models.get(model_id)), _rank(id_, models.get(model_id)))
        for id_, family, name, model_id in found
    }


def _rank(run_id: int, row: ModelRow | None) -> Rank:
    """As `registry.rank` has it, then the newest run; what is not in the registry comes last."""
    return (
        (row.champion, float(row.metrics.get("map50") or 0), run_id) if row else (False, -1, run_id)
    )


def words(family: str, name: str, row: ModelRow | None) -> str:
    """Who proposes, as the page says it."""
    if family != GOLDEN:
        return f"{name} ({family})" if family and family != name else name
    if row is None:
        return "rules" if name == GOLDEN else f"{name} ({family})"
    if partner := row.parameters.get("extra", {}).get("partner"):
        return f"{name}: fusion with {partner['name']}"
    figures = row.facts.get("provenance", {}).get("figures", {})
    labels = int(figures.get("pictures", 0))
    who = "forest" if figures.get("weight", 0) > 0 else "rules"
    return f"{name}: {who}, {labels} {'label' if labels == 1 else 'labels'}"
