"""A model of ours as mlflow loads one: pictures in, our boxes out, in a process without Loupe.

A row of the input is a picture as its file holds it (`image`), and for a golden model its clean
board (`golden`). A row of the answer is a box; `image` counts the rows of the input from 0. A
picture that the model refuses has one row, with the reason and no box.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from backend import families
from backend.domain import Model
from backend.errors import Invalid, Refused
from backend.weights import weight_header
from workers.families import base
from workers.families.base import Answer, Picture, Pixels

COLUMNS = ("image", "label", "score", "x1", "y1", "x2", "y2", "refused")
LEAST_SCORE = 0.05
GOLDEN = "golden"
# What `backend` and `workers` import where a model is loaded.
NEEDED = (
    "numpy",
    "opencv-python",
    "pandas",
    "pillow",
    "psutil",
    "pydantic-settings",
    "safetensors",
    "scikit-learn",
    "sqlalchemy",
    "torch",
    "torchvision",
    "ultralytics",
)
ROOT = Path(__file__).parents[2]


def save(folder: Path, weights: Path, model: Model) -> None:
    """Write the model with its signature, our code, and what that needs."""
    with tempfile.TemporaryDirectory() as place:
        # The store knows files by their hash alone; who loads one goes by how its name ends.
        named = (
            Path(place)
            / f"model{'.npz' if families.find(model.family).needs_golden else '.safetensors'}"
        )
        shutil.copyfile(weights, named)
        _save(folder, named, model)


def _save(folder: Path, weights: Path, model: Model) -> None:
    from mlflow import pyfunc
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema

    number, text = ("double", "string")
    types = {"image": "long", "label": text, "refused": text}
    golden = families.find(model.family).needs_golden
    signature = ModelSignature(
        Schema([ColSpec("binary", "image"), ColSpec("binary", "golden", required=golden)]),
        Schema([ColSpec(types.get(name, number), name) for name in COLUMNS]),
        ParamSchema([ParamSpec("least_score", number, LEAST_SCORE)]),
    )
    with warnings.catch_warnings(action="ignore"):  # of examples and hints that nobody has asked
        pyfunc.save_model(
            folder,
            loader_module=__name__,
            data_path=str(weights),
            code_paths=[str(ROOT / "backend"), str(ROOT / "workers")],
            signature=signature,
            pip_requirements=[f"{name}=={metadata.version(name)}" for name in NEEDED],
            metadata={"family": model.family, "classes": list(model.classes)},
        )


def _load_pyfunc(path: str, model_config: Mapping[str, Any] | None = None) -> Boxes:
    """Called by mlflow; the family stands in the file itself."""
    del model_config
    return Boxes(Path(path))


class Boxes:
    """A loaded model."""

    def __init__(self, weights: Path) -> None:
        self.model = base.implementation(_family(weights)).load(weights, "")

    def predict(self, images: Any, params: Mapping[str, Any] | None = None) -> Any:
        """The boxes of each picture from a score up, best first."""
        import pandas

        least = float((params or {}).get("least_score", LEAST_SCORE))
        pictures = [Picture(_pixels(row), _golden(row)) for row in images.to_dict("records")]
        answers = self.model.predict(pictures)
        rows = [row for number, one in enumerate(answers) for row in self._rows(number, one, least)]
        return pandas.DataFrame(rows, columns=list(COLUMNS))

    def _rows(self, number: int, answer: Answer, least: float) -> Iterator[tuple[Any, ...]]:
        if isinstance(answer, Refused):
            yield number, "", *[float("nan")] * 5, str(answer)
            return
        for x1, y1, x2, y2, score, index in answer[answer[:, 4] >= least, :6].tolist():
            yield number, self.model.classes[int(index)], score, x1, y1, x2, y2, ""


def _family(weights: Path) -> str:
    if weights.suffix == ".npz":
        return weight_header.packed_family(weights) or GOLDEN
    return weight_header.family(weights)


def _golden(row: Mapping[str, Any]) -> Pixels | None:
    return _pixels(row, "golden") if isinstance(row.get("golden"), bytes) else None


def _pixels(row: Mapping[str, Any], column: str = "image") -> Pixels:
    import cv2

    found = cv2.imdecode(np.frombuffer(row[column], np.uint8), cv2.IMREAD_COLOR)
    if found is None:
        raise Invalid(f"The {column} of a row is no picture that can be read.")
    return np.asarray(found, np.uint8)
