"""Graphs compiled for one shape of input, kept so that the next process only loads them.

OpenVINO has such a cache, too, but two processes that fill it at once are in each other's way, and
it reads, reshapes and hashes the whole graph before it looks there, which takes as long again.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import logging
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)
Shape = tuple[int, int, int]  # how many pictures, their height, their width
FOLDER = "compiled"
MOST = 12  # shapes that are kept of one graph
DIGEST = 32  # bytes of the hash that a kept file begins with


def load(core: Any, graph: Path, shape: Shape, options: Mapping[str, Any]) -> Any:
    """The graph, compiled for so many pictures of that size."""
    folder, kind = graph.parent / FOLDER, _kind(core, options)
    count, *sides = shape
    told = "x".join(map(str, sides if count == 1 else shape))
    kept = folder / f"{graph.stem}-{told}-{kind}.blob"
    content = _read(kept)
    if content is not None:
        try:
            return core.import_model(io.BytesIO(content), "CPU", options)
        except RuntimeError as error:
            log.info("A compiled graph is made anew: %s", str(error).strip().splitlines()[-1])
    model = core.read_model(graph)
    model.reshape([*shape, 3])
    compiled = core.compile_model(model, "CPU", options)
    if kept.exists() or len(list(folder.glob(f"{graph.stem}-*-{kind}.blob"))) < MOST:
        _write(kept, compiled.export_model())
    return compiled


def _kind(core: Any, options: Mapping[str, Any]) -> str:
    """What a compiled graph depends on besides its shape: the library, the processor, options."""
    told = json.dumps([_library(), core.get_property("CPU", "FULL_DEVICE_NAME"), dict(options)])
    return hashlib.sha256(told.encode()).hexdigest()[:12]


@functools.cache
def _library() -> str:
    import openvino

    return str(openvino.__version__)


def _read(path: Path) -> bytes | None:
    """What was kept, if it is whole: OpenVINO would fall over half of it."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    whole = hashlib.sha256(content[DIGEST:]).digest() == content[:DIGEST]
    return content[DIGEST:] if whole else None


def _write(path: Path, content: bytes | io.BytesIO) -> None:
    """Two processes may write the same; a full disk costs only the time to compile again."""
    data = content if isinstance(content, bytes) else content.getvalue()
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(exist_ok=True)
        part.write_bytes(hashlib.sha256(data).digest() + data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        log.info("A compiled graph is not kept: %s", error.strerror)
