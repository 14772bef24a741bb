"""A row of the table: what may be asked, by whom, and the function that answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from sqlalchemy.orm import Session

from app.premises import Premises
from backend.domain import Person, Role
from backend.errors import Invalid

MOST = 500
LONGEST_CURSOR = 18  # digits: no database has larger numbers


@dataclass(frozen=True, slots=True)
class Desk:
    """What an operation works with: one transaction, in which the person who asks sees."""

    at: Premises
    session: Session
    person: Person


@dataclass(frozen=True, slots=True)
class Received:
    """A file that came with a request; gone again where the operation does not keep it."""

    path: Path
    sha256: str


class Asked(BaseModel):
    """What an operation is told; it knows no other fields."""

    model_config = ConfigDict(extra="forbid")


class Paged(Asked):
    """Which part of a list: what follows `after`, the cursor that the part before it gave."""

    after: str = Field("", max_length=LONGEST_CURSOR, description="`next` of the part before")
    limit: int = Field(100, ge=1, le=MOST)

    def number(self) -> int:
        """The number after which the part begins; 0: at the beginning."""
        if self.after and not (self.after.isascii() and self.after.isdecimal()):
            raise Invalid(f"{self.after!r} is no cursor; `next` of a list is one.")
        return int(self.after or 0)


@dataclass(frozen=True)
class Operation:
    """Something that may be asked.

    `work` takes a desk, the names in the `path`, and what is `asked`; one that `sends` a file takes
    the premises in place of a desk. Its docstring says what it does. What `takes_file` is given
    the body of the request as a file. The answer of a `long` one grows with the project. `example`
    is what somebody asks.
    """

    method: Literal["GET", "POST", "PUT"]
    path: str
    role: Role
    work: Callable[..., Any]
    example: Mapping[str, Any] = field(default_factory=dict)
    takes_file: bool = False
    long: bool = False
    sends: str = ""

    @property
    def name(self) -> str:
        return self.work.__name__.rstrip("_")

    @property
    def room(self) -> str:
        return self.work.__module__.rpartition(".")[2]

    @property
    def says(self) -> str:
        return inspect.getdoc(self.work) or ""

    @property
    def changes(self) -> bool:
        """Whether anything is another one afterwards."""
        return self.method != "GET"

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types of what `work` takes and answers."""
        return get_type_hints(self.work, include_extras=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The names in the path, with their types."""
        return {name: kind for name, kind in self.hints.items() if f"{{{name}}}" in self.path}

    @property
    def asked(self) -> type[Asked] | None:
        """What it is told besides."""
        found: type[Asked] | None = self.hints.get("asked")
        return found

    @cached_property
    def answer(self) -> TypeAdapter[Any]:
        """Writes what it answers."""
        kind: Any = self.hints["return"]
        return TypeAdapter(kind)
