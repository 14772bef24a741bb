"""What a safetensors file says of itself before its numbers; bounded, for files of strangers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


def family(path: Path) -> str:
    """The family that a weights file of ours names; empty where the file is of another kind."""
    return str(metadata(path).get("family", ""))
