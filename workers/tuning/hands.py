"""Who carries out trials: hands that are given errands, heard, answered, and replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from workers.tuning.errands import Errand

Message = tuple[Any, ...]


class Lost(Exception):
    """A hand was gone when it was spoken to."""


class Hand(Protocol):
    """One that carries out an errand after the other; `name` is what it computes on."""

    @property
    def name(self) -> str:
        """As people call it."""
        ...

    def give(self, errand: Errand) -> None:
        """An errand; raises Lost."""
        ...

    def say(self, word: str) -> None:
        """The answer to an epoch; one that has just died hears nothing."""
        ...


class Hands(Protocol):
    """All of them, as many as there are at this moment."""

    def ready(self) -> Sequence[Hand]:
        """Those that could carry out something."""
        ...

    def heard(self) -> Iterator[tuple[Hand, Message | None]]:
        """What they have said after a moment; None of one that has died and is replaced."""
        ...

    def replace(self, hand: Hand) -> None:
        """One that has died."""
        ...

    def close(self) -> None:
        """End all of them, whatever they do."""
        ...
