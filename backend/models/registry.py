"""The registry: a project's models v1, v2 …, what each is worth, and which one is champion."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import JobState, Model, ModelState
from backend.errors import Invalid, NotFound, Refused
from backend.projects import catalogue
from backend.storage.classes import class_names, figures
from backend.storage.tables import JobRow, ModelRow

CHAMPION = "champion"
NUMBERED = re.compile(r"v([0-9]{1,9})")
LOST: dict[str | None, ModelState] = {
    JobState.FAILED: ModelState.FAILED,
    JobState.CANCELLED: ModelState.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Details:
    """A model with all that was measured of it: curves and confusion, and how it compares."""

    model: Model
    author: str
    evaluation: Mapping[str, Any] = field(default_factory=dict)
    against: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    runtimes: Sequence[Mapping[str, Any]] = ()
    reigned: bool = False


def add(
    session: Session,
    project_id: int,
    family: str,
    *,
    classes: tuple[str, ...],
    snapshot_id: int | None,
    parameters: Mapping[str, Any],
    parent: Model | None = None,
    author: str = "",
) -> Model:
    """The project's next version, still to be trained.

    Its parent is the model that it begins from, else the champion that it follows.
    """
    catalogue.lock(session, project_id)
    names = class_names.of(session, project_id)
    last = session.scalar(select(func.max(ModelRow.number)).filter_by(project_id=project_id))
    before = parent or champion(session, project_id)
    row = ModelRow(
        project_id=project_id,
        number=(last or 0) + 1,
        family=family,
        author=author,
        classes=list(classes),
        class_ids=[names.id(name) for name in classes],
        parameters=dict(parameters),
        snapshot_id=snapshot_id,
        parent_id=before.id if before else None,
    )
    session.add(row)
    session.flush()
    return _model(session, row, None)


def set_job(session: Session, model_id: int, job_id: int) -> None:
    """Note which job trains the model."""
    _row(session, model_id).job_id = job_id


def complete(
    session: Session,
    model_id: int,
    weights: str,
    evaluation: Mapping[str, Any],
    *,
    against: Mapping[str, Any] | None = None,
    provenance: Mapping[str, Any] | None = None,
    classes: Mapping[str, int] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Model:
    """The model is ready; the first one of a project becomes its champion by itself.

    `classes` are those that it has learned, by the names in its file, and `parameters` those that
    it was trained with, where they are others than when it was asked for.
    Figures are as `backend.storage.classes.figures` keeps them, or by name.
    """
    row = _row(session, model_id)
    catalogue.lock(session, row.project_id)
    row.weights, row.state = weights, ModelState.READY
    row.facts = {"provenance": dict(provenance or {})}
    if classes:
        row.classes, row.class_ids = list(classes), list(classes.values())
    if parameters:
        row.parameters = dict(parameters)
    keep_against(session, model_id, against or {})
    _keep(session, row, evaluation)
    others = select(ModelRow.id).filter_by(project_id=row.project_id, champion=True)
    if session.scalar(others) is None:
        row.champion = True
    session.flush()
    return _model(session, row, None)


def keep_evaluation(session: Session, model_id: int, evaluation: Mapping[str, Any]) -> None:
    """Replace what was measured of a model by a newer measurement."""
    _keep(session, _row(session, model_id), evaluation)


def keep_against(session: Session, model_id: int, against: Mapping[str, Any]) -> None:
    """Replace how a model stands beside another one by a newer comparison."""
    row = _row(session, model_id)
    kept = figures.keyed(against, class_names.of(session, row.project_id).ids)
    row.facts = {**(row.facts or {}), "against": kept}


def keep_runtimes(session: Session, model_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keep how fast and how well a model runs in each runtime."""
    row = _row(session, model_id)
    row.facts = {**(row.facts or {}), "runtimes": [dict(one) for one in rows]}


