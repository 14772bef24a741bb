"""What the columns of a table of pictures or labels mean, told by their names or by a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from backend.errors import Invalid


class ColumnRole(StrEnum):
    """What a column holds; a person gives a role a column as `file=NAME`."""

    FILE = "file"
    IMAGE = "image"
    CLASS = "class"
    X1 = "x1"
    Y1 = "y1"
    X2 = "x2"
    Y2 = "y2"
    TEXT = "text"
    SPLIT = "split"
    LOT = "lot"
    GOLDEN = "golden"
    IS_GOLDEN = "is_golden"
    LABELLED = "labelled"


CORNERS = (ColumnRole.X1, ColumnRole.Y1, ColumnRole.X2, ColumnRole.Y2)
# As tables of this trade call them, the likeliest name first.
NAMES: Mapping[ColumnRole, Sequence[str]] = {
    ColumnRole.FILE: ("FILENAME", "FILE_NAME", "IMAGE_NAME", "NAME"),
    ColumnRole.IMAGE: ("IMAGE_DATA", "IMAGE_BYTES", "IMAGE_BASE64", "IMAGE"),
    ColumnRole.CLASS: ("CLASS", "CLASS_NAME", "LABEL"),
    ColumnRole.X1: ("XMIN", "X1"),
    ColumnRole.Y1: ("YMIN", "Y1"),
    ColumnRole.X2: ("XMAX", "X2"),
    ColumnRole.Y2: ("YMAX", "Y2"),
    ColumnRole.TEXT: ("LABEL_TEXT", "LABELS"),
    ColumnRole.SPLIT: ("SPLIT",),
    ColumnRole.LOT: ("LOT",),
    ColumnRole.GOLDEN: ("GOLDEN",),
    ColumnRole.IS_GOLDEN: ("IS_GOLDEN",),
    ColumnRole.LABELLED: ("LABELLED",),
}


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Which column has which role."""

    columns: Mapping[ColumnRole, str] = field(default_factory=dict)

    @property
    def has_boxes(self) -> bool:
        """Whether a row is a box."""
        return all(one in self.columns for one in CORNERS)

    @property
    def has_labels(self) -> bool:
        """Whether rows say anything of their pictures."""
        return self.has_boxes or ColumnRole.TEXT in self.columns or ColumnRole.CLASS in self.columns


def read(there: Sequence[str], said: Mapping[str, str]) -> TableLayout:
    """The roles of a table's columns; what somebody has said goes before what names tell."""
    found = {role: called(there, names) for role, names in NAMES.items()}
    found |= {_role(role): column(there, name) for role, name in said.items()}
    columns = {role: name for role, name in found.items() if name}
    shown = ", ".join(there)
    if ColumnRole.FILE not in columns:
        raise Invalid(f"None of the columns {shown} is a file name; say which: file=COLUMN.")
    boxes = [one for one in CORNERS if one in columns]
    if boxes and len(boxes) < len(CORNERS):
        lost = ", ".join(f"{one}=COLUMN" for one in CORNERS if one not in columns)
        raise Invalid(f"The columns {shown} have no whole box; say where its corners are: {lost}.")
    layout = TableLayout(columns)
    if ColumnRole.IMAGE not in columns and not layout.has_labels:
        raise Invalid(
            f"None of the columns {shown} is a picture, a box, a class or a text of labels; say "
            "which: image=COLUMN, x1=COLUMN, …"
        )
    return layout


def said(text: str, what: str) -> dict[str, str]:
    """What somebody has written as NAME=VALUE,NAME=VALUE."""
    pairs = [one.partition("=") for one in text.split(",") if one]
    if not all(mark and name.strip() and value for name, mark, value in pairs):
        raise Invalid(f"{text[:80]!r} says no {what}; write NAME=VALUE,NAME=VALUE.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def called(there: Sequence[str], names: Sequence[str]) -> str:
    """The first of these names that a column has, in capitals or not."""
    folded = {name.upper(): name for name in reversed(there)}
    return next((folded[name] for name in names if name in folded), "")


def _role(name: str) -> ColumnRole:
    try:
        return ColumnRole(name)
    except ValueError:
        raise Invalid(
            f"There is no column for {name[:40]!r}; there are {', '.join(ColumnRole)}."
        ) from None


def column(there: Sequence[str], name: str) -> str:
    """The column that somebody means."""
    found = name if name in there else called(there, [name.upper()])
    if not found:
        raise Invalid(f"The table has no column {name[:80]}; it has {', '.join(there)}.")
    return found
