"""Archives made to fill the memory: they are refused before they do."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.formats.source import archives
from tests import peak
from tests.backend.labels import drawn

UNPACK = """
    from pathlib import Path
    from backend.formats.source import archives
    archives.unpack(Path(sys.argv[1]), Path(sys.argv[2]), 20 * 10**9)
"""
MANY = 300_000_000


def _header(kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def _announcing(kind: bytes) -> Callable[[Path], None]:
    """One header that says that 300 MB of `a` belong to it."""

    def make(path: Path) -> None:
        with gzip.open(path, "wb", 1) as out:
            out.write(_header(kind, MANY))
            for _ in range(MANY // 1_000_000):
                out.write(b"a" * 1_000_000)

    return make


def _chained(path: Path) -> None:
    """Names of names of names, each of which is read inside of the one before."""
    with gzip.open(path, "wb", 1) as out:
        out.write(_header(tarfile.GNUTYPE_LONGNAME, 0) * 20_000)


def _of_all(path: Path) -> None:
    """What is said of all files, again and again."""
    record = b"1000 %06d=" + b"a" * 980 + b"\n"
    with gzip.open(path, "wb", 1) as out:
        for number in range(800):
            said = b"".join(record % (number * 100 + each) for each in range(100))
            out.write(_header(tarfile.XGLTYPE, len(said)) + said + bytes(-len(said) % 512))
            out.write(tarfile.TarInfo(f"{number}.txt").tobuf())


def _sparse(path: Path) -> None:
    info = tarfile.TarInfo("a.bin")
    info.type = tarfile.GNUTYPE_SPARSE
    first = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    first[482] = 1
    first[148:156] = b"%06o\0 " % (sum(first) - sum(first[148:156]) + 8 * 32)
    more = b"00000000001\0" * 42 + b"\1" + bytes(7)
    with gzip.open(path, "wb", 1) as out:
        out.write(first)
        for _ in range(1000):
            out.write(more * 600)


HOSTILE = {
    "a long name": _announcing(tarfile.GNUTYPE_LONGNAME),
    "a long link": _announcing(tarfile.GNUTYPE_LONGLINK),
    "a pax header": _announcing(tarfile.XHDTYPE),
    "a pax header of all": _announcing(tarfile.XGLTYPE),
    "names of names": _chained,
    "a sparse file": _sparse,
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_tar_is_refused_before_its_headers_fill_the_memory(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "a.tar.gz")
    said, peaked = peak.megabytes(UNPACK, tmp_path / "a.tar.gz", tmp_path / "out")
    assert said.startswith("a.tar.gz is no")
    assert peaked < 100


def test_what_a_tar_says_of_all_files_is_not_kept(tmp_path: Path) -> None:
    _of_all(tmp_path / "a.tar.gz")
    assert peak.megabytes(UNPACK, tmp_path / "a.tar.gz", tmp_path / "out")[1] < 50


def test_an_xz_may_not_ask_for_any_memory(tmp_path: Path) -> None:
    greedy = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    with lzma.open(tmp_path / "a.tar.xz", "wb", filters=greedy) as out:
        out.write(bytes(1024))
    said, _ = peak.megabytes(UNPACK, tmp_path / "a.tar.xz", tmp_path / "out")
    assert said == "a.tar.xz is not a whole archive: Memory usage limit exceeded."


def test_a_zip_that_lists_millions_of_files_is_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a", b"")
    content = path.read_bytes()
    listed, end = content[-22 - 47 : -22], bytearray(content[-22:])
    end[12:16] = (47 * 1_000_000).to_bytes(4, "little")
    path.write_bytes(listed * 1_000_000 + bytes(end))
    said, peaked = peak.megabytes(UNPACK, path, tmp_path / "out")
    assert said == "a.zip lists more than 400,000 files; unpack it and import the folder."
    assert peaked < 100


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tar.bz2", ".tar.xz"])
def test_a_tar_of_any_packing_with_long_names_comes_out_whole(tmp_path: Path, suffix: str) -> None:
    path, names = tmp_path / f"a{suffix}", [f"{n}/{'x' * 150}/{'ä' * 60}.jpg" for n in range(5)]
    content = drawn.picture()
    with tarfile.open(path, f"w:{suffix.rpartition('.')[2].replace('tar', '')}") as out:  # type: ignore[call-overload]
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))
    found = archives.unpack(path, tmp_path / "out", 10**9)
    assert sorted(found.files) == names
    assert {(tmp_path / "out" / found.files[name]).read_bytes() for name in names} == {content}


def test_xz_files_behind_one_another_are_one(tmp_path: Path) -> None:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as out:
        out.addfile(tarfile.TarInfo("a.jpg"))
    half = len(tar.getvalue()) // 2
    parts = lzma.compress(tar.getvalue()[:half]) + bytes(8) + lzma.compress(tar.getvalue()[half:])
    (tmp_path / "a.tar.xz").write_bytes(parts)
    assert list(archives.unpack(tmp_path / "a.tar.xz", tmp_path / "out", 10**9).files) == ["a.jpg"]
