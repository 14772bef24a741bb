"""Masks: pictures that tell of each pixel of another one what it is. None is a picture to label.

They are known by a folder or the end of a name, by lying beside a picture of the same name, and by
having few colours; where they are wanted, their parts become boxes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from backend.errors import Invalid
from backend.formats import mask_pixels, picture_names
from backend.formats.base import Found, Item, Labelled, Problem
from backend.formats.source import shelf
from backend.formats.source.tree import Tree

SAID, SKIP, INSTANCE, COLOUR = "", "skip", "instance", "colour"
CHOICES = (SKIP, INSTANCE, COLOUR)
FOLDERS = frozenset(
    f"{word}{more}"
    for word in ("mask", "seg", "segmentation", "label", "annotation", "trimap")
    for more in ("", "s")
) | {"segmentationclass", "segmentationobject", "ground_truth", "groundtruth", "gt"}
CLEAN = frozenset({"good", "ok", "clean", "normal", "no_defect"})  # classes of nothing to find
THING = "object"  # the class of what has no name
_END = re.compile(r"[ _.-](masks?|seg|segmentation|gt|labels?|trimap|labelids|instanceids)$", re.I)
_SAMPLED = 16


@dataclass(frozen=True, slots=True)
class Masks:
    """The masks of a source: those of each picture, tabs between them, and what there is of all."""

    of: shelf.Texts
    files: shelf.NameSet

    def without(self, tree: Tree) -> Tree:
        """The source as if they were not there."""
        if not self.files:
            return tree
        left = ((name, path) for name, path in tree.files.pairs() if name not in self.files)
        return replace(tree, files=shelf.Texts(left))

    def problem(self) -> Iterator[Problem]:
        """What is said where nobody has said what to do with them."""
        more = len(self.files) - 1
        if more < 0:
            return
        others = f" and {more:,} more of its kind" if more else ""
        reason = (
            f"no label was taken from it{others}: it is a mask of a picture beside it. The "
            "pictures that came in stay. To get boxes, import again, into a project of boxes, "
            f"with masks by {INSTANCE} (each value is a thing) or by {COLOUR} (each is a class); "
            f"{SKIP} leaves them out without a word."
        )
        yield Problem(next(iter(self.files)), None, reason)


def find(tree: Tree) -> Masks:
    """The masks that lie beside their pictures."""
    pairs: shelf.Texts = shelf.Texts()
    files = shelf.NameSet()
    if not tree.manifest:
        for name in tree.pictures:
            picture = _picture_of(tree, name) if _is_called_mask(name) else ""
            if picture:
                known = pairs.get(picture, "")
                pairs[picture] = f"{known}\t{name}" if known else name
                files.add(name)
    if not files or not _look_like_masks(tree, files):
        return Masks(shelf.Texts(), shelf.NameSet())
    return Masks(pairs, files)


def read(found: Iterable[Found], tree: Tree, masks: Masks, home: str, by: str) -> Iterator[Found]:
    """What a reader found, with the boxes that masks tell of pictures without any.

    `home` goes before the names of the reader's files; the class of a picture's folder becomes
    that of its boxes.
    """
    colours = mask_pixels.names_of_colours(tree)
    for one in found:
        if not isinstance(one, Item) or one.boxes or (one.labelled and not one.label):
            yield one
            continue
        names = masks.of.get(home + one.file, "").split("\t")
        if names == [""]:
            yield replace(one, label="", labelled=one.label.lower() in CLEAN)
            continue
        try:
            name = _wanted(names, by)
            boxes = _boxes(tree, name, by, one.label or THING, colours)
        except Invalid as error:
            yield Problem(names[0], None, str(error))
            yield replace(one, label="", labelled=False)
            continue
        yield replace(one, label="", labelled=True, boxes=boxes, label_file=name)


def check(by: str) -> None:
    """Refuse what is no way to read masks."""
    if by and by not in CHOICES:
        raise Invalid(f"Masks cannot be read by {by[:40]!r}; there are {', '.join(CHOICES)}.")


def _is_called_mask(name: str) -> bool:
    path = PurePosixPath(name)
    return any(part.lower() in FOLDERS for part in path.parts[:-1]) or bool(_END.search(path.stem))


def _picture_of(tree: Tree, mask: str) -> str:
    """The picture of the mask's name that lies in the likest folder; '' where none is it alone."""
    stem = PurePosixPath(mask).stem
    alike = {*tree.by_stem.get(stem), *tree.by_stem.get(_END.sub("", stem))}
    ranks = {one: _likeness(one, mask) for one in alike if not _is_called_mask(one)}
    best = [one for one, rank in ranks.items() if rank == max(ranks.values())]
    return best[0] if len(best) == 1 else ""


def _likeness(picture: str, mask: str) -> int:
    """How many folders, from the file up, both have; those that only say what they hold aside."""
    ours, theirs = _place(picture), _place(mask)
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
        common += 1
    return common


def _place(name: str) -> list[str]:
    said = FOLDERS | picture_names.FOLDERS
    return [part for part in reversed(name.split("/")[:-1]) if part.lower() not in said]


def _look_like_masks(tree: Tree, files: shelf.NameSet) -> bool:
    """Whether most of some, from all over the source, have few colours."""
    step = max(1, len(files) // _SAMPLED)
    votes = Counter(
        mask_pixels.is_mask(tree, name) for at, name in enumerate(files) if at % step == 0
    )
    return votes[True] > votes[False]


def _wanted(names: Sequence[str], by: str) -> str:
    """Of several masks of a picture the one of things, or that of classes."""
    of_things = [name for name in names if re.search("object|instance", name, re.IGNORECASE)]
    rest = [name for name in names if name not in of_things]
    return (of_things + rest if by == INSTANCE else rest + of_things)[0]


def _boxes(
    tree: Tree, name: str, by: str, label: str, colours: dict[int, str]
) -> tuple[Labelled, ...]:
    mask = mask_pixels.load(tree, name)
    if by == COLOUR:
        return mask_pixels.of_colours(mask, label, colours)
    return mask_pixels.of_instances(mask, label)