def promote(session: Session, model_id: int) -> Model:
    """Make a ready model the champion; the one before can be promoted again at any time."""
    row = _row(session, model_id)
    catalogue.lock(session, row.project_id)
    if row.state != ModelState.READY:
        raise Refused(f"v{row.number} is not ready, so it cannot become the champion.")
    same = select(ModelRow).filter_by(project_id=row.project_id, champion=True)
    for other in session.scalars(same.with_for_update()):
        other.champion, other.facts = False, {**(other.facts or {}), "reigned": True}
    session.flush()
    row.champion = True
    session.flush()
    return _model(session, row, None)


def offered(told: Details, champion: Model | None) -> bool:
    """Whether to suggest a model as champion: measured clearly better than the one of now."""
    if champion is None or told.model.state is not ModelState.READY:
        return False
    found = told.against.get("map50") or told.against.get("accuracy") or {}
    return told.against.get("model_id") == champion.id and found.get("better") is True


def models(session: Session, project_id: int) -> list[Model]:
    """The project's models, newest first."""
    query = (
        select(ModelRow, JobRow.state)
        .outerjoin(JobRow, JobRow.id == ModelRow.job_id)
        .where(ModelRow.project_id == project_id)
        .order_by(ModelRow.number.desc())
    )
    return [_model(session, row, state) for row, state in session.execute(query)]


def get(session: Session, model_id: int) -> Model:
    """The model of that id."""
    row = _row(session, model_id)
    return _model(session, row, _job_state(session, row))


def find(session: Session, project_id: int, name: str) -> Model:
    """The model named vN, or the champion."""
    query = select(ModelRow).filter_by(project_id=project_id)
    if name == CHAMPION:
        query = query.filter_by(champion=True)
    elif number := number_of(name):
        query = query.filter_by(number=number)
    else:
        raise Invalid(f"{name[:80]!r} is no model of a project: name vN or {CHAMPION}.")
    row = session.scalar(query)
    if row is None:
        raise NotFound(f"The project has no model {name!r}.")
    return _model(session, row, _job_state(session, row))


def by_weights(session: Session, project_id: int, weights: str) -> Model | None:
    """A model of the project with these weights."""
    query = select(ModelRow).filter_by(project_id=project_id, weights=weights)
    row = session.scalar(query.order_by(ModelRow.id).limit(1))
    return _model(session, row, None) if row else None


def number_of(name: str) -> int | None:
    """The number N of a model that is named vN; None for any other name."""
    found = NUMBERED.fullmatch(name)
    return int(found[1]) if found else None


def champion(session: Session, project_id: int) -> Model | None:
    """The project's best model as a person has decided, if it has one."""
    row = session.scalar(select(ModelRow).filter_by(project_id=project_id, champion=True))
    return _model(session, row, None) if row else None


def best(session: Session, project_id: int, families: Collection[str]) -> Model | None:
    """The best ready model of some families: the champion, else the one measured best."""
    ready = [
        one
        for one in models(session, project_id)
        if one.state is ModelState.READY and one.family in families
    ]
    return max(ready, key=rank, default=None)


def rank(model: Model) -> tuple[bool, float, int]:
    """What sorts models: the champion, then by what was measured, then the newest."""
    return model.champion, float(model.metrics.get("map50") or 0.0), model.id


def details(session: Session, model_id: int) -> Details:
    """All that is known of a model."""
    row = _row(session, model_id)
    facts, names = row.facts or {}, class_names.of(session, row.project_id)
    return Details(
        _model(session, row, _job_state(session, row)),
        row.author,
        figures.named({**row.metrics, **facts.get("evaluation", {})}, names),
        figures.named(facts.get("against", {}), names),
        facts.get("provenance", {}),
        facts.get("runtimes", ()),
        facts.get("reigned", False),
    )


def verdict(told: Details) -> str:
    """Whether the model is better than the one it was compared with, class by class."""
    if not told.against:
        return f"{told.model.name} has no other model to be compared with yet."
    return compared(told.model.name, told.against)


