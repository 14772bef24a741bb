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
from backend.incoming import stages
from backend.jobs import kinds
from backend.models import choice
from backend.models.choice import Chosen
from backend.review.overview import keeping, reading
from backend.runs import detection
from backend.storage import findings
from backend.storage.writers import retries
from backend.words import many
from workers.context import Context
from workers.engine import garbage, setups, sources
from workers.engine.chunks import Work
from workers.engine.held import Held
from workers.engine.ledger import Ledger
from workers.engine.pace import Stopwatch
from workers.engine.pools import picking
from workers.engine.pools.picking import Pool
from workers.engine.setups import Stores
from workers.engine.sources import SourcePicture
from workers.engine.work import Setup
from workers.goldens import match
from workers.runtimes.preparing import Prepared

SECONDS = 2.0  # between two words of how far it is


@garbage.spared()
def run(context: Context) -> Mapping[str, Any]:
    """Look at every image once; a second attempt goes on where the first one stopped."""
    request = cast("kinds.Detect", context.request)
    stores = Stores(context.database, context.files, context.settings)
    with context.database.read() as session:
        chosen = choice.chosen_by(session, request)
    if request.project_id is not None and families.find(chosen.family).needs_golden:
        match.fit(context, request.project_id, request.source)
    context.progress(None, f"Listing the images and preparing {chosen.name}")
    clock = Stopwatch()
    items = list(_items(context, request, clock))
    clock.lap("list")
    if not items:
        raise Refused("There is no image to look at: the chosen filter lets none through.")
    pictures = [Path(item.source) for item in items if "://" not in item.source and not item.error]
    project, options = request.project_id, request.options
    prepared = setups.prepare(stores, project, chosen, options, pictures)
    setup = setups.setup(stores, project, chosen, prepared, options)
    with picking.standing_by(context, setup, len(items), options) as ready:
        labels = setups.labels(stores, project, chosen, prepared)
        clock.lap("start")
        held = Held()
        named = [held.hashed(one) for one in items]
        clock.lap("list")
        book = Ledger(context, labels, named, clock.parts)
        book.open(describe(context, chosen, prepared, setup, request.source))
        book.set_aside(item for _, item in book.remaining())
        if not options.get("again"):
            book.take_known()
        _look(context, request, setup, book, held, ready)
    told = book.close()
    with context.database.read() as session:
        seen = findings.get(session, context.job.id)
    if findings.of_images(seen) and seen.purpose == reading.PURPOSE:
        _add_up(context)
    return told


def _add_up(context: Context) -> None:
    """Leave the overview nothing to add up; whoever opens it does what a kill has left."""
    read, write = context.database.read.begin, retries.patient(context.database.write.begin)
    keeping.expect(read, write, context.job.id)
    while left := keeping.refresh(read, write, [context.job.id], SECONDS):
        context.progress(None, f"Adding up the boards, {many(left, 'part')} left")
    if context.job.project_id is not None:
        keeping.forget_marks(read, write, context.job.project_id)


def describe(
    context: Context, chosen: Chosen, prepared: Prepared, setup: Setup, source: Mapping[str, Any]
) -> Run:
    """The run's row; runs with the same ledger key give the same boxes for the same bytes."""
    parameters = {
        "confidence": setup.confidence,
        "image_size": prepared.source.image_size,
        "tile": setup.tile,
    }
    if generation := families.find(chosen.family).generation:
        parameters["generation"] = generation
    key = json.dumps([prepared.key, prepared.source.classes, parameters], sort_keys=True)
    return Run(
        id=context.job.id,
        model=chosen.name,
        family=chosen.family,
        at=context.job.at,
        project_id=context.job.project_id,
        model_id=chosen.model_id,
        weights=chosen.weights,
        runtime=f"{prepared.runtime} {prepared.precision}",
        ledger_key=hashlib.sha256(key.encode()).hexdigest(),
        purpose=context.job.kind,
        author=context.job.author,
        source=dict(source),
        parameters=parameters,
    )


def _look(
    context: Context,
    request: kinds.Detect,
    setup: Setup,
    book: Ledger,
    held: Held,
    ready: Pool | None,
) -> None:
    remaining = book.remaining()
    if not remaining:
        return
    known = len(book) - len(remaining)
    if known:
        told = f"{many(known, 'image')} known, {len(remaining):,} new"
        context.progress(known / len(book), told)
    work = [Work(i, item.source, item.golden) for i, item in remaining]
    opened = ready or picking.open_pool(context, setup, len(work), request.options)
    with opened as pool:
        cut = picking.cut(work, pool.size, setup.on_cores)
        book.follow(pool.run(map(held.given, cut)))


def _items(context: Context, request: kinds.Detect, clock: Stopwatch) -> Iterator[SourcePicture]:
    if "path" in request.source:
        with context.database.read() as session:
            written = findings.numbers(session, context.job.id)
        place = str(request.source["path"])
        if stages.is_stage(place):
            yield from sources.numbered(_brought(context, place, clock), written)
        else:
            yield from sources.items(place, written)
        return
    if request.project_id is None:
        raise Refused("Without a project a detection needs a picture, folder, list or URL.")
    with context.database.read() as session:
        for one in detection.subjects(session, request.project_id, request.source):
            golden = context.files.location(one.golden_sha256) if one.golden_sha256 else ""
            source = context.files.location(one.sha256)
            yield SourcePicture(
                one.image_id, one.name, source, one.sha256, golden, one.golden_sha256
            )


def _brought(context: Context, place: str, clock: Stopwatch) -> Iterator[tuple[str, str, str]]:
    """The pictures of a stage, which are fetched into the store once."""

    def told(done: int, total: int) -> None:
        # It is first told how many there are once the place is listed.
        clock.lap("fetch" if "list" in clock.parts else "list" if total else "wait")
        pictures = f"Fetching {place}: {done:,} of {total:,} pictures"
        context.progress(None, pictures if total else stages.WAITING)

    known, cache = stages.account(context.settings), context.settings.cache
    with stages.brought(place, known, cache, context.files, told, sources.is_picture) as found:
        clock.lap("fetch")
        for one in found:
            yield one.name, context.files.location(one.sha256), one.sha256
