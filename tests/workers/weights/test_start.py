"""Where a training begins when it is given no weights."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend import settings
from backend.errors import NotFound, Refused, Unavailable
from backend.weights import start_weights
from workers.weights import start


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("LOUPE_WEIGHTS_DIR", str(tmp_path))
    settings.current.cache_clear()
    yield tmp_path
    settings.current.cache_clear()


def test_the_weights_folder_is_searched_first(folder: Path) -> None:
    named = folder / "resnet18-f37072fd.pth"
    named.write_bytes(b"")
    assert start_weights.find("classifier", "resnet18") == named
    exact = folder / "resnet18.pt"
    exact.write_bytes(b"")
    assert start_weights.find("classifier", "resnet18") == exact
    assert start_weights.find("classifier", "resnet50") is None


def test_two_candidates_are_named(folder: Path) -> None:
    for name in ("yolo11s_a.pt", "yolo11s_b.pt"):
        (folder / name).write_bytes(b"")
    with pytest.raises(Refused, match=r"yolo11s_a\.pt, yolo11s_b\.pt"):
        start_weights.find("yolo", "s")


def test_nothing_is_chosen_silently(folder: Path) -> None:
    with pytest.raises(Refused, match="no start weights for classifier resnet50"):
        start.choose("classifier", "resnet50", None, {})
    assert start.choose("classifier", "resnet50", None, {"from_scratch": True}) is None
    with pytest.raises(NotFound, match=r"no weights file .*absent\.pt"):
        start.choose("yolo", "n", folder / "absent.pt", {})


def test_a_file_is_fetched_once_and_whole_or_not_at_all(tmp_path: Path) -> None:
    served, kept = tmp_path / "served", tmp_path / "kept"
    served.mkdir()
    (served / "a.pth").write_bytes(b"numbers")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert start.fetch(f"{url}/a.pth", kept).read_bytes() == b"numbers"
        with pytest.raises(Unavailable, match="could not be had"):
            start.fetch(f"{url}/b.pth", kept)
        server.shutdown()
    assert start.fetch(f"{url}/a.pth", kept).read_bytes() == b"numbers"
    assert [path.name for path in kept.iterdir()] == ["a.pth"]
