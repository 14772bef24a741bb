"""Nothing phones home, and Ultralytics changes nothing for the rest of the house."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from tests import overhearing
from tests.workers.families import drawn
from tests.workers.training import reports
from workers import offline
from workers.families import base
from workers.families.base import Parameters, Picture, TrainingSet

DRAW: dict[str, Callable[[Path], TrainingSet]] = {
    "yolo": partial(drawn.shapes, images=4),
    "faster_rcnn": partial(drawn.shapes, images=4),
    "classifier": partial(drawn.single, images=8),
}


def test_pillow_still_opens_pictures_by_itself() -> None:
    offline.prepare()
    assert Image.open.__module__ == "PIL.Image"


def train(family: str, folder: Path) -> None:
    """Train it, export it, and prepare it in the quickest way that its family knows."""
    from workers.engine import decoding
    from workers.runtimes import ModelSource, preparing

    given = Parameters(epochs=1, image_size=64, batch=4, extra={"from_scratch": True})
    module = base.implementation(family)
    data = DRAW[family](folder / "pictures")
    trained = module.train(data, None, given, reports.Remembering(), folder / "run")
    module.load(trained.weights, "cpu").export("openvino", folder / "export")
    precision, paths = ("int8" if family == "yolo" else ""), [one.path for one in data.examples]
    source, cache = ModelSource(family, trained.weights), folder / "cache"
    prepared = preparing.prepare(source, cache, "openvino", precision, paths)
    preparing.load(prepared).predict([Picture(decoding.decode(paths[0].read_bytes(), "").pixels)])


def train_all(folder: Path) -> None:
    """Train one of each family, in one process: what they import is the same."""
    for family in DRAW:
        train(family, folder / family)


def track(folder: Path) -> None:
    """Write a run into mlflow's store as a training does."""
    from mlflow import MlflowClient

    from workers.tracking import store

    assert store.DEFAULT
    client = MlflowClient(tracking_uri=f"sqlite:///{folder}/mlflow.db")
    client.create_run(client.create_experiment("boards", (folder / "runs").as_uri()))


def look_with_onnxruntime() -> None:
    """Import it as our runtime does; on that alone it would number who uses it."""
    import onnxruntime

    from workers.runtimes import onnxruntime as ours

    assert ours
    assert onnxruntime


def ask() -> None:
    """What a library does that reports its use."""
    socket.getaddrinfo("127.0.0.1", 80)
    socket.getaddrinfo("198.51.100.1", 80)


def overheard(call: str, folder: Path) -> list[str]:
    """Whom a process asks that does this and has imported nothing before."""
    asked = folder / "asked"
    code = f"from pathlib import Path; from {__name__} import {call.split('(')[0]}; {call}"
    environment = overhearing.environment(asked) | {"HOME": str(folder), "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=580)
    return overhearing.heard(asked)


@pytest.mark.slow
def test_a_training_of_any_family_asks_nobody_elsewhere(tmp_path: Path) -> None:
    assert overheard(f"train_all(Path({str(tmp_path)!r}))", tmp_path) == []
    assert not (tmp_path / "intel").exists()  # where OpenVINO would number who uses it


def test_a_tracked_run_asks_nobody_elsewhere(tmp_path: Path) -> None:
    assert overheard(f"track(Path({str(tmp_path)!r}))", tmp_path) == []


def test_onnxruntime_numbers_nobody(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    assert overheard("look_with_onnxruntime()", tmp_path) == []
    assert not (tmp_path / ".cache" / "Microsoft").exists()


def test_who_asks_elsewhere_would_be_heard(tmp_path: Path) -> None:
    assert overheard("ask()", tmp_path) == ["socket.getaddrinfo 198.51.100.1: -c"]
