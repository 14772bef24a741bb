"""What a weights file says of itself before its numbers; bounded, for files of strangers."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

LONGEST = 10_000_000
METADATA = "__metadata__"


def length(path: Path) -> int:
    """The bytes that the header announces for itself."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(8), "little")


def metadata(path: Path) -> dict[str, Any]:
    """The words of the header, empty where the file is of another kind."""
    if not 0 < length(path) <= LONGEST:
        return {}
    with path.open("rb") as file:
        file.seek(8)
        head = file.read(length(path))
    try:
        return {name: json.loads(value) for name, value in json.loads(head)[METADATA].items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def packed_family(path: Path) -> str:
    """The family that a packed file (.npz) names; empty where it names none."""
    try:
        with zipfile.ZipFile(path) as packed, packed.open("about.npy") as file:
            line = np.lib.format.read_array(io.BytesIO(file.read(LONGEST)), allow_pickle=False)
        return str(json.loads(str(line)).get("family", ""))
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OSError,
        zlib.error,
        EOFError,
        zipfile.BadZipFile,
        RuntimeError,
        SyntaxError,
        MemoryError,
    ):
        return ""


def family(path: Path) -> str:
    """The family that a weights file of ours names; empty where the file is of another kind."""
    return str(metadata(path).get("family", ""))
