"""One detection of a cluster benchmark: the same images over so many actors."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from backend.errors import Refused
from backend.jobs.needs import Need
from backend.models.choice import Chosen
from backend.models.scaling.scaling_plan import Turn
from workers.demand import reservation
from workers.engine import setups
from workers.engine.chunks import Work
from workers.engine.pools import picking
from workers.engine.pools.actors import RayPool
from workers.engine.setups import Stores
from workers.scaling.bench import Bench

LEAST = 512  # images; fewer are looked at again and again
WARM = 8  # images for each actor before it counts


def measure(bench: Bench, turn: Turn, tell: Callable[[float | None, str], None]) -> dict[str, Any]:
    """Start-up is until every actor has its model and has looked at some pictures."""
    if not bench.weights:
        raise Refused("No training of this benchmark was finished, so there is no model to run.")
    one, context = turn.configuration, bench.context
    setup = _setup(bench)
    need = Need(bench.device, one.processes, nodes=one.nodes)
    began = time.monotonic()
    held = reservation.hold(bench.ray, need, lambda text: tell(None, text))
    with RayPool(bench.ray, setup, context.check, held=held) as pool:
        tell(None, "The actors load the model")
        pool.until_ready()
        work = _work(bench)
        _look(pool, work[: WARM * one.processes], one.processes)
        ready = time.monotonic()
        tell(0.5, f"{len(work):,} images")
        _look(pool, work, one.processes)
        seconds = time.monotonic() - ready
        placed = held.placed()
    return {
        "startup": round(ready - began, 2),
        "seconds": round(seconds, 2),
        "rate": len(work) / seconds,
        "images": len(work),
        "device": bench.device,
        "cores": 1,
        "placed": placed,
        "about": bench.about(one.processes),
    }


def _setup(bench: Bench) -> Any:
    context, request, classes = bench.context, bench.request, bench.laid_out.set.classes
    stores = Stores(context.database, context.files, context.settings)
    chosen = Chosen(
        family=request.family,
        name="benchmark",
        weights=bench.weights,
        classes=classes,
        parameters=request.parameters,
    )
    options = {"device": bench.device}
    pictures = [each.path for each in bench.laid_out.set.examples]
    prepared = setups.prepare(stores, None, chosen, options, pictures)
    return setups.setup(stores, None, chosen, prepared, options)


def _work(bench: Bench) -> list[Work]:
    """The pictures of the snapshot, as often as they must come."""
    paths = [str(each.path) for each in bench.laid_out.set.examples]
    many = itertools.islice(itertools.cycle(paths), max(LEAST, len(paths)))
    return [Work(number, path) for number, path in enumerate(many)]


def _look(pool: RayPool, work: list[Work], actors: int) -> None:
    found = sum(len(answer) for answer in pool.run(picking.cut(work, actors)))
    if found != len(work):
        raise Refused(f"Of {len(work):,} images {found:,} were answered.")
