"""An operation that is asked: in one transaction, and once a key where it changes something."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.edge import slashes
from app.operations import uploads
from app.operations.operation import Desk, Operation, Received
from app.premises import Premises
from backend.domain import Bearer
from backend.errors import Denied
from backend.projects import tokens

FILE = "file"


@dataclass(frozen=True, slots=True)
class Call:
    """An operation with all that it is told; `key` is the one under which it counts once."""

    operation: Operation
    at: Premises
    given: Mapping[str, Any]
    key: str = ""

    def read(self) -> str:
        """The answer, as JSON, of what changes nothing."""
        with self.at.read() as session:
            return self._answer(session)

    def change(self) -> tuple[str, bool]:
        """The answer, and whether it was given before to what was sent under the same key."""
        bearer, digest = self._bearer(), self._digest()
        with uploads.dropped_unless_kept(self.given.get(FILE)):
            try:
                told = self._once(bearer, digest)
            except IntegrityError:
                # The same key was sent at the same time, and what it asked for is done by now.
                before = self._before(bearer, digest)
                if before is None:
                    raise
                return before
        return told

    def _once(self, bearer: Bearer, digest: str) -> tuple[str, bool]:
        name, key = self.operation.name, self.key
        with self.at.write() as session:
            before = tokens.earlier(session, bearer, key, digest)
            if before is not None:
                uploads.drop(self.given.get(FILE))
                return before, True
            use = tokens.used(session, bearer, name, self._subject(), key, digest)
            answer = self._answer(session)
            use.answer = answer if key else None
            return answer, False

    def _before(self, bearer: Bearer, digest: str) -> tuple[str, bool] | None:
        with self.at.read() as session:
            before = tokens.earlier(session, bearer, self.key, digest)
        if before is None:
            return None
        uploads.drop(self.given.get(FILE))
        return before, True

    def _answer(self, session: Session) -> str:
        told = self.operation.work(Desk(self.at, session, self._bearer()), **self.given)
        return self.operation.answer.dump_json(told).decode()

    def _bearer(self) -> Bearer:
        if not isinstance(self.at.asker, Bearer):
            raise Denied("Only a token may ask this.")
        return self.at.asker

    def _subject(self) -> str:
        """What it is about, as the address has it; what is made is called as it was asked for."""
        named = {name: str(self.given[name]) for name in self.operation.parameters}
        if not named and (called := getattr(self.given.get("asked"), "name", "")):
            named = {"name": called}
        return ", ".join(f"{name} {slashes.name(value)}" for name, value in named.items())

    def _digest(self) -> str:
        """Of all that was sent."""
        told = {name: _plain(value) for name, value in self.given.items()}
        whole = json.dumps([self.operation.name, told], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return value.sha256 if isinstance(value, Received) else value
