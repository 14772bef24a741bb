"""Looks at one picture that is in no project, at once; nothing is stored but the job's answer."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from backend import families
from backend.domain import Detection
from backend.errors import Refused
from backend.jobs import kinds
from backend.models import choice
from backend.models.choice import Label
from backend.runs import detection
from workers.context import Context
from workers.engine import decoding, setups, work
from workers.engine.answers import Reading
from workers.engine.setups import Stores
from workers.families.base import Answer, Detections, LoadedModel, Picture, Pixels
from workers.goldens import lookalikes
from workers.goldens.lookalikes import Lookalikes

MOST_MODELS = 2
LEAST = 0.1


def run(context: Context) -> Mapping[str, Any]:
    """Answer once; the resident process answers again and again with its models loaded."""
    return TryOut().answer(context)


class TryOut:
    """Keeps the last models in memory."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, LoadedModel] = OrderedDict()
        self._alike: Lookalikes | None = None

    def answer(self, context: Context) -> Mapping[str, Any]:
        """The boxes of the picture, or why there are none; a second attempt needs it, too."""
        request = cast("kinds.Try", context.request)
        try:
            return self._answer(context, request)
        except (Refused, decoding.Unreadable) as refusal:
            return {"refused": str(refusal)}
        finally:
            Path(request.path).unlink(missing_ok=True)

    def _answer(self, context: Context, request: kinds.Try) -> Mapping[str, Any]:
        """The boxes, with the time that decoding and looking took."""
        model, name, labels = self._model(context, request)
        began = time.perf_counter()
        path = Path(request.path)
        decoded = decoding.decode(decoding.read(str(path)), path.name)
        found = self._boxes(context, request, model, decoded)
        milliseconds = (time.perf_counter() - began) * 1000
        detections, told = Reading(request.family, labels).of(found)
        return {
            "model": name,
            "width": decoded.width,
            "height": decoded.height,
            "milliseconds": round(milliseconds, 1),
            "detections": [_shown(one) for one in detections],
            **told,
        }

    def _boxes(
        self, context: Context, request: kinds.Try, model: LoadedModel, decoded: decoding.Decoded
    ) -> Detections:
        picture = Picture(decoded.pixels)
        if families.find(request.family).needs_golden:
            picture = Picture(decoded.pixels, self._golden(context, request, decoded))
        least = detection.confidence(request.family, {"confidence": LEAST})
        return _sure(model.predict([picture])[0], least)

    def _golden(self, context: Context, request: kinds.Try, decoded: decoding.Decoded) -> Pixels:
        """The golden of the project that shows the same product."""
        assert request.project_id is not None  # who asks is refused without one
        with context.database.read() as session:
            goldens = detection.goldens(session, request.project_id)
        if not goldens:
            raise Refused(
                "The project has no golden picture with which this one could be compared."
            )
        self._alike = self._alike or Lookalikes(context.files, context.settings)
        self._alike.learn(
            goldens, lambda done, all_: context.progress(0.0, f"Golden {done} of {all_}")
        )
        best = self._alike.best(lookalikes.small(decoded.pixels), goldens)
        if best is None:
            raise Refused(
                f"The picture fits none of the project's {len(goldens):,} golden pictures."
            )
        data = decoding.read(context.files.location(best.sha256))
        return decoding.decode(data, f"its golden {best.name}").pixels

    def _model(
        self, context: Context, request: kinds.Try
    ) -> tuple[LoadedModel, str, Sequence[Label]]:
        stores = Stores(context.database, context.files, context.settings)
        with context.database.read() as session:
            chosen = choice.chosen_by(session, request)
        options = {"confidence": LEAST, **request.options}
        prepared = setups.prepare(stores, request.project_id, chosen, options, apart=True)
        setup = setups.setup(stores, request.project_id, chosen, prepared, options)
        key = f"{prepared.key} {prepared.source.classes} {setup.confidence} {setup.tile}"
        if key not in self._models:
            self._models[key] = work.load(setup)
            if len(self._models) > MOST_MODELS:
                self._models.popitem(last=False)
        self._models.move_to_end(key)
        labels = setups.labels(stores, request.project_id, chosen, prepared)
        return self._models[key], chosen.name, labels


def _sure(answer: Answer, least: float) -> Detections:
    """What is worth showing; a refusal is raised."""
    if isinstance(answer, Refused):
        raise answer
    return np.asarray(answer[answer[:, 4] >= least], np.float32)


def _shown(one: Detection) -> dict[str, Any]:
    corners = {name: round(getattr(one, name), 2) for name in ("x1", "y1", "x2", "y2")}
    return {**corners, "label": one.label, "score": round(one.score, 4)}
