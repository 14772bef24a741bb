"""Pictures that were carried to a machine stay there, whole and within a bound."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from workers.engine import chunks
from workers.engine.chunks import Work
from workers.engine.pools import copies
from workers.engine.pools.copies import Copies, Parcel


@dataclass
class Store:
    """Stands for the cluster's memory."""

    held: list[bytes] = field(default_factory=list)
    asked: int = 0

    def put(self, content: bytes) -> int:
        """A number stands for a reference."""
        self.held.append(content)
        return len(self.held) - 1

    def get(self, refs: Sequence[int]) -> list[bytes]:
        """Counted."""
        self.asked += len(refs)
        return [self.held[ref] for ref in refs]


def parcels(folder: Path, store: Store, contents: Sequence[bytes]) -> dict[str, Parcel]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.png" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    work = (Work(number, str(path)) for number, path in enumerate(paths))
    return dict(copies.parcels(chunks.chunk(0, tuple(work)), store.put))


def test_equal_bytes_travel_once_whatever_they_are_called(tmp_path: Path) -> None:
    store, there = Store(), tmp_path / "there"
    first = parcels(tmp_path / "a", store, [b"one", b"two"])
    assert sorted(Copies(there).opened(first, store.get).values()) == [b"one", b"two"]
    other = parcels(tmp_path / "b", store, [b"two", b"three"])
    assert sorted(Copies(there).opened(other, store.get).values()) == [b"three", b"two"]
    assert store.asked == 3


def test_a_broken_copy_is_fetched_anew(tmp_path: Path) -> None:
    store, there = Store(), tmp_path / "there"
    sent = parcels(tmp_path / "a", store, [b"one"])
    Copies(there).opened(sent, store.get)
    (copy,) = there.glob("*/*")
    copy.write_bytes(b"on")
    assert list(Copies(there).opened(sent, store.get).values()) == [b"one"]
    assert copy.read_bytes() == b"one"


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store, there = Store(), tmp_path / "there"
    sent = parcels(tmp_path / "a", store, [bytes([number]) * 100 for number in range(4)])
    kept = Copies(there, bound=350)
    for age, (source, parcel) in enumerate(list(sent.items())[:3]):
        kept.opened({source: parcel}, store.get)
        os.utime(there / parcel.sha256[:2] / parcel.sha256, (age, age))
    oldest, second, *_ = sent
    kept.opened({oldest: sent[oldest]}, store.get)  # used again
    last = list(sent)[3]
    kept.opened({last: sent[last]}, store.get)
    left = {path.name for path in there.glob("*/*")}
    assert left == {sent[oldest].sha256, sent[last].sha256}
    assert second not in left


def test_a_disk_that_takes_nothing_costs_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    store = Store()
    sent = parcels(tmp_path / "a", store, [b"one"])
    monkeypatch.setattr(Path, "write_bytes", full)
    assert list(Copies(tmp_path / "there").opened(sent, store.get).values()) == [b"one"]
    monkeypatch.undo()
    assert list((tmp_path / "there").glob("*/*")) == []


def test_a_file_that_is_gone_is_left_to_who_looks_at_it(tmp_path: Path) -> None:
    chunk = chunks.chunk(0, (Work(0, str(tmp_path / "gone.png")), Work(1, "s3://far/away.png")))
    assert copies.parcels(chunk, Store().put) == {}


def test_what_a_chunk_carries_itself_travels_no_second_time(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("small.png", "large.png")]
    for path in paths:
        path.write_bytes(path.name.encode())
    chunk = chunks.chunk(0, [Work(at, str(path)) for at, path in enumerate(paths)])
    carrying = replace(chunk, carried={str(paths[0]): b"small.png"})
    assert {*copies.parcels(carrying, Store().put)} == {str(paths[1])}
