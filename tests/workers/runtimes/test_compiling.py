"""Graphs are compiled once and kept for all processes that load them."""

from __future__ import annotations

from concurrent import futures
from pathlib import Path

import numpy as np
import openvino
import pytest
from openvino import opset13

from workers.runtimes import compiled
from workers.runtimes.openvino import OpenVinoForward


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A graph of one step."""
    pixels = opset13.parameter([1, -1, -1, 3], np.float32)
    model = openvino.Model([opset13.relu(pixels)], [pixels], "step")
    openvino.save_model(model, str(tmp_path / "graph.xml"))
    return tmp_path / "graph.xml"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was kept, in order: a graph that is loaded is not kept again."""
    kept: list[str] = []
    write = compiled._write

    def noted(path: Path, content: bytes) -> None:
        kept.append(path.name)
        write(path, content)

    monkeypatch.setattr(compiled, "_write", noted)
    return kept


def _answers(graph: Path, side: int = 32) -> None:
    forward = OpenVinoForward(graph, "f32", 1)
    tensor = forward.tensor(1, side, side)
    tensor[:] = 3
    assert (forward.infer(tensor) == 3).all()


def test_the_next_process_loads_what_was_compiled(graph: Path, compilations: list[str]) -> None:
    for _ in range(2):
        _answers(graph)
    _answers(graph, 64)
    assert [name[:12] for name in compilations] == ["graph-32x32-", "graph-64x64-"]


def test_half_a_file_is_compiled_anew(graph: Path, compilations: list[str]) -> None:
    _answers(graph)
    (kept,) = (graph.parent / "compiled").iterdir()
    whole = kept.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", whole[:32] + b"other", b"x" * len(whole)):
        kept.write_bytes(broken)
        _answers(graph)
        assert compiled._read(kept)
    assert len(compilations) == 5


def test_what_another_library_has_kept_is_left_alone(
    graph: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "MOST", 1)
    _answers(graph)
    monkeypatch.setattr(compiled, "_library", lambda: "another")
    for _ in range(2):
        _answers(graph)
    assert len(compilations) == len(set(compilations)) == 2


def test_two_may_keep_the_same_graph_at_once(graph: Path) -> None:
    with futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: _answers(graph), range(8)))
    assert [path.suffix for path in (graph.parent / "compiled").iterdir()] == [".blob"]


def test_many_shapes_do_not_fill_the_disk(graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MOST", 3)
    for side in range(32, 32 * 7, 32):
        _answers(graph, side)
    assert len(list((graph.parent / "compiled").iterdir())) == 3


def test_a_disk_that_takes_nothing_costs_only_time(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    _answers(graph)
    assert list((graph.parent / "compiled").iterdir()) == []
