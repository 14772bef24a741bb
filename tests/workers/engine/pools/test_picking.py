"""How a run's pictures are cut into chunks."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.settings import Settings
from tests.workers.engine import spots
from workers.engine.chunks import Work
from workers.engine.pools import picking


@pytest.mark.parametrize("count", [0, 1, 5, 300, 5000])
@pytest.mark.parametrize("workers", [1, 2, 64])
def test_every_picture_is_in_one_chunk_and_the_last_chunks_are_small(
    count: int, workers: int
) -> None:
    work = [Work(i, f"{i}.png") for i in range(count)]
    cut = list(picking.cut(work, workers))
    assert [index for chunk in cut for index in chunk.indices] == list(range(count))
    assert [chunk.number for chunk in cut] == list(range(len(cut)))
    sizes = [len(chunk) for chunk in cut]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size <= picking.LARGEST for size in sizes)
    assert all(size <= picking.SMALLEST for size in sizes[-workers:])


@pytest.mark.parametrize("count", [3, 16, 100, 3000])
def test_pictures_that_go_together_are_never_parted_but_at_the_end(count: int) -> None:
    work = [Work(i, f"{i}.png") for i in range(count)]
    sizes = [len(chunk) for chunk in picking.cut(work, 2, 16)]
    assert sum(sizes) == count
    assert all(size % 16 == 0 for size in sizes[:-1])
    assert max(sizes) <= picking.LARGEST


@pytest.mark.parametrize("asked", [{}, {"workers": 1024}])
def test_this_machine_never_has_more_processes_than_cores(
    asked: dict[str, int], tmp_path: Path
) -> None:
    context: Any = SimpleNamespace(settings=Settings(home=tmp_path), check=lambda: None)
    pool = picking.open_pool(context, spots.setup(), 10, asked)
    assert pool.size == len(os.sched_getaffinity(0))
