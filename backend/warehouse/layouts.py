"""Which of our tables and views a warehouse has, and what of it has to be made or filled anew."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.storage.tables import PictureRow
from backend.warehouse.address import Address
from backend.warehouse.dialects import base
from backend.warehouse.shapes import RowKind
from backend.warehouse.tables import KINDS

Part = tuple[int, int]
Parts = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class PublishedLayout:
    """A place with the views and the columns of each kind that it has."""

    place: str
    views: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """As it is kept in the database."""
        return " ".join([self.place, self.views, *(f"{k}:{v}" for k, v in self.kinds.items())])

    def lacks(self, wanted: PublishedLayout) -> list[str]:
        """The kinds that are not known to be there as they are wanted."""
        return [
            name
            for name, told in wanted.kinds.items()
            if not self.has(name, wanted) or self.kinds[name] != told
        ]

    def has(self, name: str, wanted: PublishedLayout) -> bool:
        """Whether a kind is known to be there, with whichever columns; not of another place."""
        return self.place == wanted.place and name in self.kinds

    def only(self, there: Collection[str]) -> PublishedLayout:
        """What is left of it where only these tables are there; its views ask all of them."""
        left = {name: told for name, told in self.kinds.items() if KINDS[name].table in there}
        return self if left == dict(self.kinds) else replace(self, views="", kinds=left)


def of(address: Address) -> PublishedLayout:
    """What a warehouse ought to have."""
    kinds = {name: _named(_columns(kind)) for name, kind in KINDS.items()}
    shown = base.shown(address.dialect, ())
    return PublishedLayout(address.digest, _named(sorted(shown.items())), kinds)


def read(text: str) -> PublishedLayout:
    """What was noted of a warehouse."""
    place, _, rest = text.partition(" ")
    shown, _, kinds = rest.partition(" ")
    return PublishedLayout(
        place, shown, dict(one.split(":", 1) for one in kinds.split() if ":" in one)
    )


def different(here: Parts, there: Parts) -> dict[Part, int]:
    """The parts of a heavy kind that are not alike here and there, each with its rows here."""
    nothing = (0, 0)
    return {
        (part, 0): here.get(part, nothing)[1]
        for part in sorted({*here, *there})
        if here.get(part) != there.get(part)
    }


def pictures(session: Session) -> Iterator[Any]:
    """The pictures that are to be there, by their images."""
    query = select(PictureRow.image_id, PictureRow.sha256).order_by(PictureRow.image_id)
    return iter(session.execute(query.execution_options(yield_per=20_000)))


def parts(kind: RowKind, rows: Iterator[Any]) -> Parts:
    """What each part of a heavy kind has, as one number, and how many rows: little of many.

    The rows are the number and the hash of each, in order.
    """
    found = {}
    for part, group in groupby(rows, key=lambda row: int(row[0]) // kind.head.size):
        held = tuple((int(number), str(digest)) for number, digest in group)
        found[part] = (hash(held), len(held))
    return found


def _columns(kind: RowKind) -> Any:
    return [(column.name, column.type.value) for column in kind.all_columns]


def _named(told: Any) -> str:
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]
