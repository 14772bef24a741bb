"""Nothing phones home, and Ultralytics changes nothing for the rest of the house."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.workers import drawn, reports
from workers.models import base, offline
from workers.models.base import Parameters, TrainingSet

HERE = ("127.", "::1", "localhost")
DRAW: dict[str, Callable[[Path], TrainingSet]] = {
    "yolo": drawn.shapes,
    "faster_rcnn": drawn.shapes,
    "classifier": drawn.single,
}


def test_pillow_still_opens_pictures_by_itself() -> None:
    offline.prepare()
    assert Image.open.__module__ == "PIL.Image"


def _listen(asked: Path) -> None:
    """Write down whom this process, or one that it forks, wants to speak to elsewhere."""

    def hear(event: str, details: tuple[Any, ...]) -> None:
        place = {"socket.connect": 1, "socket.getaddrinfo": 0}.get(event)
        if place is None:
            return
        # A socket of this machine alone has a path in place of an address.
        whom = details[place][0] if isinstance(details[place], tuple) else details[place]
        if whom and not str(whom).startswith((*HERE, "/")):
            with asked.open("a") as file:
                file.write(f"{event} {whom}\n")

    sys.addaudithook(hear)


def _train(family: str, folder: Path) -> None:
    """In a process of its own, whose libraries are not imported yet."""
    _listen(folder / "asked")
    given = Parameters(epochs=1, image_size=64, batch=4, extra={"from_scratch": True})
    module = base.implementation(family)
    data = DRAW[family](folder / "pictures")
    trained = module.train(data, None, given, reports.Remembering(), folder / "run")
    module.load(trained.weights, "cpu").export("openvino", folder / "export")


def _ask(folder: Path) -> None:
    import socket

    _listen(folder / "asked")
    socket.getaddrinfo("127.0.0.1", 80)
    socket.getaddrinfo("198.51.100.1", 80)


def _run(what: Callable[..., None], *given: Any) -> None:
    process = multiprocessing.get_context("spawn").Process(target=what, args=given)
    process.start()
    process.join(240)
    assert process.exitcode == 0


@pytest.mark.parametrize("family", DRAW)
def test_a_training_asks_nobody_elsewhere(family: str, tmp_path: Path) -> None:
    _run(_train, family, tmp_path)
    assert not (tmp_path / "asked").exists()


def test_who_asks_elsewhere_would_be_heard(tmp_path: Path) -> None:
    _run(_ask, tmp_path)
    assert (tmp_path / "asked").read_text() == "socket.getaddrinfo 198.51.100.1\n"
