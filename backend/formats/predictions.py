"""What another program found, read from its file: COCO results, or a table as `loupe report` has.

A file names its images by name (or by the name without its ending, or by our own number) and its
classes by name (or by COCO's category: the order of the project's classes from 1).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from backend.domain import Detection
from backend.errors import Invalid
from backend.formats.source import tabular

HOLDS = "predictions"
CORNERS = ("x1", "y1", "x2", "y2")
Row = Mapping[str, Any]


@dataclass(slots=True)
class Predictions:
    """Detections by the image's name; what named no image or class of these is only counted."""

    found: dict[str, list[Detection]] = field(default_factory=lambda: defaultdict(list))
    strange_images: int = 0
    strange_classes: int = 0


def check(path: Path, name: str) -> None:
    """Refuse what can be no predictions, before anything keeps it."""
    tabular.check(path, name, HOLDS)


def read(
    path: Path,
    images: Mapping[str, int],
    classes: Sequence[str],
    name: str,
    today: Callable[[str], str] = str,
) -> Predictions:
    """The predictions of a file called `name` for these images (with their numbers).

    `today` says what a class is called now that the file may call by an earlier name.
    """
    keys, taken = _keys(images), Predictions()
    for line, row in _rows(path, name):
        image = next((keys[key] for key in _named(row) if key in keys), "")
        label = today(_label(row, classes))
        if not image:
            taken.strange_images += 1
        elif label not in classes:
            taken.strange_classes += 1
        else:
            taken.found[image].append(_detection(row, label, f"{name}, {line}"))
    return taken


def read_classes(
    path: Path,
    images: Mapping[str, int],
    classes: Sequence[str],
    name: str,
    today: Callable[[str], str] = str,
) -> Predictions:
    """The one answer for each picture of a table `name,label[,score]`.

    An answer covers the whole picture; of two for one picture the file is refused.
    """
    keys, taken = _keys(images), Predictions()
    text = tabular.text(path, name, HOLDS)
    for line, row in tabular.rows(text, name, [("name", "file_name"), ("label", "class")]):
        image = next((keys[key] for key in _named(row) if key in keys), "")
        label = today(row.get("label") or row.get("class") or "")
        if not image:
            taken.strange_images += 1
        elif label not in classes:
            taken.strange_classes += 1
        elif image in taken.found:
            raise Invalid(f"{name}, line {line}: {image} has an answer already.")
        else:
            score = _score(row.get("score") or "1", f"{name}, line {line}")
            taken.found[image] = [Detection(0, 0, 1, 1, label, score)]
    return taken


def _score(said: str, place: str) -> float:
    try:
        score = float(said)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise Invalid(f"{place}: the score is a number from 0 to 1, not {said[:40]!r}.")
    return score


def _rows(path: Path, name: str) -> Iterator[tuple[str, Row]]:
    """Each entry with the words for its place."""
    text = tabular.text(path, name, HOLDS)
    if text.lstrip()[:1] in ("[", "{"):
        yield from _results(text, name)
    else:
        yield from _table(text, name)


def _results(text: str, name: str) -> Iterator[tuple[str, Row]]:
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        raise Invalid(f"{name}, line {error.lineno}: this is no JSON: {error.msg}.") from error
    if not isinstance(entries, list):
        raise Invalid(f"{name} is no list of COCO results; labels are imported, not judged.")
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise Invalid(f"{name}, entry {number}: a result is an object, not {entry!r:.40}.")
        yield f"entry {number}", entry


def _table(text: str, name: str) -> Iterator[tuple[str, Row]]:
    needed = [(column,) for column in sorted({"name", "label", "score", *CORNERS})]
    for line, row in tabular.rows(text, name, needed):
        if row["label"]:  # an image in which nothing was found has a line without a box
            yield f"line {line}", row


def _keys(images: Mapping[str, int]) -> dict[str, str]:
    """How an image may be called; what could mean two of them means neither."""
    known: dict[str, set[str]] = defaultdict(set)
    for name, number in images.items():
        path = PurePosixPath(name)
        for key in {path.name, str(path.with_suffix("")), path.stem, f"#{number}"}:
            known[key].add(name)
    sure = {key: next(iter(names)) for key, names in known.items() if len(names) == 1}
    return sure | {name: name for name in images}


def _named(row: Row) -> Iterable[str]:
    """What the entry calls its image, the surest first."""
    for key in ("file_name", "name"):
        if row.get(key):
            yield str(row[key])
    number = row.get("image_id", row.get("image"))
    if isinstance(number, int):
        yield f"#{number}"
    elif number:
        yield str(number)


def _label(row: Row, classes: Sequence[str]) -> str:
    for key in ("category", "category_name", "label"):
        if row.get(key):
            return str(row[key])
    number = row.get("category_id")
    return classes[number - 1] if isinstance(number, int) and 0 < number <= len(classes) else ""


def _detection(row: Row, label: str, place: str) -> Detection:
    try:
        if "bbox" in row:
            x, y, width, height = (float(value) for value in row["bbox"])
            corners = (x, y, x + width, y + height)
        else:
            x1, y1, x2, y2 = (float(row[key]) for key in CORNERS)
            corners = (x1, y1, x2, y2)
        score = float(row["score"])
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid(f"{place}: a prediction needs a box of four numbers and a score.") from error
    if not (corners[0] < corners[2] and corners[1] < corners[3] and 0 <= score <= 1):
        raise Invalid(f"{place}: the box is empty or the score is not between 0 and 1.")
    return Detection(*corners, label, score)
