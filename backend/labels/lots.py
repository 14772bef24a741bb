"""Where the pictures of a source stand: in the lots that it names, or in the one that is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from backend.errors import Invalid
from backend.formats.base import Found, Item, Problem
from backend.labels import images
from backend.labels.intake import Known

NONE = (
    f"its lot is named {images.NO_LOT!r}, which is what filters call the images of no lot; it and "
    "others like it have none."
)


@dataclass(slots=True)
class Lot:
    """The lot that somebody names for all that comes; without a name each picture has its own.

    `known` is what the project has under a name. A golden serves every lot and stands below none,
    except where an earlier lot has brought another one of its name.
    """

    name: str
    known: Callable[[str], Known | None]
    moved: dict[str, str] = field(default_factory=dict)
    told: bool = False

    def placed(self, found: Iterable[Found]) -> Iterator[Found]:
        """What was found, each picture in its lot."""
        for one in found:
            if isinstance(one, Item):
                yield from self._named(one)
            else:
                yield one

    def names(self, item: Item) -> tuple[str, ...]:
        """What a picture of the lot is called, and was before lots were folders."""
        if not self.name or item.is_golden:
            return (item.name,)
        return item.name, item.name.removeprefix(self._below(""))

    def before(self, item: Item, there: Mapping[str, Known]) -> Known | None:
        """What came into the lot before lots were folders, by the name of this picture."""
        old = there.get(self.names(item)[-1])
        return old if old and self.name and old.lot == self.name and not old.is_golden else None

    def _named(self, item: Item) -> Iterator[Found]:
        if self.name and not item.is_golden:
            yield replace(
                item,
                name=self._below(item.name),
                group=self.name,
                golden=self.moved.get(item.golden, item.golden),
            )
            return
        if item.group == images.NO_LOT:
            if not self.told:
                yield Problem(item.file, None, NONE)
            self.told, item = True, replace(item, group="")
        if self.name and self._is_another(item):
            self.moved[item.name] = self._below(item.name)
            item = replace(item, name=self.moved[item.name])
        yield item

    def _below(self, name: str) -> str:
        return f"{self.name}/{name}"

    def _is_another(self, golden: Item) -> bool:
        """Whether the project has another picture of a golden's name."""
        there = self.known(golden.name)
        try:
            return there is not None and not there.has(golden.read())
        except (Invalid, OSError):  # which is told when its turn comes
            return False
