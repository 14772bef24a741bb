"""The rows of the detection benchmark, each in a process of its own: `CALL PICTURES COUNT HOME`."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests import real_data

CACHE = Path(tempfile.gettempdir()) / "loupe-benchmarks" / "cache"
LIMIT_SECONDS = 8.0


def prepared(precision: str, weights: Path) -> Any:
    """The YOLO of the benchmark, prepared for OpenVINO (or plain torch) and kept."""
    from workers.runtimes import ModelSource, preparing

    runtime, precision = ("torch", "f32") if precision == "torch" else ("openvino", precision)
    photos = sorted(real_data.unpacked("photos").rglob("*.jpg")) if precision == "int8" else []
    return preparing.prepare(ModelSource("yolo", weights), CACHE, runtime, precision, photos)


def accuracy(runtime: str, precision: str) -> float:
    """mAP50-95 on the COCO photos."""
    from tests.benchmarks.runs import detect_accuracy
    from workers.runtimes import ModelSource

    weights = real_data.weights() / "yolo11n_recovered.pt"
    return detect_accuracy.coco(ModelSource("yolo", weights), CACHE, runtime, precision)


@contextlib.contextmanager
def cluster_for(call: str) -> Iterator[Mapping[str, str]]:
    """A warm cluster where the row wants one."""
    if not call.startswith("ray"):
        yield {}
        return
    from workers import cluster

    os.environ.update(cluster.QUIET, RAY_AUTH_MODE="disabled")
    from ray.cluster_utils import Cluster

    warm = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    try:
        yield {"LOUPE_RAY_ADDRESS": warm.address}
    finally:
        warm.shutdown()


def loupe(precision: str, pictures: Path, count: int, home: Path, ray: bool = False) -> None:
    """A detection as the worker carries it out, into a fresh database."""
    from tests.workers.handlers import places

    place = places.make(home / uuid.uuid4().hex, cache=CACHE)
    listed = place.settings.home / "pictures.txt"
    listed.write_text("\n".join(str(path) for path in sorted(pictures.glob("*.jpg"))[:count]))
    options = {"ray": ray, "precision": precision, "runtime": "openvino"}
    if precision == "torch":
        options = {"runtime": "torch"}
    model = str(real_data.weights() / "yolo11n_recovered.pt")
    result = place.detect(None, model, source={"path": str(listed)}, options=options)
    assert result["failed"] == 0, result
    print(result, file=sys.stderr)
    print(result["images"], _of_cluster() if ray else _of_server())


def limit(precision: str, pictures: Path, graph: str) -> None:
    """The bare graph in two processes of one thread; the pictures lie in its input already.

    On grey alone it would be a twentieth quicker than on any picture.
    """
    model = prepared(precision, real_data.weights() / "yolo11n_recovered.pt")
    with get_context("spawn").Pool(2) as pool:
        done = pool.starmap(_forward, [(model, pictures, graph)] * 2, chunksize=1)
    rate = sum(one[0] / one[1] for one in done)
    used = sum(one[2] for one in done) / sum(one[0] for one in done)
    print(1000, 1000 / rate, 1000 * used)


def _forward(model: Any, pictures: Path, graph: str) -> tuple[int, float, float]:
    from workers.runtimes.openvino import OpenVinoForward

    forward = OpenVinoForward(model.folder / graph, model.precision, 1)
    target = forward.tensor(1, 480, 640)
    for fitted in itertools.islice(_fitted(pictures), 10):
        target[0] = fitted
        forward.infer(target)
    seconds, used, count = 0.0, 0.0, 0
    for fitted in itertools.cycle(list(itertools.islice(_fitted(pictures), 200))):
        target[0] = fitted
        began, began_used = time.perf_counter(), time.process_time()
        forward.infer(target)
        seconds += time.perf_counter() - began
        used += time.process_time() - began_used
        count += 1
        if seconds > LIMIT_SECONDS:
            break
    return count, seconds, used


def _fitted(pictures: Path) -> Iterator[Any]:
    """Pictures of the most usual shape, as the graph takes them."""
    import numpy as np

    from workers.engine import decoding
    from workers.families import letterbox

    for path in sorted(pictures.glob("*.jpg")):
        pixels = decoding.decode(path.read_bytes(), path.name).pixels
        where = letterbox.fit(pixels.shape[1], pixels.shape[0], 640)
        if (where.input_height, where.input_width) == (480, 640):
            fitted = np.empty((480, 640, 3), np.uint8)
            letterbox.place(pixels, where, fitted)
            yield fitted


def ultralytics(threads: str, pictures: Path, count: int, home: Path, model: str = "") -> None:
    """`predict` over the files, as its documentation shows it."""
    from workers import offline

    offline.prepare()
    import torch
    from ultralytics import YOLO

    del home
    yolo = YOLO(model or str(real_data.weights() / "yolo11n_recovered.pt"), task="detect")
    if int(threads):
        torch.set_num_threads(int(threads))
    listed = pictures / f"first-{count}.txt"
    listed.write_text("\n".join(str(path) for path in sorted(pictures.glob("*.jpg"))[:count]))
    done, began, used = 0, 0.0, 0.0
    for one in yolo.predict(str(listed), stream=True, verbose=False):
        if not done:  # what comes before is the start, which a long run has once
            began, used = time.perf_counter(), time.process_time()
        done += 1
        if int(threads):
            torch.set_num_threads(int(threads))
        del one
    print(done, 0.0, time.perf_counter() - began, time.process_time() - used)


def ultralytics_int8(pictures: Path, count: int, home: Path) -> None:
    """The same with its own int8 export, made once."""
    folder = CACHE / "yolo11n_recovered_int8_openvino_model"
    if not folder.is_dir():
        _export(home)
    ultralytics("0", pictures, count, home, str(folder))


def _export(home: Path) -> None:
    from workers import offline

    offline.prepare()
    from ultralytics import YOLO

    photos = real_data.unpacked("photos") / "coco"
    listed = home / "coco.yaml"
    names = "\n".join(f"  {i}: '{i}'" for i in range(80))
    listed.write_text(f"path: {photos}\ntrain: images\nval: images\nnames:\n{names}\n")
    weights = CACHE / "yolo11n_recovered.pt"
    weights.write_bytes((real_data.weights() / weights.name).read_bytes())
    YOLO(str(weights)).export(format="openvino", int8=True, data=str(listed), verbose=False)


def _of_cluster() -> float:
    """The cores' time that the actors took; they are our descendants' siblings, so we ask them."""
    import psutil

    mine = [p for p in psutil.process_iter(["name", "cmdline"]) if _is_actor(p)]
    return sum(sum(p.cpu_times()[:2]) for p in mine)


def _of_server() -> float:
    """The cores' time of the processes that our server forked, which only it has waited for."""
    import psutil

    mine = [child.cpu_times() for child in psutil.Process().children()]
    return float(sum(sum(times[:4]) for times in mine))


def _is_actor(process: Any) -> bool:
    return "ray::Looker" in " ".join(process.info["cmdline"] or [process.info["name"] or ""])


def main(call: str, pictures: Path, count: int, home: Path) -> None:
    """Carry out one row and print how many pictures it did."""
    name, _, argument = call.partition(":")
    if name == "loupe":
        loupe(argument, pictures, count, home)
    elif name == "ray":
        loupe(argument, pictures, count, home, ray=True)
    elif name.startswith("limit"):
        limit(argument, pictures, "graph.xml" if name == "limit-whole" else "quick.xml")
    elif name == "ultralytics":
        ultralytics(argument, pictures, count, home)
    else:
        ultralytics_int8(pictures, count, home)
    sys.stdout.flush()
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"largest memory {used.ru_maxrss / 1024:.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
