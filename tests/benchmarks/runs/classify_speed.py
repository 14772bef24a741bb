"""How near a bulk classification of 32-pixel pictures comes to its bare graph, in one run.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.runs.classify_speed [--images 3000 --keep]

Both count what a core has worked, as a machine that others use tells little by its clock, and take
turns in one process. A run lists, hashes, reads, decodes, classifies and commits a row a picture
with the chances of all classes; what it costs once (imports, compilation) is left out. The bare
graph has its pictures in its input already: one, or as many as a run gives it at once.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import torch

from backend.jobs import kinds
from backend.models import choice
from backend.runs import detection
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.results import Figure
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers.engine import decoding, garbage, setups
from workers.engine.chunks import Work
from workers.engine.held import Held
from workers.engine.ledger import Ledger
from workers.engine.pace import Stopwatch
from workers.engine.pools import picking
from workers.engine.setups import Stores
from workers.engine.work import ChunkWorker
from workers.families import classifier, letterbox
from workers.handlers.runs import detect
from workers.runtimes import ModelSource, labels, preparing
from workers.runtimes.openvino import OpenVinoForward
from workers.weights import weight_files

CLASSES = tuple(f"class {at}" for at in range(10))
SIDE, TURNS, SHOWN, WARM = 32, 3, 300, 100
PRECISION = "bf16"  # what a classifier has unless somebody asks for another one


def main() -> None:
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=3_000)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="loupe-classify-") as folder:
        rows = list(_compared(asked.images, Path(folder)))
    for row in rows:
        print(f"{row.what}: {row.value:.3g} {row.unit} {row.spread}")
    if asked.keep:
        results.keep("classify_speed", rows)


def _compared(images: int, folder: Path) -> Iterator[Figure]:
    how = f"{images:,} pictures of CIFAR-10 a turn, small network, {PRECISION}, {results.machine()}"
    weights, place = _weights(folder), places.make(folder / "home")
    forward, pictures = _forward(weights, folder / "home" / "cache"), _pictures()
    ours: list[float] = []
    bare: dict[int, list[float]] = {1: [], labels.TOGETHER: []}
    for _ in range(TURNS):
        part = list(itertools.islice(pictures, images))
        for together, costs in bare.items():
            costs.append(_bare(forward, part, together))
        ours.append(_run(place, weights, part))
    load = f"load {os.getloadavg()[1]:.0f}"
    yield Figure("a picture of a run", 1e6 * min(ours), "µs of a core", load, how=how)
    for together, costs in bare.items():
        given = f"the bare graph, {together} at once"
        yield Figure(f"a picture of {given}", 1e6 * min(costs), "µs of a core", how=how)
        ratios = sorted(one / other for one, other in zip(costs, ours, strict=True))
        spread = f"turns {ratios[0]:.2f} to {ratios[-1]:.2f}"
        yield Figure(f"as quick as {given}", min(costs) / min(ours), "times", spread, how=how)


def _run(place: Place, weights: Path, pictures: Sequence[Path]) -> float:
    """What a picture costs in a run as a worker carries it out, with one process that looks."""
    listed = place.settings.home / "pictures.txt"
    listed.write_text("\n".join(map(str, pictures)))
    options = {"precision": PRECISION, "runtime": "openvino"}
    with place.database.write.begin() as session:
        detection.ask(session, None, str(weights), source={"path": str(listed)}, options=options)
    context = place.context(place.claim())
    request = cast("kinds.Detect", context.request)
    stores = Stores(context.database, context.files, context.settings)
    with context.database.read() as session:
        chosen = choice.chosen_by(session, request)
    prepared = setups.prepare(stores, None, chosen, options)
    setup = setups.setup(stores, None, chosen, prepared, options)
    called, worker = setups.labels(stores, None, chosen, prepared), ChunkWorker(setup)
    warm = [Work(at, str(path)) for at, path in enumerate(pictures[:WARM])]
    for chunk in picking.cut(warm, 1, setup.on_cores):
        worker.look(chunk)
    began, held = time.process_time(), Held()
    with garbage.spared():
        items = [held.hashed(one) for one in detect._items(context, request, Stopwatch())]
        book = Ledger(context, called, items)
        book.open(detect.describe(context, chosen, prepared, setup, request.source))
        book.take_known()
        work = [Work(at, item.source, item.golden) for at, item in book.remaining()]
        assert len(work) == len(pictures)
        cut = picking.cut(work, 1, setup.on_cores)
        book.follow(worker.look(held.given(chunk)) for chunk in cut)
        told = book.close()
    used = time.process_time() - began
    assert (told["images"], told["detections"], told["failed"]) == (len(work), len(work), 0), told
    return used / len(work)


def _bare(forward: OpenVinoForward, pictures: Sequence[Path], together: int) -> float:
    """What a picture costs that lies in the graph's input, so many at once."""
    read = ((path.read_bytes(), path.name) for path in pictures[:SHOWN])
    shown = [letterbox.square(decoding.decode(*one).pixels, SIDE) for one in read]
    target, used = forward.tensor(together, SIDE, SIDE), 0.0
    endless, times = itertools.cycle(shown), len(pictures) // together
    for _ in range(times):
        target[:] = list(itertools.islice(endless, together))
        began = time.process_time()
        forward.infer(target)
        used += time.process_time() - began
    return used / (times * together)


def _forward(weights: Path, cache: Path) -> OpenVinoForward:
    source = ModelSource("classifier", weights)
    model = preparing.prepare(source, cache, "openvino", PRECISION, [])
    return OpenVinoForward(model.folder / "graph.xml", PRECISION, 1)


def _weights(folder: Path) -> Path:
    """A network that has learned nothing: it is as quick as one that has."""
    torch.manual_seed(3)
    network = classifier.build("small", len(CLASSES), SIDE)
    header = weight_files.WeightsHeader(classifier.FAMILY, "small", CLASSES, SIDE)
    return weight_files.save(folder / "m.safetensors", header, network.state_dict())


def _pictures() -> Iterator[Path]:
    """Those of the test split, class by class."""
    for folder in sorted((real_data.unpacked("cifar10") / "test").iterdir()):
        yield from sorted(folder.iterdir())


if __name__ == "__main__":
    main()
