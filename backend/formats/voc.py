"""Pascal VOC: an XML file a picture, or its plain form, lines of `class x1 y1 x2 y2`.

Pictures are matched by stem, because `<filename>` often names another ending or another machine.
Corners are taken as they stand, without VOC's shift by one, as labelling tools write them.
"""

from __future__ import annotations

import functools
import itertools
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TextIO
from xml.sax.saxutils import escape

from backend.domain import Split
from backend.errors import Invalid
from backend.formats import base, picture_names, signs, voc_xml, writing
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
from backend.formats.source import numbers, shelf
from backend.formats.source.tree import Tree
from backend.formats.strange import text_signs
from backend.formats.voc_matching import Finder

CORNERS = ("xmin", "ymin", "xmax", "ymax")
CLEAN_BOARDS = "PCB_USED"  # where HRIPCB keeps its clean boards; 01_short_14.jpg belongs to 01.JPG
LABEL_MAP = "labelmap.txt"
UNASSIGNED = f"Main/{picture_names.UNASSIGNED}.txt"
_LIST = re.compile(r"(?:split_)?(train|val|test|trainval|unassigned)\.txt", re.IGNORECASE)
LISTS = [
    f"{start}{split}.txt"
    for start in ("", "split_")
    for split in ("train", "val", "test", "trainval", picture_names.UNASSIGNED)
]
_NUMBER = re.compile(r"[-+]?\.?[0-9]")
_PLAIN = re.compile(r"(?P<name>\S.*?)((?:\s+[-+\w.]+){4})(\s+difficult)?", re.ASCII)


def recognise(tree: Tree) -> Sign:
    """XML annotations, or text files of the plain form beside pictures of the same stem."""
    if tree.manifest and not _LIST.fullmatch(posixpath.basename(tree.manifest)):
        return Sign.NONE
    if any(_is_annotation(tree, name) for name in tree.named(".xml")[:20]):
        return Sign.FAINT if _are_fewer_than_texts(tree) else Sign.STRONG
    if tree.manifest:
        return Sign.NONE
    return signs.of_most(_is_plain(tree, name) for name in tree.label_texts())


def read(tree: Tree) -> Finding:
    """The clean boards, the pictures with annotations, then those without."""
    source = _Source(tree)
    yield from source.problems
    yield from _classes(tree)
    for picture in source.cleans.values():
        yield source.bare(picture, is_golden=True, group=PurePosixPath(picture).stem)
    for labels in _label_files(tree):
        yield from _labelled(source, labels)
    done = (source.finder.taken, source.finder.twins, source.cleans.values())
    for picture in tree.pictures:
        if not any(picture in one for one in done) and source.wanted(picture):
            yield source.bare(picture)


def write(pictures: Iterable[OutgoingPicture], folder: Path, classes: Sequence[str]) -> Writing:
    """JPEGImages/, Annotations/, labelmap.txt and ImageSets/Main/ with what has annotations."""
    writing.put(folder, LABEL_MAP, _label_map(classes).encode())
    with ExitStack() as stack:
        lists: dict[str, TextIO] = {}
        for picture in pictures:
            writing.put(folder, f"JPEGImages/{picture.name}", picture.read())
            stem = picture.name.removesuffix(writing.ending(picture.name))
            if picture.labelled:
                content = _annotation(picture).encode()
                writing.put(folder, f"Annotations/{stem}.xml", content)
            name = _list_of(picture)
            if name and name not in lists:
                path = folder / "ImageSets" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                lists[name] = stack.enter_context(path.open("w", encoding="utf-8"))
            if name:
                lists[name].write(f"{stem}\n")
            yield Written(picture.name, len(picture.boxes))
    if set(lists) == {UNASSIGNED}:
        _list_all(folder / "ImageSets")


def _classes(tree: Tree) -> Iterator[Classes | Problem]:
    """Those of a labelmap.txt, in its order, also where no box has one."""
    for name in tree.called(LABEL_MAP)[:1]:
        try:
            lines = [text for _, text in tree.lines(name) if not text.startswith("#")]
        except Invalid as error:
            yield Problem(name, None, str(error))
            return
        yield Classes(tuple(text.rsplit(":", 3)[0] for text in lines if text.count(":") >= 3))


def _list_of(picture: OutgoingPicture) -> str:
    """Loaders want an annotation for each line of Main/, so others are listed beside it."""
    if picture.labelled:
        return f"Main/{picture.split or picture_names.UNASSIGNED}.txt"
    return f"{picture.split}.txt" if picture.split else ""


def _list_all(lists: Path) -> None:
    """Loaders ask for a list of a known name; ours beside it says that it names no split."""
    (lists / UNASSIGNED).replace(lists / "Main" / "trainval.txt")
    shutil.copy(lists / "Main" / "trainval.txt", lists / f"{picture_names.UNASSIGNED}.txt")


def _label_map(classes: Sequence[str]) -> str:
    """The classes, as CVAT and datumaro want them told: `name:colour:parts:actions`."""
    return "# label:color_rgb:parts:actions\n" + "".join(f"{name}:::\n" for name in classes)


def _annotation(picture: OutgoingPicture) -> str:
    objects = "".join(
        f"  <object>\n    <name>{escape(box.label)}</name>\n    <bndbox>\n"
        + "".join(
            f"      <{corner}>{base.number(value)}</{corner}>\n"
            for corner, value in zip(CORNERS, (box.x1, box.y1, box.x2, box.y2), strict=True)
        )
        + "    </bndbox>\n  </object>\n"
        for box in picture.boxes
    )
    return (
        f"<annotation>\n  <filename>{escape(PurePosixPath(picture.name).name)}</filename>\n"
        f"  <size>\n    <width>{picture.width}</width>\n    <height>{picture.height}</height>\n"
        f"    <depth>3</depth>\n  </size>\n{objects}</annotation>\n"
    )


