"""The formats, one row each, and which of them a source is in."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from backend.errors import Invalid, Refused
from backend.formats import coco, deeppcb, folders, goldens, voc, yolo, yolo_config
from backend.formats.base import Problem, Write
from backend.formats.signs import Sign
from backend.formats.tree import Read, Tree, suffix, unwrapped

AUTO = "auto"
Descriptions = Callable[[Tree], Iterable[str]]
DESCRIBING = (".json", ".yaml", ".yml")
DEEPEST = 3  # how far below the root a data set may begin


@dataclass(frozen=True, slots=True)
class Format:
    """One row of FORMATS; `recognise` says how much a tree looks like it.

    `descriptions` are the JSON and YAML files that its reader takes into account.
    """

    name: str
    title: str
    read: Read
    write: Write
    recognise: Callable[[Tree], Sign]
    boxes: bool = True
    labels: bool = False
    descriptions: Descriptions = lambda _: ()


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
) -> Format:
    """A format that knows no goldens itself; they travel beside it."""
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
        ),
        _row(
            "coco",
            "COCO JSON",
            coco.read,
            coco.write,
            coco.recognise,
            descriptions=coco.descriptions,
        ),
        _row("voc", "Pascal VOC XML", voc.read, voc.write, voc.recognise),
        _row(
            "yolo",
            "YOLO text files",
            yolo.read,
            yolo.write,
            yolo.recognise,
            descriptions=yolo_config.descriptions,
        ),
        _row(
            "folders",
            "Plain pictures, or a folder a class",
            folders.read,
            folders.write,
            folders.recognise,
            boxes=False,
            labels=True,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a source in one format; `prefix` goes before the names of its pictures."""

    format: Format
    tree: Tree
    prefix: str = ""


def find(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise Invalid(f"There is no format {name!r}; there are {', '.join(FORMATS)} and {AUTO}.")
    return FORMATS[name]


def parts(tree: Tree, name: str = AUTO) -> list[Part]:
    """The source cut into data sets of one format each; mostly it is one."""
    wanted = None if name == AUTO else find(name)
    if not tree.pictures:
        raise Refused("The source holds no pictures.")
    if wanted and not wanted.recognise(tree):
        raise Refused(f"The source does not look like {wanted.title}; let Loupe find out: {AUTO}.")
    if wanted:
        return [Part(wanted, tree)]
    return list(_parts(tree, "", 0)) or [Part(FORMATS["folders"], tree)]


def unread(tree: Tree, cut: Sequence[Part]) -> Iterator[Problem]:
    """The JSON and YAML files that no part of the source takes into account, a line a kind."""
    every = [tree.manifest] if tree.manifest else tree.named(*DESCRIBING)
    read = {part.tree.prefix + name for part in cut for name in part.format.descriptions(part.tree)}
    left = (one for one in every if suffix(one) in DESCRIBING and tree.prefix + one not in read)
    titles = ", ".join(dict.fromkeys(part.format.title for part in cut))
    for _, names in itertools.groupby(sorted(left, key=suffix), suffix):
        first, *more = names
        others = f" and {len(more):,} more of its kind" if more else ""
        why = _why_no_text(tree, first) or f"the source was read as {titles}."
        yield Problem(first, None, f"no label was taken from it{others}: {why}")


def _why_no_text(tree: Tree, name: str) -> str:
    try:
        tree.text(name)
    except Invalid as error:
        return str(error)
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}."
    return ""


@dataclass(frozen=True, slots=True)
class _Seen:
    """The format that a tree shows most."""

    name: str
    sign: Sign


def _parts(tree: Tree, prefix: str, depth: int) -> Iterator[Part]:
    """The tree whole where it is one set; else what its folders are, if they differ."""
    here = _recognised(tree)
    inside = tree.parts() if depth < DEEPEST and not tree.manifest else {}
    if here and (len(inside) < 2 or _is_one_set(here, inside)):
        yield Part(FORMATS[here.name], tree, prefix)
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
