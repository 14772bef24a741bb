"""Broken and hostile archives, each with what must be said of it."""

from __future__ import annotations

import io
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.backend.formats.bad_files import GOOD, JPEG, Bad


def _zip(members: dict[str, bytes], *, encrypted: bool = False) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "source.zip"
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            warnings.simplefilter("ignore")  # two members of one name are the point
            for name, content in members.items():
                out.writestr(name.rstrip("*"), content)
        if encrypted:
            path.write_bytes(path.read_bytes().replace(b"PK\1\2\x14\3\x14\0\0\0", _LOCKED))
        return path

    return make


_LOCKED = b"PK\1\2\x14\3\x14\0\1\0"


def _tar(*members: tuple[tarfile.TarInfo, bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "source.tar"
        with tarfile.open(path, "w") as out:
            for info, content in members:
                info.size = len(content)
                out.addfile(info, io.BytesIO(content))
        return path

    return make


def _link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


def _file(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


def _cut(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
    def cut(folder: Path) -> Path:
        path = make(folder)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        return path

    return cut


_ROOM = {"good.jpg": GOOD}
_MEMBER = (tarfile.TarInfo("good.jpg"), GOOD)
_LONG = (tarfile.TarInfo("long.jpg"), GOOD + bytes(60_000))
ALL = (
    Bad("zip: out of it", _zip(_ROOM | {"../evil.jpg": GOOD}), r"\.\./evil.jpg: .*leads out"),
    Bad("zip: absolute", _zip(_ROOM | {"/tmp/evil.jpg": GOOD}), "/tmp/evil.jpg: .*leads out"),
    Bad("zip: drive", _zip(_ROOM | {"C:\\evil.jpg": GOOD}), "evil.jpg: .*leads out"),
    Bad("zip: backslash", _zip(_ROOM | {"..\\evil.jpg": GOOD}), "evil.jpg: .*leads out"),
    Bad("zip: one name twice", _zip(_ROOM | {"good.jpg*": JPEG}), "two files of this name"),
    Bad("zip: locked", _zip({"a.jpg": GOOD}, encrypted=True), "a.jpg: it is encrypted", 0),
    Bad("zip: cut off", _cut(_zip(_ROOM)), "source.zip is not a whole archive", refused=True),
    Bad("zip: no zip", _file("x.zip", b"PK hello"), "x.zip is not a whole archive", refused=True),
    Bad(
        "zip: bomb",
        _zip({f"{n}.bmp": bytes(100_000_000) for n in range(3)}),
        "source.zip is a bomb: it unpacks to",
        refused=True,
    ),
    Bad("tar: no tar", _file("x.tar.xz", b"\xfd7zXZ"), "x.tar.xz is not a whole", refused=True),
    Bad("tar: cut off", _cut(_tar(_LONG)), "source.tar is not a whole archive", refused=True),
    Bad("tar: out", _tar(_MEMBER, (tarfile.TarInfo("../b.jpg"), GOOD)), "b.jpg: .*leads out"),
    Bad("tar: link", _tar(_MEMBER, _link("b.jpg", "/etc/passwd")), "b.jpg: it is a link"),
    Bad("tar: hard link", _tar(_MEMBER, _link("b.jpg", "x", tarfile.LNKTYPE)), "it is a link"),
    Bad("tar: device", _tar(_MEMBER, _link("b.jpg", "", tarfile.CHRTYPE)), "a link or a device"),
    Bad("no source", _file("x.pdf", b"%PDF"), "x.pdf is no source of pictures", refused=True),
    Bad("no pictures", _file("x.txt", b"hello"), "holds no pictures", refused=True),
)
