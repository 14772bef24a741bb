"""Lays a trained model out as a package: the graph with its facts, and the code that runs it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from backend.errors import Refused
from backend.models.choice import Label
from workers import runtimes
from workers.engine.work import Setup
from workers.packages.predictor import FACTS
from workers.runtimes.preparing import Prepared

RUNTIME = "onnxruntime"
MODEL, CODE = "model", "code"
ROOT = Path(__file__).resolve().parents[2]
# All that the predictor imports of Loupe, and no more; a test holds it against what it does import.
MODULES = (
    "backend/__init__.py", "backend/errors.py", "backend/families.py",
    "backend/domain/__init__.py", "backend/domain/jobs.py", "backend/domain/labels.py",
    "backend/domain/models.py", "backend/domain/people.py", "backend/domain/runs.py",
    "backend/jobs/__init__.py", "backend/jobs/needs.py", "backend/runtimes.py", "backend/words.py",
    "workers/__init__.py", "workers/merged.py",
    "workers/engine/__init__.py", "workers/engine/chunks.py", "workers/engine/decoding.py",
    "workers/engine/files.py", "workers/engine/order.py", "workers/engine/tiles.py",
    "workers/engine/work.py",
    "workers/families/__init__.py", "workers/families/base.py", "workers/families/letterbox.py",
    "workers/families/nms.py",
    "workers/packages/__init__.py", "workers/packages/predictor.py",
    "workers/runtimes/__init__.py", "workers/runtimes/boxes.py", "workers/runtimes/labels.py",
    "workers/runtimes/onnxruntime.py",
)  # fmt: skip
# What the code stands on, by the names under which we have it; a service has no screen to draw on.
NEEDS = {
    "numpy": "numpy",
    "onnxruntime": "onnxruntime",
    "opencv-python": "opencv-python-headless",
    "pillow": "pillow",
}


def check(family: str) -> None:
    """Refuse a family that has no graph."""
    if family not in runtimes.RUNTIMES[RUNTIME].families:
        raise Refused(
            f"The family {family} has no graph that runs without Loupe: it compares each picture "
            f"with its golden. {', '.join(runtimes.RUNTIMES[RUNTIME].families)} can be registered."
        )


def lay(
    folder: Path,
    prepared: Prepared,
    setup: Setup,
    labels: Sequence[Label],
    provenance: Mapping[str, Any],
) -> None:
    """Fill a new folder with the two halves of the package."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / MODEL).mkdir(parents=True)
    shutil.copyfile(prepared.folder / "graph.onnx", folder / MODEL / "graph.onnx")
    told = facts(prepared, setup, labels, provenance)
    (folder / MODEL / FACTS).write_text(json.dumps(told, indent=1), "utf-8")
    (folder / origin(provenance["weights"])).write_text(json.dumps(provenance, indent=1), "utf-8")
    for name in (*MODULES, "LICENSE"):
        target = folder / CODE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copyfile(ROOT / name, target)


def origin(weights: str) -> str:
    """The file by whose name one sees whose weights a version has."""
    return f"weights-{weights}.json"


def facts(
    prepared: Prepared, setup: Setup, labels: Sequence[Label], provenance: Mapping[str, Any]
) -> dict[str, Any]:
    """All that the predictor has to know, and where the model comes from."""
    source = prepared.source
    return {
        "family": source.family,
        "classes": source.classes,
        "image_size": source.image_size,
        "labels": [[one.name, one.class_id] for one in labels],
        "places": [labels.index(one) for one in labels],
        "setup": {
            "confidence": setup.confidence,
            "wanted": setup.wanted,
            "tile": setup.tile,
            "megapixels": setup.megapixels,
        },
        "provenance": dict(provenance),
    }


def requirements() -> list[str]:
    """The libraries of the package, each in the version that is tried here."""
    return [f"{there}=={metadata.version(here)}" for here, there in NEEDS.items()]
