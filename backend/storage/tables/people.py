"""The tables of people and of what the house itself remembers."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import Base
from backend.storage.types import now


class PersonRow(Base):
    __tablename__ = "person"
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    role: Mapped[str] = mapped_column(String(10))
    password: Mapped[str] = mapped_column(String(200))
    created: Mapped[datetime] = mapped_column(default=now)


class LoginRow(Base):
    """A browser in which somebody is logged in; `id` is the digest of what its cookie holds."""

    __tablename__ = "login"
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    person: Mapped[str] = mapped_column(ForeignKey("person.name"), index=True)
    began: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)
    address: Mapped[str] = mapped_column(String(100), default="")
    browser: Mapped[str] = mapped_column(String(200), default="")


class SettingRow(Base):
    """What the house itself must remember between starts, such as the key that signs cookies."""

    __tablename__ = "setting"
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    value: Mapped[str]
