"""Carries a prepared model to a machine that does not share our disk, once for each machine."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from workers.runtimes.preparing import Prepared

Cargo = Mapping[str, bytes]
WEIGHTS = "weights"


def pack(prepared: Prepared) -> Cargo:
    """The prepared files, without what was compiled for this processor, and the weights."""
    folder, weights = prepared.folder, prepared.source.weights
    cargo = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    if weights is not None:
        cargo[f"{WEIGHTS}{weights.suffix}"] = weights.read_bytes()
    return cargo


def unpack(prepared: Prepared, cargo: Cargo) -> Prepared:
    """The same model from files of this machine."""
    weights = prepared.source.weights
    if prepared.folder.is_dir() and (weights is None or weights.is_file()):
        return prepared
    folder = cache() / prepared.key[:32]
    if not folder.is_dir():
        _write(folder, cargo)
    if weights is not None:
        weights = folder / f"{WEIGHTS}{weights.suffix}"
    return replace(prepared, folder=folder, source=replace(prepared.source, weights=weights))


def cache() -> Path:
    """Where this machine keeps models that were carried to it, apart from other users'."""
    return Path(tempfile.gettempdir()) / f"loupe-models-{os.getuid()}"


def _write(folder: Path, cargo: Cargo) -> None:
    cache().mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    part.mkdir()
    try:
        for name, content in cargo.items():
            (part / name).write_bytes(content)
        if not folder.exists():
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
