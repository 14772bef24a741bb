"""The formats, one row each, and which of them a source is in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from backend.errors import Invalid, Refused
from backend.formats import (
    class_tables,
    coco,
    deeppcb,
    flat,
    folders,
    goldens,
    voc,
    yolo,
    yolo_config,
)
from backend.formats.base import Write
from backend.formats.signs import Sign
from backend.formats.source.tree import Read, Tree, unwrapped

AUTO = "auto"
Descriptions = Callable[[Tree], Iterable[str]]
DESCRIBING = (".json", ".yaml", ".yml")
DEEPEST = 3  # how far below the root a data set may begin


@dataclass(frozen=True, slots=True)
class Format:
    """One row of FORMATS; `recognise` says how much a tree looks like it.

    `descriptions` are the JSON, YAML and CSV files that its reader takes into account, `takes` the
    endings of label files of which it reads all.
    """

    name: str
    title: str
    read: Read
    write: Write
    recognise: Callable[[Tree], Sign]
    boxes: bool = True
    labels: bool = False
    descriptions: Descriptions = lambda _: ()
    takes: tuple[str, ...] = ()


def _row(
    name: str,
    title: str,
    read: Read,
    write: Write,
    recognise: Callable[[Tree], Sign],
    *,
    boxes: bool = True,
    labels: bool = False,
    descriptions: Descriptions = lambda _: (),
    takes: tuple[str, ...] = (),
    folders: bool = False,
) -> Format:
    """A format that knows no goldens itself; they travel beside it.

    `folders` tells whether its loaders find pictures in folders of any depth.
    """
    if not folders:
        read = functools.partial(flat.read_with, read)
        write = functools.partial(flat.write_with, write)
    with_goldens = functools.partial(goldens.read_with, read)
    return Format(
        name,
        title,
        with_goldens,
        functools.partial(goldens.write_with, write),
        recognise,
        boxes,
        labels,
        descriptions,
        takes,
    )


FORMATS = {
    row.name: row
    for row in (
        Format(
            "deeppcb",
            "DeepPCB: boards with their templates",
            deeppcb.read,
            deeppcb.write,
            deeppcb.recognise,
            takes=(".txt",),
        ),
        _row(
            "coco",
            "COCO JSON",
            coco.read,
            coco.write,
            coco.recognise,
            descriptions=coco.descriptions,
            folders=True,
        ),
        _row("voc", "Pascal VOC XML", voc.read, voc.write, voc.recognise, takes=(".xml", ".txt")),
        _row(
            "yolo",
            "YOLO text files",
            yolo.read,
            yolo.write,
            yolo.recognise,
            descriptions=yolo_config.descriptions,
            takes=(".txt",),
        ),
        _row(
            "folders",
            "Plain pictures, or a folder a class",
            folders.read,
            folders.write,
            folders.recognise,
            boxes=False,
            labels=True,
            descriptions=class_tables.files,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class DataSet:
    """A part of a source in one format; `prefix` goes before the names of its pictures."""

    format: Format
    tree: Tree
    prefix: str = ""


def find(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise Invalid(f"There is no format {name!r}; there are {', '.join(FORMATS)} and {AUTO}.")
    return FORMATS[name]


def parts(tree: Tree, name: str = AUTO) -> list[DataSet]:
    """The source cut into data sets of one format each; mostly it is one."""
    wanted = None if name == AUTO else find(name)
    if not tree.pictures:
        raise Refused("The source holds no pictures.")
    if wanted and not wanted.recognise(tree):
        raise Refused(f"The source does not look like {wanted.title}; let Loupe find out: {AUTO}.")
    if wanted:
        return [DataSet(wanted, tree)]
    return list(_parts(tree, "", 0)) or [DataSet(FORMATS["folders"], tree)]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The format that a tree shows most."""

    name: str
    sign: Sign


def _parts(tree: Tree, prefix: str, depth: int) -> Iterator[DataSet]:
    """The tree whole where it is one set; else what its folders are, if they differ."""
    here = _recognised(tree)
    inside = tree.parts() if depth < DEEPEST and not tree.manifest else {}
    if here and (len(inside) < 2 or _is_one_set(here, inside)):
        yield DataSet(FORMATS[here.name], tree, prefix)
        return
    for folder, one in inside.items():
        yield from _parts(unwrapped(one), f"{prefix}{folder}/", depth + 1)


def _is_one_set(here: _Seen, inside: Mapping[str, Tree]) -> bool:
    """Whether the folders agree; what describes all of them from above outweighs weak signs."""
    found = {_recognised(one) for one in inside.values()} - {None}
    if here.sign is Sign.STRONG and here not in found:
        found = {here, *(one for one in found if one and one.sign is Sign.STRONG)}
    return len({one.name for one in found if one}) < 2


def _recognised(tree: Tree) -> _Seen | None:
    """The format that shows most in this tree, or the first of them; plain folders are left."""
    best: _Seen | None = None
    for row in FORMATS.values():
        sign = row.recognise(tree) if row.name != "folders" else Sign.NONE
        if sign > (best.sign if best else Sign.NONE):
            best = _Seen(row.name, sign)
        if sign is Sign.STRONG:
            break
    return best
