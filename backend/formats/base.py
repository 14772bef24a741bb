"""What every format reads and writes: items with their boxes, and problems with file and line.

A reader is a generator over a `Tree` and yields what it finds as it meets it; a writer
takes items one by one. Neither holds more than one picture, so 100,000 pictures are no matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backend.domain import Box, Origin, Split

DECIMALS = 4  # no camera resolves a ten-thousandth of a pixel; it hides what floats leave behind
BACKGROUND = frozenset({"background", "__background__", "_background_"})
SPLITS = {
    "train": Split.TRAIN,
    "trainval": Split.TRAIN,
    "training": Split.TRAIN,
    "val": Split.VAL,
    "valid": Split.VAL,
    "validation": Split.VAL,
    "test": Split.TEST,
    "testing": Split.TEST,
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be used: which file, which line of it, and why."""

    file: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Classes:
    """The class names of a source in its own order, told before the items where it knows them.

    `of_images` tells that they are classes of whole images, though the first may have none.
    """

    names: tuple[str, ...]
    of_images: bool = False


@dataclass(frozen=True, slots=True)
class Labelled:
    """A box as its file tells it, not yet held against the picture, and where it stands."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: str
    line: int | None = None

    def box(self) -> Box:
        """The box as the project keeps it."""
        return Box(self.x1, self.y1, self.x2, self.y2, self.label, Origin.IMPORT)


@dataclass(frozen=True, slots=True)
class Item:
    """A picture and all that its source says of it.

    `labelled` tells a picture that was looked at and has nothing from one that nobody looked at;
    `size` is the picture's size according to the labels, (0, 0) where they do not say.
    """

    name: str
    read: Callable[[], bytes] = field(compare=False, repr=False)
    boxes: tuple[Labelled, ...] = ()
    labelled: bool = False
    label: str = ""
    split: Split | None = None
    group: str = ""
    golden: str = ""
    is_golden: bool = False
    file: str = ""
    label_file: str = ""
    size: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class OutgoingPicture:
    """A picture on its way out; `golden_read` gives the bytes of the golden it is held against.

    `number` is the image's own, which stays whatever comes and goes beside it; 0: it has none.
    `none` tells that somebody has found it to be of none of the classes.
    """

    name: str
    read: Callable[[], bytes] = field(compare=False, repr=False)
    width: int
    height: int
    boxes: tuple[Box, ...] = ()
    labelled: bool = False
    label: str = ""
    split: Split | None = None
    group: str = ""
    golden: str = ""
    golden_read: Callable[[], bytes] | None = field(default=None, compare=False, repr=False)
    is_golden: bool = False
    number: int = 0
    none: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A picture that a writer wrote, by its name in the project, and how many boxes with it."""

    name: str
    boxes: int
    is_golden: bool = False


Found = Item | Problem | Classes
Finding = Generator[Found, None, None]  # to be closed, so that no file stays open
Writing = Generator[Written | Problem, None, None]
Write = Callable[[Iterable[OutgoingPicture], Path, Sequence[str]], Writing]


def rounded(value: float) -> float:
    """A coordinate without what float arithmetic left in its last digits."""
    return round(value, DECIMALS) + 0.0


def number(coordinate: float) -> str:
    """A coordinate as text: whole where it is whole, and no digit lost."""
    value = rounded(coordinate)
    return str(int(value)) if value == math.floor(value) else repr(value)


def split_of(name: str) -> Split | None:
    """The split that a folder or list of that name stands for."""
    return SPLITS.get(name.lower())
