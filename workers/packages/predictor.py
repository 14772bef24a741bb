"""What a package runs: bytes of pictures in, what a run of Loupe would find out.

It goes along in the package, with all that it imports: no torch, no database, no settings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workers import merged
from workers.engine.chunks import Chunk, Looked, Status
from workers.engine.work import ChunkWorker, Setup
from workers.families.base import Detections, LoadedModel
from workers.runtimes import ModelSource, onnxruntime

FACTS = "model.json"
LOADER = "workers.packages.predictor:load"


class Predictor:
    """A package in memory; `folder` has the graph and what there is to know of it."""

    def __init__(self, folder: Path) -> None:
        self._facts = _facts(folder)
        told = self._facts["setup"]
        self._worker = ChunkWorker(Setup(LOADER, (str(folder),), **told))

    def look(self, pictures: Sequence[bytes]) -> list[str]:
        """For each picture a JSON list of what was found, or an object with the error."""
        names = tuple(f"Picture {at + 1}" for at in range(len(pictures)))
        carried = dict(zip(names, pictures, strict=True))
        chunk = Chunk(0, tuple(range(len(names))), names, carried=carried)
        return [json.dumps(self._told(one)) for one in self._worker.look(chunk)]

    def _told(self, looked: Looked) -> Any:
        if looked.status != Status.OK:
            return {"error": looked.error}
        return [self._row(*row) for row in self._kept(looked.boxes).tolist()]

    def _kept(self, boxes: Detections) -> Detections:
        places = self._facts["places"]
        if self._facts["family"] == "classifier":
            return merged.likeliest(boxes, places)[:1]
        return merged.once(boxes, places)

    def _row(
        self, x1: float, y1: float, x2: float, y2: float, score: float, place: float
    ) -> dict[str, Any]:
        name, class_id = self._facts["labels"][int(place)]
        box = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        return {"name": name, "class": class_id, "confidence": score, "box": box}


def load(folder: str) -> LoadedModel:
    """The graph, ready to be asked."""
    facts = _facts(Path(folder))
    source = ModelSource(facts["family"], None, tuple(facts["classes"]), facts["image_size"])
    return onnxruntime.load(Path(folder), source, "f32", facts["setup"]["confidence"], 0)


def _facts(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / FACTS).read_text("utf-8"))
    return told
