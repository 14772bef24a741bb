"""The bytes of small pictures are read once, to be hashed and to be looked at."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from workers.engine import chunks, held
from workers.engine.chunks import Chunk, Work
from workers.engine.held import Held
from workers.engine.sources import SourcePicture


def _items(folder: Path, sizes: list[int]) -> list[SourcePicture]:
    made = []
    for number, size in enumerate(sizes):
        path = folder / f"{number}.jpg"
        path.write_bytes(bytes([number]) * size)
        made.append(SourcePicture(number, path.name, str(path)))
    return made


def _chunk(items: list[SourcePicture]) -> Chunk:
    return chunks.chunk(0, [Work(item.image_id, item.source) for item in items])


def test_a_small_picture_waits_for_its_chunk_and_a_large_one_is_hashed_alone(
    tmp_path: Path,
) -> None:
    items = _items(tmp_path, [10, held.SMALL + 1, 0])
    waiting = Held()
    hashes = [waiting.hashed(item).sha256 for item in items]
    assert hashes == [hashlib.sha256(Path(item.source).read_bytes()).hexdigest() for item in items]
    for item in items:
        Path(item.source).unlink()
    carried = waiting.given(_chunk(items)).carried
    assert carried == {items[0].source: b"\0" * 10, items[2].source: b""}
    assert waiting.given(_chunk(items)).carried == {}


def test_no_more_wait_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "ROOM", 25)
    items, waiting = _items(tmp_path, [10] * 5), Held()
    assert all(waiting.hashed(item).sha256 for item in items)
    assert len(waiting.given(_chunk(items)).carried) == 2
    # What is taken leaves its room to others.
    assert all(waiting.hashed(item).sha256 for item in items)
    assert len(waiting.given(_chunk(items)).carried) == 2


def test_more_than_a_pipe_takes_is_read_by_whoever_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "SENT", 25)
    items, waiting = _items(tmp_path, [10] * 3), Held()
    for item in items:
        waiting.hashed(item)
    assert waiting.given(_chunk(items)).carried == {}


def test_a_file_that_is_gone_or_a_folder_is_told_of_when_it_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "folder.jpg").mkdir()
    waiting = Held()
    for name in ("gone.jpg", "folder.jpg"):
        assert waiting.hashed(SourcePicture(1, name, str(tmp_path / name))).sha256 == ""
    known = SourcePicture(1, "known.jpg", str(tmp_path / "known.jpg"), "a hash")
    assert waiting.hashed(known) is known