def _are_fewer_than_texts(tree: Tree) -> bool:
    """Whether text files label more pictures than the annotations do."""
    texts = sum(1 for _ in tree.beside_pictures(".txt"))
    return sum(name.lower().endswith(".xml") for name in tree.files) < texts


def _is_annotation(tree: Tree, name: str) -> bool:
    try:
        voc_xml.read(tree.bounded(name))
    except Invalid:
        return False
    return True


def _is_plain(tree: Tree, name: str) -> bool:
    try:
        first = next(tree.lines(name), None)
        return first is not None and not _NUMBER.match(first[1]) and bool(_plain(*first))
    except Invalid:
        return False


def _label_files(tree: Tree) -> Iterator[str]:
    xml = (name for name in tree.files if name.lower().endswith(".xml"))
    first = next(xml, "")
    yield from itertools.chain([first], xml) if first else tree.beside_pictures(".txt")


class _Source:
    """A tree, and what its lists and folders say of the pictures."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.names = picture_names.PictureNames(tree.pictures, splits=False)
        self.finder = Finder(tree)
        self.splits = shelf.Texts()
        self.problems: list[Problem] = []
        lists = [tree.manifest] if tree.manifest else tree.called(*LISTS)
        for name in lists:
            self._add_list(name)
        # HRIPCB's golden pictures by the number of their board
        self.cleans = {
            PurePosixPath(name).stem: name
            for name in tree.pictures
            if CLEAN_BOARDS in PurePosixPath(name).parts[:-1]
        }

    def _add_list(self, name: str) -> None:
        """Note the split of each stem that a list of ImageSets/ names."""
        match = _LIST.fullmatch(posixpath.basename(name))
        if not match:
            return
        split = base.split_of(match[1]) or ""
        try:
            for _, text in self.tree.lines(name):
                for word in {text, text.split()[0]}:
                    if match[1].lower() != "trainval" or word not in self.splits:
                        self.splits[word] = split
        except Invalid as error:
            self.problems.append(Problem(name, None, str(error)))

    def split(self, picture: str) -> Split | None:
        """The split of a picture, by its path, or by its last part where no other has that."""
        told = self._told(picture)
        return Split(told) if told else None

    def _told(self, picture: str) -> str | None:
        """The split that the lists give a picture; '' where they say that it has none."""
        if not self.splits:
            return None
        name = self.names[picture]
        stem = posixpath.splitext(name)[0]
        last = posixpath.basename(stem)
        another = any("/" not in self.names[one] for one in self.tree.by_stem.get(last))
        words = (name, stem) if last != stem and another else (name, stem, last)
        return next((self.splits[word] for word in words if word in self.splits), None)

    def wanted(self, picture: str) -> bool:
        """Whether the list that a person pointed at, if any, names this picture."""
        return not self.tree.manifest or self._told(picture) is not None

    def bare(self, picture: str, *, is_golden: bool = False, group: str = "") -> Item:
        """A picture without labels."""
        return Item(
            self.names[picture],
            functools.partial(self.tree.read, picture),
            split=None if is_golden else self.split(picture),
            group=group,
            is_golden=is_golden,
            file=picture,
        )


def _labelled(source: _Source, labels: str) -> Iterator[Item | Problem]:
    try:
        found, boxes, problems = _parse(source.tree, labels)
    except Invalid as error:
        yield Problem(labels, None, str(error))
        return
    picture = source.finder.find(labels, found.filename)
    if not picture:
        wanted = found.filename or PurePosixPath(labels).stem
        yield Problem(labels, None, f"its picture {wanted!r} is not in the source, or is taken.")
        return
    if not source.wanted(picture):
        return
    yield from problems
    board = posixpath.basename(picture).split("_")[0]
    clean = source.cleans.get(board, "")
    yield replace(
        source.bare(picture, group=board if clean else ""),
        boxes=boxes,
        labelled=True,
        golden=source.names[clean] if clean else "",
        label_file=labels,
        size=_size(found),
    )


def _parse(
    tree: Tree, labels: str
) -> tuple[voc_xml.Annotation, tuple[Labelled, ...], list[Problem]]:
    boxes: list[Labelled] = []
    problems: list[Problem] = []
    found = voc_xml.Annotation()
    if labels.lower().endswith(".xml"):
        found = voc_xml.read(tree.bounded(labels))
        read = [(one.line, functools.partial(_object, one)) for one in found.objects]
    else:
        read = [(line, functools.partial(_plain, line, text)) for line, text in tree.lines(labels)]
    for line, parse in read:
        try:
            boxes.append(parse())
        except Invalid as error:
            problems.append(Problem(labels, line, str(error)))
    return found, tuple(boxes), problems


def _object(found: voc_xml.Object) -> Labelled:
    missing = [corner for corner in CORNERS if not found.corners.get(corner)]
    if missing:
        raise Invalid(f"the box has no {', '.join(missing)}.")
    if not found.name:
        raise Invalid("the box names no class.")
    x1, y1, x2, y2 = numbers.floats([found.corners[corner] for corner in CORNERS])
    return Labelled(x1, y1, x2, y2, found.name, found.line)


def _plain(line: int, text: str) -> Labelled:
    match = _PLAIN.fullmatch(text)
    if not match or text_signs.is_kitti(text.split()):
        raise Invalid(f"{text[:80]!r} is not `class x1 y1 x2 y2`.")
    x1, y1, x2, y2 = numbers.floats(match[2].split())
    return Labelled(x1, y1, x2, y2, match["name"], line)


def _size(found: voc_xml.Annotation) -> tuple[int, int]:
    try:
        return int(float(found.width)), int(float(found.height))
    except (ValueError, OverflowError):
        return 0, 0
