"""YOLO: a text file a picture, lines of `class cx cy w h` in fractions of the picture.

The layouts met in the wild: `images/` beside `labels/`, splits above or below them, labels beside
the pictures, lists of pictures, and the class names in data.yaml, obj.names or classes.txt.
Outlines and turned boxes become the upright box around them.
"""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from backend import pictures
from backend.domain import Box, Split
from backend.errors import Invalid
from backend.formats import base, naming, numbers, writing
from backend.formats.base import Classes, Found, Item, Labelled, Picture, Problem, Written
from backend.formats.tree import PICTURES, Tree, suffix

CONFIG = "data.yaml"
NAME_FILES = ("obj.names", "classes.txt", "classes.names", "_darknet.labels", "labels.txt")
MOST_YAML = 4 * 1024 * 1024
_FAR = 2.0  # fractions beyond it are pixels


@dataclass(slots=True)
class _Config:
    """What a data set says of itself: class names, and which pictures belong to which split."""

    file: str = ""
    names: dict[int, str] = field(default_factory=dict)
    splits: dict[str, set[Split | None]] = field(default_factory=dict)
    keypoints: bool = False
    problems: list[Problem] = field(default_factory=list)

    def split(self, picture: str) -> Split | None:
        """The split of a picture; one in two splits is in that of its folder, or in none."""
        by_path = {base.split_of(part) for part in picture.split("/")[:-1]} - {None}
        found = self.splits.get(picture, set()) if self.file else by_path
        if len(found) > 1:
            found = found & by_path
        return next(iter(found)) if len(found) == 1 else None


def recognise(tree: Tree) -> bool:
    """A data.yaml with names, or a label file whose lines are a class and fractions."""
    if tree.manifest and not _is_manifest(tree):
        return False
    if any(_describes(tree, name) for name in _configs(tree)):
        return True
    return any(_is_label(tree, name) for name in tree.label_texts())


def read(tree: Tree) -> Iterator[Found]:
    """The pictures in the order of their paths."""
    config = _config(tree)
    yield from config.problems
    yield Classes(tuple(config.names[index] for index in sorted(config.names)))
    names = naming.short(tree.pictures, splits=True)
    only = config.splits if tree.manifest else tree.pictures
    for picture in tree.pictures:
        if picture in only:
            yield from _read(tree, picture, names[picture], config)


def write(
    items: Iterable[Picture], folder: Path, classes: Sequence[str]
) -> Iterator[Written | Problem]:
    """images/SPLIT/, labels/SPLIT/ and data.yaml."""
    ids = {name: index for index, name in enumerate(classes)}
    stems = writing.Stems()
    used: set[str] = set()
    for picture in items:
        home = picture.split or naming.UNASSIGNED
        used.add(home)
        stem = stems.take(picture.name)
        writing.put(folder, f"images/{home}/{stem}{writing.ending(picture.name)}", picture.read())
        if picture.labelled:
            lines = [_line(box, ids[box.label], picture) for box in picture.boxes]
            writing.put(folder, f"labels/{home}/{stem}.txt", "".join(lines).encode())
        yield Written(picture.name, len(picture.boxes))
    writing.put(folder, CONFIG, _describe(used, classes).encode())


def _line(box: Box, index: int, picture: Picture) -> str:
    x, y = (box.x1 + box.x2) / 2 / picture.width, (box.y1 + box.y2) / 2 / picture.height
    width, height = (box.x2 - box.x1) / picture.width, (box.y2 - box.y1) / picture.height
    return f"{index} {x!r} {y!r} {width!r} {height!r}\n"


def _describe(used: set[str], classes: Sequence[str]) -> str:
    """The data.yaml; trainers want a train and a val, so pictures without a split serve as both."""
    homes = {split: f"images/{split}" for split in (*Split, naming.UNASSIGNED) if split in used}
    rest = homes.get(naming.UNASSIGNED)
    train = homes.get(Split.TRAIN) or rest or next(iter(homes.values()), "images")
    config: dict[str, Any] = {
        "train": train,
        "val": homes.get(Split.VAL) or homes.get(Split.TEST) or rest or train,
    }
    if Split.TEST in homes:
        config["test"] = homes[Split.TEST]
    if rest:
        config[naming.UNASSIGNED] = rest
    config["names"] = dict(enumerate(classes))
    return yaml.safe_dump(config, allow_unicode=True, sort_keys=False)


def _configs(tree: Tree) -> list[str]:
    if suffix(tree.manifest) in (".yaml", ".yml"):
        return [tree.manifest]
    return tree.named(".yaml", ".yml")


def _is_manifest(tree: Tree) -> bool:
    """Whether the file pointed at is a data.yaml or a list of pictures."""
    if suffix(tree.manifest) != ".txt":
        return suffix(tree.manifest) in (".yaml", ".yml")
    try:
        first = next(tree.lines(tree.manifest), (0, ""))[1]
    except Invalid:
        return False
    return suffix(first) in PICTURES


def _describes(tree: Tree, name: str) -> bool:
    try:
        return bool(_names_of(_load(tree, name)))
    except Invalid:
        return False


