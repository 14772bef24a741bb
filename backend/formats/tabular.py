"""Tables as people keep them: CSV with commas, Excel's semicolons or tabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from backend.errors import Invalid

SEPARATORS = ",;\t"
NUMBERS = ("score", "x1", "y1", "x2", "y2")


def text(path: Path, name: str, holds: str) -> str:
    """The text of a file called `name` that should hold something."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"{name} is not UTF-8 text, so it holds no {holds}.") from error


def rows(
    text: str, name: str, columns: Sequence[Sequence[str]]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row with its line; of each of `columns`, names for the same, a table has one."""
    separator = max(SEPARATORS, key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="", delimiter=separator)
    try:
        reader.fieldnames = [one.strip().lower() for one in reader.fieldnames or ()]
        _check(reader.fieldnames, name, columns)
        for row in reader:
            yield reader.line_num, _pointed(row) if separator == ";" else row
    except csv.Error as error:
        raise Invalid(f"{name} is no table of CSV: {error}.") from error


def _check(there: Sequence[str], name: str, columns: Sequence[Sequence[str]]) -> None:
    missing = [" or ".join(names) for names in columns if not {*names} & {*there}]
    if missing:
        raise Invalid(f"{name} has no column {', '.join(missing)}; a table needs them.")


def _pointed(row: dict[str, str]) -> dict[str, str]:
    """Where semicolons stand between values, Excel writes a comma within numbers."""
    return row | {key: row[key].replace(",", ".") for key in NUMBERS if key in row}
