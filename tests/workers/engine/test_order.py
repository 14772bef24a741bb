"""Pictures of one shape are looked at together, and answered in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from workers.engine import chunks, order, work
from workers.engine.chunks import Status, Work
from workers.engine.work import ChunkWorker, Setup
from workers.families.base import Detections, Picture

SIZES = {"tall": (60, 80), "wide": (80, 60), "long": (90, 60)}


class Noting:
    """Notes the shapes that it sees; a box as wide as the picture says which one it was."""

    classes = ("picture",)

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []
        self.batches: list[int] = []

    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """One box each."""
        sizes = [(one.pixels.shape[1], one.pixels.shape[0]) for one in batch]
        self.seen += sizes
        self.batches.append(len(batch))
        return [np.array([[0, 0, w, h, 0.9, 0]], np.float32) for w, h in sizes]

    def export(self, runtime: str, folder: Path) -> Path:
        """Not needed here."""
        raise NotImplementedError(runtime, folder)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Noting:
    made = Noting()
    monkeypatch.setattr(work, "load", lambda _: made)
    return made


def _drawn(folder: Path, kinds: Sequence[str], suffix: str = "jpg") -> list[Work]:
    made = []
    for number, kind in enumerate(kinds):
        path = folder / f"{number}.{suffix}"
        Image.new("RGB", SIZES[kind]).save(path)
        made.append(Work(number, str(path)))
    return made


@pytest.mark.parametrize("suffix", ["jpg", "png"])
@pytest.mark.parametrize("batch", [1, 2])
def test_shapes_follow_each_other_and_answers_keep_their_places(
    tmp_path: Path, model: Noting, suffix: str, batch: int
) -> None:
    kinds = ["wide", "tall", "long", "wide", "tall", "long"]
    worker = ChunkWorker(Setup("", batch=batch))
    drawn = _drawn(tmp_path, kinds, suffix)
    for number in range(2):
        found = list(worker.look(chunks.chunk(number, drawn)))
        assert [one.index for one in found] == list(range(6))
        assert [tuple(one.boxes[0, 2:4]) for one in found] == [SIZES[kind] for kind in kinds]
    # The second chunk begins with the shape that the first one ended with.
    tall, wide, long = SIZES.values()
    up = [tall, tall, wide, wide, long, long]
    assert model.seen == [*up, *reversed(up)]


def test_a_file_that_is_gone_or_broken_says_so_in_its_place(tmp_path: Path, model: Noting) -> None:
    drawn = _drawn(tmp_path, ["wide", "tall", "long", "wide"])
    Path(drawn[1].source).unlink()
    Path(drawn[2].source).write_bytes(b"\xff\xd8\xff\xe0")
    found = list(ChunkWorker(Setup("")).look(chunks.chunk(0, drawn)))
    states = [Status.OK, Status.UNREADABLE, Status.UNREADABLE, Status.OK]
    assert [one.status for one in found] == states
    assert len(model.seen) == 2


def test_large_pictures_are_not_all_decoded_at_once(
    tmp_path: Path, model: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = _drawn(tmp_path, ["wide"] * 5)
    monkeypatch.setattr(work, "HELD", 2 * 80 * 60 * 3)
    found = list(ChunkWorker(Setup("", batch=16, on_cores=16)).look(chunks.chunk(0, drawn)))
    assert [one.index for one in found] == list(range(5))
    assert model.batches == [2, 2, 1]


def test_large_files_are_not_all_held_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = _drawn(tmp_path, ["wide"] * 4)
    size = Path(drawn[0].source).stat().st_size
    monkeypatch.setattr(order, "AHEAD", 2.5 * size)
    held = order.read_ahead(chunks.chunk(0, drawn)).carried
    assert list(held) == [drawn[0].source, drawn[1].source]
