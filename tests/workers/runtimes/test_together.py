"""Small pictures go through a classifier's graph together, and are answered as if alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino
import pytest
from openvino import opset13

from workers.families.base import Picture
from workers.runtimes import labels
from workers.runtimes.labels import LabelModel
from workers.runtimes.openvino import OpenVinoForward

SIZES = [(8, 8), (4, 8), (8, 2), (30, 20)]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """How blue, green and red a picture is, as chances."""
    pixels = opset13.parameter([1, -1, -1, 3], np.uint8)
    mean = opset13.reduce_mean(opset13.convert(pixels, np.float32), np.array([1, 2]))
    chances = opset13.softmax(opset13.multiply(mean, np.float32(0.05)), 1)
    openvino.save_model(openvino.Model([chances], [pixels], "hue"), str(tmp_path / "graph.xml"))
    return tmp_path / "graph.xml"


@pytest.fixture
def pictures() -> list[Picture]:
    random = np.random.default_rng(2)
    sizes = [SIZES[at % len(SIZES)] for at in range(7)]
    return [Picture(random.integers(0, 255, (*size, 3), np.uint8)) for size in sizes]


def test_a_picture_has_the_same_answer_in_company(graph: Path, pictures: list[Picture]) -> None:
    alone, together = (
        LabelModel(OpenVinoForward(graph, "f32", 1, most), ("blue", "green", "red"), 8)
        for most in (1, 4)
    )
    found = together.predict(pictures)
    for rows, expected, picture in zip(found, alone.predict(pictures), pictures, strict=True):
        np.testing.assert_allclose(rows, expected, atol=1e-6)
        assert rows[:, 4].tolist() == sorted(rows[:, 4], reverse=True)
        assert rows[0, 2:4].tolist() == [picture.pixels.shape[1], picture.pixels.shape[0]]
    kept = sorted(path.name.split("-")[1] for path in (graph.parent / "compiled").iterdir())
    assert kept == ["4x8x8", "8x8"]


def test_only_small_pictures_go_together() -> None:
    assert labels.together(32) == labels.TOGETHER
    assert labels.together(224) == 1