def compared(name: str, against: Mapping[str, Any]) -> str:
    """What a comparison with another model says, in words."""
    better, worse = _classes(against, True), _classes(against, False)
    parts = [_overall(name, against), *_pictures(against)]
    if better:
        parts.append(f"Better in: {', '.join(better)}.")
    if worse:
        parts.append(f"Worse in: {', '.join(worse)}.")
    if not better and not worse and against.get("per_class"):
        parts.append("No class differs clearly.")
    if learned := against.get("learned"):
        parts.append(
            f"{against['model']} has learned from {learned} of the {against['compared']} images, "
            "so it looks better here than it is."
        )
    return " ".join(parts)


def _overall(name: str, against: Mapping[str, Any]) -> str:
    iou = against.get("iou", 0.5)
    named = {f"mAP@{iou:.2g}".replace("0.", "."): "map", "mAP@.5": "map50", "accuracy": "accuracy"}
    words, figure = next(pair for pair in named.items() if pair[1] in against)
    found, other = against[figure], against["model"]
    if found["difference"] is None:
        return f"{name} cannot be compared with {other}: nothing was there to be found."
    difference = f"{words} {found['difference']:+.3f}"
    if interval := found["interval"]:
        difference += f", 95 % between {interval[0]:+.3f} and {interval[1]:+.3f}"
    how = {True: "better than", False: "worse than", None: "not clearly different from"}
    return f"{name} is {how[found['better']]} {other} ({difference})."


def _pictures(against: Mapping[str, Any]) -> Iterator[str]:
    """How many classified pictures went over."""
    if "gained" in against:
        told = (_between(against[name]) for name in ("gained", "lost"))
        yield "Pictures gained: {}; lost: {}.".format(*told)


def _between(count: Mapping[str, Any]) -> str:
    interval = count["interval"]
    between = f" (95 %: {interval[0]:.0f} to {interval[1]:.0f})" if interval else ""
    return f"{count['images']:,}{between}"


def _classes(against: Mapping[str, Any], better: bool) -> list[str]:
    return [
        name for name, found in against.get("per_class", {}).items() if found["better"] is better
    ]


def _keep(session: Session, row: ModelRow, evaluation: Mapping[str, Any]) -> None:
    """What lists show stays small; the curves are read for one model at a time."""
    evaluation = figures.keyed(evaluation, class_names.of(session, row.project_id).ids)
    large = ("curves", "confusion", "sizes", "reliability")
    row.metrics = {name: value for name, value in evaluation.items() if name not in large}
    drawn = {name: value for name, value in evaluation.items() if name in large}
    row.facts = {**(row.facts or {}), "evaluation": drawn}


def _job_state(session: Session, row: ModelRow) -> str | None:
    return session.scalar(select(JobRow.state).where(JobRow.id == row.job_id))


def _row(session: Session, model_id: int) -> ModelRow:
    row = session.get(ModelRow, model_id)
    if row is None:
        raise NotFound(f"There is no model {model_id}.")
    return row


def _model(session: Session, row: ModelRow, job_state: str | None) -> Model:
    """A model whose job has ended without it has ended likewise."""
    names = class_names.of(session, row.project_id)
    state = ModelState(row.state)
    if state is ModelState.TRAINING:
        state = LOST.get(job_state, state)
    return Model(
        id=row.id,
        project_id=row.project_id,
        name=f"v{row.number}",
        family=row.family,
        state=state,
        classes=tuple(map(names.name, row.class_ids, row.classes)),
        champion=row.champion,
        at=row.at,
        weights=row.weights,
        snapshot_id=row.snapshot_id,
        parent_id=row.parent_id,
        job_id=row.job_id,
        parameters=row.parameters,
        metrics=figures.named(row.metrics, names),
        class_ids=tuple(row.class_ids),
    )
