"""A detection: the images that no earlier run knows go through the engine, chunk by chunk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from backend import families
from backend.domain import Run
from backend.errors import Refused
from backend.jobs import kinds
from backend.services import detecting
from backend.services.detecting import Chosen
from workers.context import Context
from workers.engine import chunks, pools, sources, tiles
from workers.engine.chunks import Work
from workers.engine.ledger import Ledger
from workers.engine.sources import Item
from workers.engine.work import Setup
from workers.runtimes import Source, preparing
from workers.runtimes.preparing import Prepared

CONFIDENCE = 0.25
TILED = ("yolo", "faster_rcnn")


def run(context: Context) -> Mapping[str, Any]:
    """Look at every image once; a second attempt goes on where the first one stopped."""
    request = cast("kinds.Detect", context.request)
    with context.database.read() as session:
        chosen = detecting.chosen_by(session, request)
        names = detecting.class_names(session, request.project_id)
    context.progress(0.0, "Listing the images")
    items = list(_items(context, request))
    if not items:
        raise Refused("There is no image to look at: the chosen filter lets none through.")
    context.progress(0.0, f"Preparing {chosen.name}")
    prepared = _prepare(context, chosen, names, request.options, items)
    setup = _setup(context, prepared, chosen, request.options)
    book = Ledger(context, prepared.source.classes, items)
    book.open(_run(context, request, chosen, prepared, setup))
    if not request.options.get("again"):
        book.take_known()
    _look(context, request, setup, book)
    return book.close()


def _look(context: Context, request: kinds.Detect, setup: Setup, book: Ledger) -> None:
    remaining = book.remaining()
    if not remaining:
        return
    work = [Work(i, item.source, item.golden) for i, item in remaining]
    with pools.open_pool(context, setup, len(work), request.options.get("ray")) as pool:
        book.follow(pool.run(chunks.cut(work, pools.chunk_size(len(work), pool.size))))


def _items(context: Context, request: kinds.Detect) -> Iterator[Item]:
    if "path" in request.source:
        yield from sources.items(str(request.source["path"]))
        return
    if request.project_id is None:
        raise Refused("Without a project a detection needs a picture, folder, list or URL.")
    with context.database.read() as session:
        for one in detecting.subjects(session, request.project_id, request.source):
            golden = context.files.location(one.golden_sha256) if one.golden_sha256 else ""
            source = context.files.location(one.sha256)
            yield Item(one.image_id, one.name, source, one.sha256, golden, one.golden_sha256)


def _prepare(
    context: Context,
    chosen: Chosen,
    names: tuple[str, ...],
    options: Mapping[str, Any],
    items: list[Item],
) -> Prepared:
    source = _source(context, chosen, names, options)
    runtime, precision = str(options.get("runtime", "")), str(options.get("precision", ""))
    pictures = [Path(item.source) for item in items if "://" not in item.source]
    return preparing.prepare(source, context.settings.cache, runtime, precision, pictures)


def _source(
    context: Context, chosen: Chosen, names: tuple[str, ...], options: Mapping[str, Any]
) -> Source:
    defaults = {**families.find(chosen.family).defaults, **(chosen.parameters or {})}
    size = int(options.get("image_size") or defaults.get("image_size", 640))
    weights: Path | None = None
    if chosen.weights:
        stored = len(chosen.weights) == 64 and context.files.has(chosen.weights)
        weights = context.files.local_path(chosen.weights) if stored else Path(chosen.weights)
    return Source(chosen.family, weights, chosen.classes or (() if weights else names), size)


def _setup(
    context: Context, prepared: Prepared, chosen: Chosen, options: Mapping[str, Any]
) -> Setup:
    confidence = float(options.get("confidence", CONFIDENCE))
    tile = _tile(context, prepared, chosen, str(options.get("tiles", "auto")))
    needs_all = bool(tile) or families.find(chosen.family).needs_golden
    return Setup(
        "workers.runtimes.preparing:load",
        (prepared, confidence, 1),
        confidence,
        0 if needs_all else prepared.source.image_size,
        tile,
        megapixels=context.settings.max_megapixels,
    )


def _tile(context: Context, prepared: Prepared, chosen: Chosen, wish: str) -> int:
    """Only detectors that shrink pictures gain from tiles."""
    if chosen.family not in TILED:
        return 0
    size, longest = 0.0, 1.0
    if context.job.project_id is not None:
        with context.database.read() as session:
            size, longest = detecting.typical_sizes(session, context.job.project_id)
    return tiles.side_for(wish, prepared.source.image_size, size, longest)


def _run(
    context: Context, request: kinds.Detect, chosen: Chosen, prepared: Prepared, setup: Setup
) -> Run:
    parameters = {"confidence": setup.confidence, "image_size": prepared.source.image_size}
    extra = {**parameters, "tile": setup.tile}
    key = json.dumps([prepared.key, prepared.source.classes, extra], sort_keys=True)
    return Run(
        id=context.job.id,
        model=chosen.name,
        family=chosen.family,
        at=context.job.at,
        project_id=request.project_id,
        model_id=chosen.model_id,
        weights=chosen.weights,
        runtime=f"{prepared.runtime} {prepared.precision}",
        ledger_key=hashlib.sha256(key.encode()).hexdigest(),
        purpose=context.job.kind,
        author=context.job.author,
        source=dict(request.source),
        parameters=extra,
    )
