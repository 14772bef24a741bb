"""The real pictures that tests and benchmarks use, unpacked once on this machine."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from pathlib import Path

ARCHIVES = {
    "cifar10": "cifar10/cifar10.tar.xz",
    "deeppcb": "deeppcb/deeppcb.tar.xz",
    "facemask": "facemask/facemask.tar.xz",
    "hripcb": "hripcb/hripcb.tar",
    "hripcb_more": "hripcb/hripcb_more.tar",
    "photos": "photos/photos.tar",
    "cocoval": "cocoval/cocoval.tar",
    "kuberay": "kuberay/kuberay.tar.xz",
}


class Missing(Exception):
    """The setting or the archive is not there; the text says which."""


def root() -> Path:
    """The folder that LOUPE_REAL_DATA names."""
    named = os.environ.get("LOUPE_REAL_DATA", "")
    if not named or not Path(named).is_dir():
        raise Missing("LOUPE_REAL_DATA names no folder of real pictures.")
    return Path(named)


def weights() -> Path:
    """The folder of start weights."""
    folder = root() / "weights"
    if not folder.is_dir():
        raise Missing(f"LOUPE_REAL_DATA has no weights: {folder} does not exist.")
    return folder


def unpacked(name: str) -> Path:
    """The unpacked folder of an archive, read-only for its users and shared between sessions."""
    archive = root() / ARCHIVES[name]
    if not archive.is_file():
        raise Missing(f"LOUPE_REAL_DATA has no {name}: {archive} does not exist.")
    shelf = Path(tempfile.gettempdir()) / f"loupe-real-data-{os.getuid()}"
    target = shelf / f"{name}-{archive.stat().st_size}"
    if not target.is_dir():
        _unpack(archive, target)
    return target / name if (target / name).is_dir() else target


def _unpack(archive: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=target.parent))
    with tarfile.open(archive) as bundle:
        bundle.extractall(partial, filter="data")
    try:
        partial.rename(target)
    except OSError:  # another session was quicker
        shutil.rmtree(partial)
