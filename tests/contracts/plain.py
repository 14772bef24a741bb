"""Figures as plain values that can be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.contracts.renaming import UNSEEN


def shown(value: Any) -> Any:
    """A figure as plain values: without ids of jobs, and without what nothing shows."""
    if isinstance(value, Mapping):
        if "matrix" in value:
            return _counts(value)
        left = ("run", "seconds", "job", "milliseconds", "class_id")
        return {
            str(k): shown(v)
            for k, v in value.items()
            if k not in left and not str(k).startswith(UNSEEN)
        }
    if hasattr(value, "__slots__") and not isinstance(value, type):
        fields = {name: getattr(value, name) for name in value.__slots__}
        return shown(fields)
    if isinstance(value, (list, tuple, set)):
        return [shown(one) for one in value if one not in UNSEEN]
    return value


def _counts(found: Mapping[str, Any]) -> dict[str, int]:
    names, matrix = found["labels"], found["matrix"]
    pairs = [(f"{a} as {b}", row[j]) for a, row in zip(names, matrix, strict=True)
             for j, b in enumerate(names)]  # fmt: skip
    return {name: number for name, number in pairs if number}


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A figure of before under the names of now."""
    if isinstance(value, dict):
        return {renamed(name, names): renamed(one, names) for name, one in value.items()}
    if isinstance(value, list):
        return [renamed(one, names) for one in value]
    if not isinstance(value, str):
        return value
    return re.sub(rf"\b({'|'.join(names)})\b", lambda m: names[m[0]], value)


def settled(value: Any) -> Any:
    """Regardless of the order in which classes stand."""
    if isinstance(value, dict):
        return {name: settled(one) for name, one in sorted(value.items())}
    if isinstance(value, list):
        inner = [settled(one) for one in value]
        return sorted(inner) if all(isinstance(one, str) for one in inner) else inner
    if not isinstance(value, str):
        return value
    return ", ".join(sorted({*re.split(r", |: |\.", value)}.difference(UNSEEN)))
