"""The benchmark of a model: its speed and its worth in each runtime of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from backend.domain import Model, Split, Task
from backend.errors import Refused, Unavailable
from backend.families import find
from backend.jobs import kinds
from backend.services import registry
from workers import data, evaluating, metrics, runtimes
from workers.context import Context
from workers.evaluating import Tell
from workers.models.base import Example
from workers.runtimes import Source, preparing

MOST = 192
LEAST_SCORE = 0.001


def run(context: Context) -> Mapping[str, Any]:
    """Measure on validation pictures, so that the test split is not used for a choice."""
    request = cast("kinds.Benchmark", context.request)
    with context.database.read() as session:
        model = registry.get(session, request.model_id)
    if model.snapshot_id is None or find(model.family).task is not Task.DETECT:
        raise Refused(f"{model.name} cannot be measured so: it is no detector trained here.")
    snapshot = data.lay_out(context, model.snapshot_id).set
    split = Split.VAL if snapshot.of(Split.VAL) else evaluating.held_out(snapshot)
    examples = snapshot.of(split)[:MOST]
    rows = list(_rows(context, model, examples, snapshot.classes))
    with context.database.write.begin() as session:
        context.fence(session)
        registry.keep_runtimes(session, model.id, rows)
    return {"model": model.name, "split": str(split), "images": len(examples), "runtimes": rows}


def ways(family: str) -> list[tuple[str, str]]:
    """Each runtime with the precisions in which it really computes here, each once."""
    found = (
        (runtime.name, runtimes.implementation(runtime.name).precision(wanted, family))
        for runtime in runtimes.choices(family)
        for wanted in runtime.precisions
    )
    return list(dict.fromkeys(found))


def _rows(
    context: Context, model: Model, examples: Sequence[Example], classes: Sequence[str]
) -> Iterator[dict[str, Any]]:
    found = ways(model.family)
    for number, way in enumerate(found):
        tell = _telling(context, number / len(found), 1 / len(found), " ".join(way))
        row: dict[str, Any] = dict(zip(("runtime", "precision"), way, strict=True))
        try:
            yield row | _measure(context, model, examples, classes, way, tell)
        except (Refused, Unavailable) as reason:
            yield row | {"refused": str(reason)}


def _telling(context: Context, begin: float, share: float, way: str) -> Tell:
    return lambda part, text: context.progress(begin + part * share, f"{way}: {text}")


def _measure(
    context: Context,
    model: Model,
    examples: Sequence[Example],
    classes: Sequence[str],
    way: tuple[str, str],
    tell: Tell,
) -> dict[str, Any]:
    """Picture by picture on one thread, after a first one that warms the runtime up."""
    size = int(model.parameters.get("image_size", 0))
    source = Source(model.family, context.files.local_path(model.weights), model.classes, size)
    paths = [example.path for example in examples]
    prepared = preparing.prepare(source, context.settings.cache, *way, paths)
    loaded = preparing.load(prepared, LEAST_SCORE)
    evaluating.look_with(loaded, examples[:1], classes, tell, 1)
    seen = evaluating.look_with(loaded, examples, classes, tell, 1)
    figures = metrics.report(evaluating.judged(seen, classes), classes, resamples=0)
    worth = {name: figures[name] for name in ("map50", "map50_95")}
    return {**worth, "images_per_second": round(len(examples) / max(seen.seconds, 1e-9), 1)}
