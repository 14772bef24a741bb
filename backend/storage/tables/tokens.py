"""The tables of tokens, by which programs ask in a person's name, and of what they changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import NEVER_AGAIN, Base, unique_where
from backend.storage.types import Json, Key, Moment, now


class TokenRow(Base):
    """A token; of the secret only its digest is here.

    Without a `person` it is the owner's, where there are no accounts. `projects` are the only ones
    that it enters, by their ids; null: all that its person may. One that ended stays, as its uses
    name it; its name is free again.
    """

    __tablename__ = "token"
    __table_args__ = (unique_where("token_name", "ended IS NULL", "name"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    person: Mapped[str] = mapped_column(String(100), index=True)
    role: Mapped[str] = mapped_column(String(10))
    projects: Mapped[list[Any] | None] = mapped_column(Json)
    made: Mapped[datetime] = mapped_column(default=now)
    expires: Mapped[datetime | None] = mapped_column(Moment)
    seen: Mapped[datetime | None] = mapped_column(Moment)
    ended: Mapped[datetime | None] = mapped_column(Moment)


class TokenUseRow(Base):
    """Something that was changed by a token, in the transaction that changed it.

    What is sent again under its `idempotency_key` is answered as it was, not done again; `digest`
    is of what was sent.
    """

    __tablename__ = "token_use"
    __table_args__ = (UniqueConstraint("token_id", "idempotency_key"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    at: Mapped[datetime] = mapped_column(default=now)
    person: Mapped[str] = mapped_column(String(100))
    operation: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str]
    idempotency_key: Mapped[str | None] = mapped_column(String(100))
    digest: Mapped[str] = mapped_column(String(64))
    answer: Mapped[str | None]
