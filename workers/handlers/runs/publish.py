"""The export of a model for use outside of Loupe: one .zip in the cache, for a page to fetch."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from backend.domain import ModelState
from backend.errors import Refused, Unavailable
from backend.jobs import kinds
from backend.models import registry
from backend.projects import catalogue
from workers.context import Context
from workers.families import base


def run(context: Context) -> Mapping[str, Any]:
    """Write the model in the asked form; the file appears when it is complete."""
    request = cast("kinds.Publish", context.request)
    with context.database.read() as session:
        model = registry.get(session, request.model_id)
        project = catalogue.get(session, model.project_id)
    if model.state is not ModelState.READY:
        raise Refused(f"{model.name} is not ready, so it cannot be exported.")
    context.progress(0.1, f"Writing {model.name} for {request.runtime}")
    folder = context.folder / "export"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    weights = context.files.local_path(model.weights)
    try:
        base.implementation(model.family).load(weights, "cpu").export(request.runtime, folder)
    except Unavailable as missing:
        # Trying again would not install it.
        raise Refused(str(missing)) from missing
    context.progress(0.9, "Packing")
    size = _pack(folder, context.settings.exports / f"{context.job.id}.zip")
    file = f"{project.name}-{model.name}-{request.runtime}.zip"
    return {"model": model.name, "runtime": request.runtime, "file": file, "bytes": size}


def _pack(folder: Path, out: Path) -> int:
    out.parent.mkdir(parents=True, exist_ok=True)
    part = folder.with_suffix(".zip")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, path.relative_to(folder))
    os.replace(part, out)
    return out.stat().st_size
