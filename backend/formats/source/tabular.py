"""Tables as people keep them: CSV with commas, Excel's semicolons or tabs."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from backend.errors import Invalid
from backend.formats import cells

SEPARATORS = ",;\t"
NUMBERS = ("score", "x1", "y1", "x2", "y2")
LARGEST = 100_000_000  # bytes; some million rows, which are held in memory many times over
_START = 65_536


def check(path: Path, name: str, holds: str) -> None:
    """Refuse a file called `name` that is too large to be read, or begins as no text does."""
    if path.stat().st_size > LARGEST:
        raise Invalid(f"{name} is larger than {LARGEST // 1_000_000} MB; cut it into parts.")
    with path.open("rb") as file:
        start = file.read(_START)
    try:
        read = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError as error:
        raise _no_text(name, holds) from error
    if "\0" in read:
        raise _no_text(name, holds)


def text(path: Path, name: str, holds: str) -> str:
    """The text of a file called `name` that should hold something."""
    check(path, name, holds)
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_text(name, holds) from error


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
            told = {name: cells.plain(cell) for name, cell in row.items() if name is not None}
            yield reader.line_num, _pointed(told) if separator == ";" else told
    except csv.Error as error:
        raise Invalid(f"{name} is no table of CSV: {error}.") from error


def _no_text(name: str, holds: str) -> Invalid:
    return Invalid(f"{name} is not UTF-8 text, so it holds no {holds}.")


def _check(there: Sequence[str], name: str, columns: Sequence[Sequence[str]]) -> None:
    missing = [" or ".join(names) for names in columns if not {*names} & {*there}]
    if missing:
        raise Invalid(f"{name} has no column {', '.join(missing)}; a table needs them.")


def _pointed(row: dict[str, str]) -> dict[str, str]:
    """Where semicolons stand between values, Excel writes a comma within numbers."""
    return row | {key: row[key].replace(",", ".") for key in NUMBERS if key in row}