def _load(tree: Tree, name: str) -> dict[str, Any]:
    """A YAML file's mapping; empty where it is none."""
    text = tree.text(name)
    if len(text) > MOST_YAML:
        raise Invalid("it is too large for the description of a data set.")
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = str(error).replace("\n", " ")
        raise Invalid(f"it is not YAML: {problem}.") from error
    return loaded if isinstance(loaded, dict) else {}


def _names_of(loaded: Mapping[str, Any]) -> dict[int, str]:
    """The class names by number, from a list or a mapping."""
    found = loaded.get("names")
    pairs = found.items() if isinstance(found, dict) else enumerate(found or ())
    if not isinstance(found, dict | list):
        return {}
    return {
        int(key): str(name)
        for key, name in pairs
        if str(key).isdigit() and isinstance(name, str | int | float | bool)
    }


def _config(tree: Tree) -> _Config:
    config = _Config()
    for name in _configs(tree):
        try:
            loaded = _load(tree, name)
        except Invalid as error:
            config.problems.append(Problem(name, None, str(error)))
            continue
        config.names = _names_of(loaded)
        if config.names:
            config.file = name
            config.keypoints = "kpt_shape" in loaded
            _add_splits(tree, config, loaded)
            return config
    _plain_names(tree, config)
    if suffix(tree.manifest) == ".txt":
        config.file = tree.manifest
        split = base.split_of(PurePosixPath(tree.manifest).stem)
        _add_list(tree, config, tree.manifest, split)
    return config


def _plain_names(tree: Tree, config: _Config) -> None:
    """Names from a list, one a line, as darknet and labelImg keep them."""
    found = tree.named(*NAME_FILES)
    for name in found:
        if posixpath.basename(name).lower() in NAME_FILES:
            try:
                config.names = dict(enumerate(text for _, text in tree.lines(name)))
            except Invalid as error:
                config.problems.append(Problem(name, None, str(error)))
            else:
                return


def _add_splits(tree: Tree, config: _Config, loaded: Mapping[str, Any]) -> None:
    for key in ("train", "val", "valid", "test", naming.UNASSIGNED):
        entry = loaded.get(key)
        for place in entry if isinstance(entry, list) else [entry]:
            if isinstance(place, str) and place:
                path = str(loaded.get("path") or "")
                _add_place(tree, config, path, place.replace("\\", "/"), key)
    for picture, found in config.splits.items():
        if None in found:
            config.splits[picture] = set()


def _add_place(tree: Tree, config: _Config, path: str, place: str, key: str) -> None:
    home = posixpath.dirname(config.file)
    if place.endswith(".txt"):
        listed = tree.find(place, home, posixpath.join(home, path))
        if listed:
            _add_list(tree, config, listed, base.split_of(key))
        elif key != "test":
            reason = f"its list {place!r} is not in the source."
            config.problems.append(Problem(config.file, None, reason))
        return
    folder = _folder(tree, home, path, place)
    if folder is None:
        if key != "test":  # many a data.yaml names a test split that is not handed out
            reason = f"its folder {place!r} for {key!r} is not in the source."
            config.problems.append(Problem(config.file, None, reason))
        return
    for picture in tree.pictures:
        if not folder or picture.startswith(folder + "/"):
            config.splits.setdefault(picture, set()).add(base.split_of(key))


def _folder(tree: Tree, home: str, path: str, place: str) -> str | None:
    """The folder that a data.yaml means, also when it was written for another machine."""
    known = _all_folders(tree)
    for root in (posixpath.join(home, path), home, ""):
        exact = posixpath.normpath(posixpath.join(root, place))
        if exact in known:
            return exact
        if exact == ".":
            return ""
    parts = [part for part in PurePosixPath(place).parts if part not in ("/", "..", ".")]
    for start in range(len(parts)):
        ending = "/".join(parts[start:])
        found = [one for one in known if one == ending or one.endswith("/" + ending)]
        if found:
            return min(found, key=lambda one: (one.count("/"), one))
    return None


def _all_folders(tree: Tree) -> set[str]:
    found: set[str] = set()
    for name in {posixpath.dirname(picture) for picture in tree.pictures}:
        while name and name not in found:
            found.add(name)
            name = posixpath.dirname(name)
    return found


def _add_list(tree: Tree, config: _Config, name: str, split: Split | None) -> None:
    try:
        for line, text in tree.lines(name):
            picture = tree.find(text, posixpath.dirname(name))
            if suffix(picture) in PICTURES:
                config.splits.setdefault(picture, set()).add(split)
            else:
                reason = f"the picture {text[:200]!r} is not in the source."
                config.problems.append(Problem(name, line, reason))
    except Invalid as error:
        config.problems.append(Problem(name, None, str(error)))


def _labels_of(tree: Tree, picture: str) -> str:
    """The label file of a picture, '' where there is none."""
    stem = posixpath.splitext(picture)[0]
    parts = stem.split("/")
    for at in reversed(range(len(parts) - 1)):
        if parts[at].lower() in naming.FOLDERS:
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


def _read(tree: Tree, picture: str, name: str, config: _Config) -> Iterator[Item | Problem]:
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
        found = pictures.header(tree.files[picture], "its picture")
    except Invalid as error:
        raise Invalid(
            f"its boxes are fractions of a picture that cannot be read: {error}"
        ) from None
    return found.width, found.height


def _box(line: int, text: str, config: _Config, size: tuple[int, int]) -> Labelled | Problem:
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
