"""What a YOLO data set says of itself: class names, and which pictures belong to which split.

The files of the wild: data.yaml with folders, lists or paths of another machine; obj.names,
classes.txt and the like; or nothing but folders called train and val.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import yaml

from backend.domain import Split
from backend.errors import Invalid
from backend.formats import base, picture_names
from backend.formats.base import Problem
from backend.formats.source import shelf
from backend.formats.source.tree import PICTURES, Tree, suffix

NAME_FILES = ("obj.names", "classes.txt", "classes.names", "_darknet.labels", "labels.txt")
MOST_YAML = 4 * 1024 * 1024


@dataclass(slots=True)
class Config:
    """Class names, and the splits of pictures: by folder, and by what lists name."""

    file: str = ""
    names: dict[int, str] = field(default_factory=dict)
    folders: list[tuple[str, Split | None]] = field(default_factory=list)
    listed: shelf.Texts = field(default_factory=shelf.Texts)
    keypoints: bool = False
    problems: list[Problem] = field(default_factory=list)

    def split(self, picture: str) -> Split | None:
        """The split of a picture; one in two splits is in that of its folder, or in none."""
        by_path = {base.split_of(part) for part in picture.split("/")[:-1]} - {None}
        found = self._told(picture) if self.file else by_path
        if None in found:
            return None
        if len(found) > 1:
            found = found & by_path
        return next(iter(found)) if len(found) == 1 else None

    def names_picture(self, picture: str) -> bool:
        """Whether a folder or a list of the configuration holds this picture."""
        return bool(self._told(picture))

    def _told(self, picture: str) -> frozenset[Split | None]:
        found = {split for folder, split in self.folders if picture.startswith(folder)}
        listed = self.listed.get(picture, "").split()
        return frozenset(found.union(base.split_of(word) for word in listed))


def files(tree: Tree) -> list[str]:
    if suffix(tree.manifest) in (".yaml", ".yml"):
        return [tree.manifest]
    return tree.named(".yaml", ".yml")


def descriptions(tree: Tree) -> list[str]:
    """The first file with class names, and those without, which describe something else."""
    every = files(tree)
    named = [name for name in every if describes(tree, name)]
    return [name for name in every if name not in named[1:]]


def is_manifest(tree: Tree) -> bool:
    """Whether the file pointed at is a data.yaml or a list of pictures."""
    if suffix(tree.manifest) != ".txt":
        return suffix(tree.manifest) in (".yaml", ".yml")
    try:
        first = next(tree.lines(tree.manifest), (0, ""))[1]
    except Invalid:
        return False
    return suffix(first) in PICTURES


def describes(tree: Tree, name: str) -> bool:
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
        if str(key).isdecimal() and isinstance(name, str | int | float | bool)
    }


def read(tree: Tree) -> Config:
    config = Config()
    for name in files(tree):
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


def _plain_names(tree: Tree, config: Config) -> None:
    """Names from a list, one a line, as darknet and labelImg keep them."""
    for name in tree.called(*NAME_FILES):
        try:
            config.names = dict(enumerate(text for _, text in tree.lines(name)))
        except Invalid as error:
            config.problems.append(Problem(name, None, str(error)))
        else:
            return


def _add_splits(tree: Tree, config: Config, loaded: Mapping[str, Any]) -> None:
    for key in ("train", "val", "valid", "test", picture_names.UNASSIGNED):
        entry = loaded.get(key)
        for place in entry if isinstance(entry, list) else [entry]:
            if isinstance(place, str) and place:
                path = str(loaded.get("path") or "")
                _add_place(tree, config, path, place.replace("\\", "/"), key)


def _add_place(tree: Tree, config: Config, path: str, place: str, key: str) -> None:
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
    config.folders.append((f"{folder}/" if folder else "", base.split_of(key)))


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


def _add_list(tree: Tree, config: Config, name: str, split: Split | None) -> None:
    try:
        for line, text in tree.lines(name):
            picture = tree.find(text, posixpath.dirname(name))
            if suffix(picture) in PICTURES:
                told = config.listed.get(picture, "")
                config.listed[picture] = f"{told} {split or picture_names.UNASSIGNED}"
            else:
                reason = f"the picture {text[:200]!r} is not in the source."
                config.problems.append(Problem(name, line, reason))
    except Invalid as error:
        config.problems.append(Problem(name, None, str(error)))
