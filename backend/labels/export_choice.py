"""Which images of a project an export holds, which stay, and the split that each leaves with."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from backend.domain import Image, Split, State
from backend.errors import Invalid
from backend.labels import gallery
from backend.storage.tables import ImageRow

ALL = "all"
FILTERS = (
    "state", "split", "class", "group", "author", "golden", "proposals", "since", "until", "data",
    "text", "sort",
)  # fmt: skip
SOURCES = ("states", "splits", "filter", "images")
WHAT_IS_DONE = gallery.Filter(states=(State.DONE,))
ORDER = (Split.TRAIN, Split.VAL, Split.TEST)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What an export was asked to hold; without states, what is done.

    `images` are ids, None means all. `shares` of the images without a split go to train,
    validation and test.
    """

    chosen: gallery.Filter = WHAT_IS_DONE
    images: frozenset[int] | None = None
    shares: tuple[int, ...] = ()
    seed: int = 0

    @property
    def narrowed(self) -> bool:
        """Whether more than the state chooses among the images."""
        rest = replace(self.chosen, states=(), sort="name")
        return self.images is not None or rest != gallery.Filter()


@dataclass(slots=True)
class Leaving:
    """The images that leave: how many, with which splits, and how many of each state stay."""

    asked: ExportOptions
    where: ColumnElement[bool]
    total: int = 0
    stay: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    goldens: set[int] = field(default_factory=set)
    _given: dict[str, Split] = field(default_factory=dict)

    def takes(self, image: Image) -> bool:
        """Whether an image that fits the filter leaves; goldens go along where they are needed."""
        if image.is_golden:
            return not self.asked.narrowed or image.id in self.goldens
        return self.asked.images is None or image.id in self.asked.images

    def split(self, image: Image) -> Split | None:
        """The split that an image leaves with."""
        return image.split or self._given.get(_key(image.group, image.sha256))

    def count(self, session: Session, project_id: int) -> None:
        """Go through the images once."""
        among: dict[str, Counter[Split | None]] = {}
        for row in _rows(session, project_id, replace(self.asked.chosen, states=())):
            if self.asked.images is not None and row.id not in self.asked.images:
                continue
            if self.asked.chosen.states and row.state not in self.asked.chosen.states:
                self.stay[row.state] += 1
                continue
            self.total += 1
            self.goldens.update([row.golden_id] if row.golden_id else [])
            key = _key(row.group_name, row.sha256) if self.asked.shares else row.split or ""
            split = Split(row.split) if row.split else None
            among.setdefault(key, Counter())[split] += 1
        if self.asked.shares:
            self._given = _shared(among, self.asked.shares, self.asked.seed)
        for key, splits in among.items():
            for split, number in splits.items():
                self.splits[split or self._given.get(key) or gallery.NONE] += number


WITHOUT_MORE = ExportOptions()


def asked(
    source: Mapping[str, Any], shares: Sequence[int | float] = (), seed: int = 0
) -> ExportOptions:
    """Read what was asked.

    `source`: {} for what is done, {"states": [… or "all"]}, {"splits": […]}, {"images": ids},
    {"filter": "class=short&group=lot 7"}, as it stands in Browse's address; or several of them. A
    state of the filter stands before "all".
    """
    strange = sorted(set(source) - set(SOURCES))
    if strange:
        raise Invalid(f"An export cannot be asked for by {strange[0][:40]!r}.")
    pairs = _pairs(source.get("filter") or "")
    states = source.get("states") or ()
    pairs += [("state", value) for value in states if value != ALL]
    pairs += [("split", value) for value in source.get("splits") or ()]
    chosen = gallery.parse(pairs)
    if not chosen.states:
        chosen = replace(chosen, states=() if ALL in states else (State.DONE,))
    images = source.get("images")
    return ExportOptions(
        chosen, None if images is None else frozenset(images), _shares(shares), seed
    )


def choose(session: Session, project_id: int, wanted: ExportOptions) -> Leaving:
    """The images that leave."""
    leaving = Leaving(wanted, gallery.conditions(project_id, wanted.chosen))
    leaving.count(session, project_id)
    return leaving


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = parse_qsl(text.removeprefix("?"), keep_blank_values=True)
    strange = [name for name, value in pairs if name not in FILTERS or not value.isprintable()]
    if strange or not text.isprintable() or (text and not pairs):
        raise Invalid(
            f"{(strange or [text])[0][:40]!r} is no filter; write name=value, joined by &, "
            f"of {', '.join(FILTERS)}."
        )
    return pairs


def _shares(given: Sequence[int | float]) -> tuple[int, ...]:
    """Whole numbers of any sum, for train, validation and perhaps test."""
    if not given:
        return ()
    whole = all(isinstance(one, int) and 0 <= one <= 1000 for one in given)
    if not whole or not 2 <= len(given) <= len(ORDER) or not sum(given):
        raise Invalid(
            "Shares are two or three whole numbers for train, validation and test: 80,10,10."
        )
    return tuple(int(one) for one in given)


def _rows(session: Session, project_id: int, chosen: gallery.Filter) -> Iterable[Any]:
    row = ImageRow
    group = row.group.label("group_name")
    query = select(row.id, row.state, row.split, group, row.sha256, row.golden_id).where(
        gallery.conditions(project_id, chosen)
    )
    return session.execute(query.execution_options(yield_per=1000))


def _key(group: str, sha256: str) -> str:
    # Equal bytes under two names must not end up on two sides either.
    return f"group {group}" if group else sha256


def _shared(
    among: Mapping[str, Counter[Split | None]], shares: Sequence[int], seed: int
) -> dict[str, Split]:
    """A split for each group: that of its other images, else by the shares, in an order of lots."""
    given: dict[str, Split] = {}
    free: dict[str, int] = {}
    for key, splits in among.items():
        if any(splits):
            given[key] = max(filter(None, splits), key=lambda split: (splits[split], split))
        else:
            free[key] = splits[None]
    order = sorted(free, key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).digest())
    given.update(_cut([(key, free[key]) for key in order], shares))
    return given


def _cut(groups: Sequence[tuple[str, int]], shares: Sequence[int]) -> Iterator[tuple[str, Split]]:
    """Each group goes where its middle lies, when all images stand in a row."""
    images = sum(number for _, number in groups)
    before = 0
    for key, number in groups:
        middle = (before + number / 2) * sum(shares) / images
        ends = [sum(shares[: at + 1]) for at in range(len(shares))]
        yield key, ORDER[next(at for at, end in enumerate(ends) if middle <= end and shares[at])]
        before += number
