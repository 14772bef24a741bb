"""A model into Snowflake's registry: packed, tried, and put there once."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any, cast

from backend.domain import Model, ModelState
from backend.errors import Refused
from backend.jobs import kinds
from backend.models import choice, registry
from backend.models.choice import Label
from backend.projects import catalogue
from backend.warehouse import address as addresses
from backend.warehouse.inside import versions
from workers.context import Context
from workers.engine import setups
from workers.engine.setups import Stores
from workers.packages import packing
from workers.weights import weight_files

# Of how it was trained, what may leave this machine: no path and no name of a computer.
TRAINED = ("job", "code", "versions", "devices")


def run(context: Context) -> Mapping[str, Any]:
    """Refuse what is there already; the version appears when it is complete."""
    request = cast("kinds.Register", context.request)
    with context.database.read() as session:
        model = registry.get(session, request.model_id)
        project = catalogue.get(session, model.project_id).name
        if model.state is not ModelState.READY:
            raise Refused(f"{model.name} is not ready, so it cannot be registered.")
        chosen = choice.choose(session, model.project_id, model.name)
    packing.check(model.family)
    where, name = addresses.of(context.settings), request.name or project
    address = versions.check(where, name, request.pool, model.name)
    origin, job = packing.origin(model.weights), context.job.id
    context.progress(0.05, "Asking the registry")
    with versions.opened(address) as there:
        there.refuse_known(name, model.name, origin, job)
    context.progress(0.2, f"Packing {model.name}")
    stores = Stores(context.database, context.files, context.settings)
    options = {"runtime": packing.RUNTIME}
    prepared = setups.prepare(stores, model.project_id, chosen, options)
    setup = setups.setup(stores, model.project_id, chosen, prepared, options)
    labels = setups.labels(stores, model.project_id, chosen, prepared)
    told = _provenance(context, model, project, labels)
    folder = context.folder / "package"
    packing.lay(folder, prepared, setup, labels, told)
    context.progress(0.5, f"Sending {model.name}")
    version = versions.Version(
        name,
        model.name,
        versions.packaged(folder / packing.MODEL, folder / origin),
        origin,
        folder / packing.CODE,
        packing.requirements(),
        {**_figures(model), "provenance": told},
        f"{model.name} of {project}, snapshot {model.snapshot_id}, weights {model.weights[:16]}",
    )
    with versions.opened(address) as there:
        full = there.log(version, job)
        spec = there.service(name, model.name, request.pool) if request.pool else ""
    shutil.rmtree(folder, ignore_errors=True)
    return {"model": model.name, "registered": full, "service": spec}


def _provenance(
    context: Context, model: Model, project: str, labels: Sequence[Label]
) -> dict[str, Any]:
    """Where the model comes from, and who has put it there."""
    with context.database.read() as session:
        details = registry.details(session, model.id)
    header = weight_files.peek(context.files.local_path(model.weights))
    return {
        "project": project,
        "model": model.name,
        "family": model.family,
        "variant": header.variant,
        "weights": model.weights,
        "snapshot": model.snapshot_id,
        "training": {
            name: details.provenance[name] for name in TRAINED if name in details.provenance
        },
        "classes": [{"id": one.class_id, "name": one.name} for one in labels],
        "trained_by": details.author,
        "trained_at": model.at.isoformat(),
        "registered_by": context.job.author,
        "job": context.job.id,
    }


def _figures(model: Model) -> dict[str, float]:
    """What was measured of it, number by number."""
    return {
        name: value
        for name, value in model.metrics.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
