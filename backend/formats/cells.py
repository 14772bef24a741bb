"""Cells of tables that spreadsheets open: none computes, and each is read back whole."""

from __future__ import annotations

from typing import Any

# Spreadsheets begin a formula with these; the last four are the wide forms of the first.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
MARK = "'"


def safe(value: Any) -> Any:
    """The value as a cell holds it; a number stays one, a text that would compute is marked."""
    return MARK + value if isinstance(value, str) and _would_compute(value) else value


def plain(cell: str) -> str:
    """The text as it was before `safe`."""
    return cell[1:] if cell.startswith(MARK) and _would_compute(cell) else cell


def _would_compute(text: str) -> bool:
    # A text with marks of its own gets one more, so that reading takes away the right one.
    return text.lstrip(MARK).startswith(FORMULAS)
