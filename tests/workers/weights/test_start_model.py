"""The recipe of the start model, and the file that it made."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from backend import sample
from backend.domain import Box, Split
from backend.sample import Drawn
from backend.weights import start_weights
from workers.evaluation import average_precision, metrics
from workers.families.base import Picture
from workers.families.yolo import family
from workers.weights import start_model, weight_files
from workers.weights.start_model import Piece, Recipe

TINY = Recipe(steps=4, batch=2, size=64, warmup=2, keep_every=2)


def marked(x1: int, y1: int, x2: int, y2: int) -> Drawn:
    """A white picture that is black where its one box is."""
    pixels = np.full((300, 400), 255, np.uint8)
    pixels[y1:y2, x1:x2] = 0
    return Drawn("marked", pixels, (Box(x1, y1, x2, y2, "open"),), Split.TRAIN)


def black_share(piece: Piece) -> float:
    """How much of what the labels cover is black."""
    side = len(piece.pixels)
    found = []
    for _, x, y, width, height in piece.labels * ([1] + [side] * 4):
        rows = slice(round(y - height / 2), round(y + height / 2))
        found.append(piece.pixels[rows, round(x - width / 2) : round(x + width / 2)] < 128)
    return float(np.mean([part.mean() for part in found]))


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.3])
def test_labels_stay_on_what_they_label_however_a_piece_is_cut_and_turned(scale: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        piece = start_model.turned(rng, start_model.cut(rng, marked(180, 90, 260, 130), 128, scale))
        assert piece.pixels.shape == (128, 128, 3)
        assert not len(piece.labels) or black_share(piece) > 0.9


def test_the_stream_mixes_all_classes_and_repeats_with_its_seed() -> None:
    first, again = (list(itertools.islice(start_model.stream(2, 128), 40)) for _ in range(2))
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(first, again, strict=True))
    seen = {int(row[0]) for piece in first for row in piece.labels}
    assert len(seen) >= 7


def test_the_start_model_never_sees_a_sample_project() -> None:
    assert start_model.FIRST_SEED > 100_000


def test_a_stopped_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    kept = tmp_path / "half.pt"
    start_model.train(dataclasses.replace(TINY, steps=2), kept)
    assert torch.load(kept, weights_only=True)["step"] == 2
    network = start_model.train(TINY, kept)
    assert torch.load(kept, weights_only=True)["step"] == 4
    assert network.names[0] == "open"


@pytest.fixture(scope="module")
def shipped() -> Path:
    found = start_weights.ASSETS / "start_yolo11n.safetensors"
    assert found.is_file()
    return found


def test_the_shipped_start_model_is_small_and_names_the_drawn_classes(shipped: Path) -> None:
    assert shipped.stat().st_size <= 6_000_000
    assert weight_files.peek(shipped).classes == start_model.CLASSES
    assert weight_files.peek(shipped).variant == "n"


@pytest.mark.parametrize("kind", ["pcb", "mask"])
def test_the_shipped_start_model_detects_on_fresh_drawings(shipped: Path, kind: str) -> None:
    model = family.load(shipped, "cpu")
    drawn = [d for d in sample.draw(kind, 10, seed=77) if not d.is_golden]
    found = model.predict([Picture(d.pixels, name=d.name) for d in drawn])
    judged = [
        average_precision.Weighed(rows, np.array([_row(box) for box in d.boxes]).reshape(-1, 5))
        for d, rows in zip(drawn, found, strict=True)
    ]
    assert metrics.report(judged, model.classes, resamples=2)["map50"] > 0.6


def _row(box: Box) -> tuple[float, ...]:
    return box.x1, box.y1, box.x2, box.y2, start_model.CLASSES.index(box.label)
