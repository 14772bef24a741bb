"""The benchmark of a model: its speed and its worth in each runtime of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from backend import families
from backend.domain import Split
from backend.errors import Refused, Unavailable
from backend.jobs import kinds
from backend.models import choice, measurements, registry
from workers import data, runtimes
from workers.context import Context
from workers.evaluation import appraisal, metrics
from workers.evaluation.appraisal import Appraisal, Tell
from workers.families.base import Example
from workers.runtimes import ModelSource, preparing

MOST = 192
LEAST_SCORE = 0.001


@dataclass(frozen=True, slots=True)
class Meter:
    """A model on pictures; `known` are its classes as the labels of these call them."""

    source: ModelSource
    examples: Sequence[Example]
    classes: Sequence[str]
    known: Sequence[str]


def run(context: Context) -> Mapping[str, Any]:
    """Measure on validation pictures, so that the test split is not used for a choice."""
    request = cast("kinds.Benchmark", context.request)
    with context.database.read() as session:
        model = registry.get(session, request.model_id)
        chosen = choice.choose(session, model.project_id, model.name)
    if model.snapshot_id is None:
        raise Refused(f"{model.name} cannot be measured so: it was not trained here.")
    laid_out = data.lay_out(context, model.snapshot_id)
    snapshot = laid_out.set
    split = Split.VAL if snapshot.of(Split.VAL) else appraisal.held_out(snapshot)
    examples = snapshot.of(split)[:MOST]
    size = int(model.parameters.get("image_size", 0))
    weights = context.files.local_path(model.weights)
    source = ModelSource(model.family, weights, chosen.classes, size)
    rows = list(_rows(context, Meter(source, examples, snapshot.classes, laid_out.known(model))))
    with context.database.write.begin() as session:
        context.fence(session)
        registry.keep_runtimes(session, model.id, rows)
        measured = {"split": str(split), "images": len(examples), "runtimes": rows}
        measurements.keep(session, context.job.id, model.id, measured)
    return {"model": model.name, "split": str(split), "images": len(examples), "runtimes": rows}


def ways(family: str) -> list[tuple[str, str]]:
    """Each runtime with the precisions in which it really computes here, each once."""
    found = (
        (runtime.name, runtimes.implementation(runtime.name).precision(wanted, family))
        for runtime in runtimes.choices(family)
        for wanted in runtime.precisions
    )
    return list(dict.fromkeys(found))


def _rows(context: Context, bench: Meter) -> Iterator[dict[str, Any]]:
    found = ways(bench.source.family)
    for number, way in enumerate(found):
        tell = _telling(context, number / len(found), 1 / len(found), " ".join(way))
        row: dict[str, Any] = dict(zip(("runtime", "precision"), way, strict=True))
        try:
            yield row | _measure(context, bench, way, tell)
        except (Refused, Unavailable) as reason:
            yield row | {"refused": str(reason)}


def _telling(context: Context, begin: float, share: float, way: str) -> Tell:
    return lambda part, text: context.progress(begin + part * share, f"{way}: {text}")


def _measure(context: Context, bench: Meter, way: tuple[str, str], tell: Tell) -> dict[str, Any]:
    """Picture by picture on one thread, after a first one that warms the runtime up."""
    examples, classes, known = bench.examples, bench.classes, bench.known
    whole = families.answers_once(bench.source.family)
    paths = [example.path for example in examples]
    prepared = preparing.prepare(bench.source, context.settings.cache, *way, paths)
    loaded = preparing.load(prepared, LEAST_SCORE)
    appraisal.look_with(loaded, examples[:1], classes, tell, 1, known=known, whole=whole)
    seen = appraisal.look_with(loaded, examples, classes, tell, 1, known=known, whole=whole)
    pace = round(len(examples) / max(seen.seconds, 1e-9), 1)
    return {**_worth(seen, classes, whole), "images_per_second": pace}


def _worth(seen: Appraisal, classes: Sequence[str], whole: bool) -> dict[str, Any]:
    if whole:
        figures = appraisal.report_classified(seen, classes)
        return {name: figures[name] for name in ("accuracy", "ece")}
    figures = metrics.report(appraisal.judged(seen, classes), classes, resamples=0)
    return {name: figures[name] for name in ("map50", "map50_95")}
