"""Which model a name means: vN, champion, golden, or a weights file; the one place that says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import ModelState
from backend.errors import Invalid, NotFound, Refused
from backend.jobs import kinds
from backend.models import registry
from backend.storage.classes import class_names
from backend.storage.tables import ModelRow, ProjectRow
from backend.weights import weight_header

CHAMPION = "champion"
GOLDEN = "golden"
WEIGHTS = (".pt", ".pth", ".safetensors", ".npz")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model as a run takes it; `weights` is a stored hash, a file, or nothing (golden).

    `classes` are the names in its file, `class_ids` what they mean in its project.
    """

    name: str
    family: str
    model_id: int | None = None
    weights: str = ""
    classes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] | None = None
    class_ids: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """What a class of a model is called in a project today, and which class that is, if any."""

    name: str
    class_id: int | None


def choose(session: Session, project_id: int | None, model: str) -> Chosen:
    """The model that a person names."""
    if model == GOLDEN:
        return Chosen(GOLDEN, GOLDEN)
    if model.endswith(WEIGHTS):
        path = Path(model).resolve()
        return Chosen(path.name, family_of(path), None, str(path))
    if project_id is None:
        raise Refused(
            f"Without a project the model must be a weights file ({', '.join(WEIGHTS)}) or "
            f"{GOLDEN!r}, not {model!r}."
        )
    return _registered(session, project_id, model)


def home(session: Session, model: str) -> int | None:
    """The project of a model that is named without one; None for a weights file."""
    if model == GOLDEN or model.endswith(WEIGHTS):
        return None
    query = select(ProjectRow.id, ProjectRow.name).join(
        ModelRow, (ModelRow.project_id == ProjectRow.id) & ModelRow.champion.is_(True)
    )
    found = session.execute(query.order_by(ProjectRow.name)).all()
    if not found:
        raise NotFound(f"No project has a trained model yet, so there is no {model!r}.")
    if len(found) > 1:
        names = ", ".join(name for _, name in found)
        raise Refused(f"Several projects have a {model}: name one with --project ({names}).")
    return int(found[0][0])


def chosen_by(session: Session, request: kinds.Detect) -> Chosen:
    """The model that a queued request means."""
    if request.model_id is None:
        name = Path(request.weights).name or request.family
        return Chosen(name, request.family, None, request.weights)
    row = session.get(ModelRow, request.model_id)
    if row is None:
        raise NotFound(f"The model {request.model_id} is not there any more.")
    return _chosen(row)


def known_names(session: Session, project_id: int | None) -> list[set[str]]:
    """The names that each class of the project has and had, for a model that has none of its own.

    The classes stand in an order that nobody changes.
    """
    names = class_names.of(session, project_id)
    now = sorted(set(names.stands.values()))
    said = {class_id: {names.own[class_id]} for class_id in now}
    for name, class_id in names.ids.items():
        said[class_id].add(name)
    return list(said.values())


def labels(
    session: Session, project_id: int | None, chosen: Chosen, names: Sequence[str]
) -> tuple[Label, ...]:
    """What each class of a model means in a project, by the names that its file has for them."""
    known = class_names.of(session, project_id)
    ids = [*chosen.class_ids, *[None] * len(names)]
    now = [known.now(class_id, name) for class_id, name in zip(ids, names, strict=False)]
    return tuple(
        Label(known.name(class_id, name), class_id)
        for class_id, name in zip(now, names, strict=True)
    )


def family_of(path: Path) -> str:
    """What kind of model a weights file holds; our own files say it in their first lines."""
    if not path.is_file():
        raise NotFound(f"There is no weights file {path}.")
    if path.suffix == ".npz":
        return weight_header.packed_family(path) or GOLDEN
    if path.suffix != ".safetensors":
        return "yolo"
    if not (family := weight_header.family(path)):
        raise Invalid(f"The file {path.name} is no weights file of Loupe.")
    return family


def _registered(session: Session, project_id: int, model: str) -> Chosen:
    query = select(ModelRow).filter_by(project_id=project_id, state=ModelState.READY)
    if model == CHAMPION:
        row = session.scalar(query.filter_by(champion=True))
    elif number := registry.number_of(model):
        row = session.scalar(query.filter_by(number=number))
    else:
        raise Invalid(
            f"{model[:80]!r} is no model: name vN, {CHAMPION}, {GOLDEN} or a weights file "
            f"({', '.join(WEIGHTS)})."
        )
    if row is None:
        raise NotFound(f"The project has no trained model {model!r} yet.")
    return _chosen(row)


def _chosen(row: ModelRow) -> Chosen:
    return Chosen(
        f"v{row.number}",
        row.family,
        row.id,
        row.weights,
        tuple(row.classes),
        dict(row.parameters),
        tuple(row.class_ids),
    )
