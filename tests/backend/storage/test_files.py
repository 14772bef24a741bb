"""The store of bytes: equal bytes once, whole or not at all, nowhere else."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from backend.errors import Invalid, NotFound
from backend.storage.files import Files


def test_equal_bytes_are_kept_once(files: Files, tmp_path: Path) -> None:
    assert files.put(b"board") == files.put(b"board") == hashlib.sha256(b"board").hexdigest()
    assert sum(path.is_file() for path in (tmp_path / "files").rglob("*")) == 1


def test_a_file_of_any_size_is_copied_in(files: Files, tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"w" * 3_000_000)
    name = files.put_file(tmp_path / "weights")
    assert files.local_path(name).read_bytes() == files.read(name) == b"w" * 3_000_000


def test_a_write_that_fails_leaves_nothing(files: Files, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        files.put("not bytes")  # type: ignore[arg-type]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "A" * 64, "a" * 63, "a" * 63 + "/"])
def test_a_name_that_is_no_hash_is_refused(files: Files, name: str) -> None:
    with pytest.raises(Invalid, match="is not the name of a file"):
        files.read(name)


def test_a_missing_file_is_named(files: Files) -> None:
    with pytest.raises(NotFound, match="aaaaaaaaaaaa"):
        files.read("a" * 64)
    with pytest.raises(NotFound, match="aaaaaaaaaaaa"):
        files.local_path("a" * 64)


def test_files_elsewhere_are_fetched_once(tmp_path: Path) -> None:
    remote = Files("memory://loupe-test-files", tmp_path / "cache")
    name = remote.put(b"board")
    path = remote.local_path(name)
    assert path.read_bytes() == b"board"
    assert path.is_relative_to(tmp_path / "cache")


def test_an_unknown_kind_of_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="LOUPE_FILES_URL"):
        Files("gopher://somewhere", tmp_path)


def test_sizes_are_told_together_and_of_none_that_is_gone(files: Files, tmp_path: Path) -> None:
    remote = Files("memory://loupe-test-sizes", tmp_path / "cache")
    for store in (files, remote):
        names = [store.put(bytes(size)) for size in (3, 500)]
        assert store.sizes(names) == [3, 500]
        assert store.sizes([names[1], "a" * 64, names[0]]) == [500, None, 3]
        assert store.sizes([]) == []
