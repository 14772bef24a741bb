"""Looks at one picture that is in no project, at once; nothing is stored but the job's answer."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from backend import families
from backend.errors import Invalid, Refused
from backend.jobs import kinds
from backend.services import detecting
from workers.context import Context
from workers.engine import pictures, setups, work
from workers.engine.setups import Rooms
from workers.models.base import Answer, Detections, Model, Picture

MOST_MODELS = 2
MOST_GOLDENS = 8
LEAST = 0.1


def run(context: Context) -> Mapping[str, Any]:
    """Answer once; the resident process answers again and again with its models loaded."""
    return Trier().answer(context)


class Trier:
    """Keeps the last models in memory."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, Model] = OrderedDict()

    def answer(self, context: Context) -> Mapping[str, Any]:
        """The boxes of the picture, which is then removed: a second attempt needs it, too."""
        request = cast("kinds.Try", context.request)
        try:
            return self._answer(context, request)
        finally:
            Path(request.path).unlink(missing_ok=True)

    def _answer(self, context: Context, request: kinds.Try) -> Mapping[str, Any]:
        """The boxes, with the time that decoding and looking took."""
        model, name = self._model(context, request)
        began = time.perf_counter()
        path = Path(request.path)
        decoded = pictures.decode(pictures.read(str(path)), path.name)
        found = _boxes(context, request, model, decoded)
        milliseconds = (time.perf_counter() - began) * 1000
        return {
            "model": name,
            "width": decoded.width,
            "height": decoded.height,
            "milliseconds": round(milliseconds, 1),
            "detections": [_shown(row, model.classes) for row in found.tolist()],
        }

    def _model(self, context: Context, request: kinds.Try) -> tuple[Model, str]:
        rooms = Rooms(context.database, context.files, context.settings)
        with context.database.read() as session:
            chosen = detecting.chosen_by(session, request)
        options = {"confidence": LEAST, **request.options}
        prepared = setups.prepare(rooms, request.project_id, chosen, options, apart=True)
        setup = setups.setup(rooms, request.project_id, chosen, prepared, options)
        key = f"{prepared.key} {prepared.source.classes} {setup.confidence} {setup.tile}"
        if key not in self._models:
            self._models[key] = work.load(setup)
            if len(self._models) > MOST_MODELS:
                self._models.popitem(last=False)
        self._models.move_to_end(key)
        return self._models[key], chosen.name


def _boxes(
    context: Context, request: kinds.Try, model: Model, decoded: pictures.Decoded
) -> Detections:
    if not families.find(request.family).needs_golden:
        return _sure(model.predict([Picture(decoded.pixels)])[0])
    tried = [
        Picture(decoded.pixels, pictures.decode(pictures.read(golden), "its golden").pixels)
        for golden in _goldens(context, request)
    ]
    if not tried:
        raise Refused("The project has no golden picture with which this one could be compared.")
    answers = model.predict(tried)
    fitting = [_sure(one) for one in answers if not isinstance(one, Refused)]
    if not fitting:
        raise Refused("The picture fits none of the project's golden pictures.")
    # The golden of the same product shows the fewest differences.
    return min(fitting, key=len)


def _goldens(context: Context, request: kinds.Try) -> Iterator[str]:
    if request.project_id is None:
        raise Invalid("The golden board needs a project with golden pictures.")
    with context.database.read() as session:
        for golden in detecting.goldens(session, request.project_id, MOST_GOLDENS):
            yield context.files.location(golden.sha256)


def _sure(answer: Answer) -> Detections:
    """What is worth showing; a refusal is raised."""
    if isinstance(answer, Refused):
        raise answer
    return np.asarray(answer[answer[:, 4] >= LEAST], np.float32)


def _shown(row: list[float], classes: tuple[str, ...]) -> dict[str, Any]:
    x1, y1, x2, y2 = (round(value, 2) for value in row[:4])
    score = round(row[4], 4)
    return {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "label": classes[int(row[5])], "score": score}
