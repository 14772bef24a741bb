"""Who asks, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a person may do: look; label and review; everything."""

    VIEWER = "viewer"
    LABELER = "labeler"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Person:
    """Who is asking."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Bearer(Person):
    """Who asks by a token, in a person's name: never more than that person may.

    `rank` is the role that the person has, `projects` the only ones that the token enters.
    """

    token: int = 0
    rank: Role = Role.VIEWER
    projects: frozenset[int] | None = None
