"""Graphs are compiled once and kept for all processes that load them."""

from __future__ import annotations

from concurrent import futures
from pathlib import Path

import numpy as np
import openvino
import pytest
from openvino import opset13

from workers.runtimes.openvino import OpenVinoForward, alone


@pytest.fixture
def forward(tmp_path: Path) -> OpenVinoForward:
    """A graph of one step."""
    pixels = opset13.parameter([1, -1, -1, 3], np.float32)
    model = openvino.Model([opset13.relu(pixels)], [pixels], "step")
    openvino.save_model(model, str(tmp_path / "graph.xml"))
    return OpenVinoForward(tmp_path / "graph.xml", "f32", 1)


def test_who_compiles_waits_for_another_process_that_keeps_the_same_graph(
    forward: OpenVinoForward, tmp_path: Path
) -> None:
    with futures.ThreadPoolExecutor() as pool:
        with alone(tmp_path / "compiled"):
            waiting = pool.submit(forward.tensor, 1, 32, 32)
            with pytest.raises(futures.TimeoutError):
                waiting.result(1.0)
        assert waiting.result(60.0).shape == (1, 32, 32, 3)
    assert [path.suffix for path in (tmp_path / "compiled").glob("*.blob")] == [".blob"]
