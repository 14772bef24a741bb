"""YOLO: a text file a picture, lines of `class cx cy w h` in fractions of the picture.

The layouts met in the wild: `images/` beside `labels/`, splits above or below them, labels beside
the pictures, lists of pictures, and the class names in data.yaml, obj.names or classes.txt.
Outlines and turned boxes become the upright box around them.
"""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from backend import safe_pictures
from backend.domain import Box, Split
from backend.errors import Invalid
from backend.formats import base, picture_names, signs, writing, yolo_config
from backend.formats.base import (
    Classes,
    Finding,
    Item,
    Labelled,
    OutgoingPicture,
    Problem,
    Writing,
    Written,
)
from backend.formats.signs import Sign
from backend.formats.source import numbers
from backend.formats.source.tree import Tree
from backend.formats.yolo_config import Config

CONFIG = "data.yaml"
_FAR = 2.0  # fractions beyond it are pixels


def recognise(tree: Tree) -> Sign:
    """A data.yaml with names, or a label file whose lines are a class and fractions."""
    if tree.manifest and not yolo_config.is_manifest(tree):
        return Sign.NONE
    if any(yolo_config.describes(tree, name) for name in yolo_config.files(tree)):
        return Sign.STRONG
    return signs.of_most(_is_label(tree, name) for name in tree.label_texts())


def read(tree: Tree) -> Finding:
    """The pictures in the order of their paths."""
    config = yolo_config.read(tree)
    yield from config.problems
    yield Classes(tuple(config.names[index] for index in sorted(config.names)))
    names = picture_names.PictureNames(tree.pictures, splits=True)
    for picture in tree.pictures:
        if not tree.manifest or config.names_picture(picture):
            yield from _read(tree, picture, names[picture], config)


def write(items: Iterable[OutgoingPicture], folder: Path, classes: Sequence[str]) -> Writing:
    """images/SPLIT/, labels/SPLIT/ and data.yaml."""
    ids = {name: index for index, name in enumerate(classes)}
    used: set[str] = set()
    for picture in items:
        home = picture.split or picture_names.UNASSIGNED
        used.add(home)
        stem = picture.name.removesuffix(writing.ending(picture.name))
        writing.put(folder, f"images/{home}/{picture.name}", picture.read())
        if picture.labelled:
            lines = [_line(box, ids[box.label], picture) for box in picture.boxes]
            writing.put(folder, f"labels/{home}/{stem}.txt", "".join(lines).encode())
        yield Written(picture.name, len(picture.boxes))
    writing.put(folder, CONFIG, _describe(used, classes).encode())


def _line(box: Box, index: int, picture: OutgoingPicture) -> str:
    x, y = (box.x1 + box.x2) / 2 / picture.width, (box.y1 + box.y2) / 2 / picture.height
    width, height = (box.x2 - box.x1) / picture.width, (box.y2 - box.y1) / picture.height
    return f"{index} {x!r} {y!r} {width!r} {height!r}\n"


def _describe(used: set[str], classes: Sequence[str]) -> str:
    """The data.yaml; trainers want a train and a val, so pictures without a split serve as both."""
    homes = {
        split: f"images/{split}" for split in (*Split, picture_names.UNASSIGNED) if split in used
    }
    rest = homes.get(picture_names.UNASSIGNED)
    train = homes.get(Split.TRAIN) or rest or next(iter(homes.values()), "images")
    config: dict[str, Any] = {
        "train": train,
        "val": homes.get(Split.VAL) or homes.get(Split.TEST) or rest or train,
    }
    if Split.TEST in homes:
        config["test"] = homes[Split.TEST]
    if rest:
        config[picture_names.UNASSIGNED] = rest
    config["names"] = dict(enumerate(classes))
    return yaml.safe_dump(config, allow_unicode=True, sort_keys=False)


def _labels_of(tree: Tree, picture: str) -> str:
    """The label file of a picture, '' where there is none."""
    stem = posixpath.splitext(picture)[0]
    parts = stem.split("/")
    for at in reversed(range(len(parts) - 1)):
        if parts[at].lower() in picture_names.FOLDERS:
            beside = "/".join([*parts[:at], "labels", *parts[at + 1 :]]) + ".txt"
            if beside in tree.files:
                return beside
    for candidate in (f"{stem}.txt", f"labels/{stem}.txt"):
        if candidate in tree.files:
            return candidate
    return ""


def _is_label(tree: Tree, labels: str) -> bool:
    try:
        words = next(tree.lines(labels), (0, ""))[1].split()
        return bool(words) and numbers.index(words[0]) >= 0 and bool(_corners(words))
    except Invalid:
        return False


def _read(tree: Tree, picture: str, name: str, config: Config) -> Iterator[Item | Problem]:
    labels = _labels_of(tree, picture)
    boxes: list[Labelled] = []
    labelled = bool(labels)
    if labels:
        try:
            size = _size(tree, picture)
            for line, text in tree.lines(labels):
                found = _box(line, text, config, size)
                if isinstance(found, Problem):
                    yield Problem(labels, line, found.reason)
                else:
                    boxes.append(found)
        except Invalid as error:
            yield Problem(labels, None, str(error))
            labelled = False
    yield Item(
        name,
        functools.partial(tree.read, picture),
        tuple(boxes),
        labelled,
        split=config.split(picture),
        file=picture,
        label_file=labels,
    )


def _size(tree: Tree, picture: str) -> tuple[int, int]:
    try:
        found = safe_pictures.header(str(tree.path(picture)), "its picture")
    except Invalid as error:
        raise Invalid(
            f"its boxes are fractions of a picture that cannot be read: {error}"
        ) from None
    return found.width, found.height


def _box(line: int, text: str, config: Config, size: tuple[int, int]) -> Labelled | Problem:
    words = text.split()
    try:
        index = numbers.index(words[0])
        x1, y1, x2, y2 = _corners(words, keypoints=config.keypoints)
    except Invalid as error:
        return Problem("", line, str(error))
    if config.names and index not in config.names:
        return Problem("", line, f"there is no class {index}; there are {len(config.names)}.")
    label = config.names.get(index, str(index))
    width, height = size
    x1, y1, x2, y2 = map(base.rounded, (x1 * width, y1 * height, x2 * width, y2 * height))
    return Labelled(x1, y1, x2, y2, label, line)


def _corners(words: Sequence[str], *, keypoints: bool = False) -> tuple[float, float, float, float]:
    """The corners in fractions: of a box (perhaps with a confidence), or around an outline."""
    values = numbers.floats(words[1:])
    if len(values) < 4 or (len(values) > 5 and len(values) % 2 and not keypoints):
        raise Invalid(f"{' '.join(words)[:80]!r} is not `class cx cy w h`.")
    if any(abs(value) > _FAR for value in values[:4]):
        raise Invalid("its numbers are not fractions of the picture, from 0 to 1.")
    if len(values) > 5 and not keypoints:
        return min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2])
    x, y, width, height = values[:4]
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2
