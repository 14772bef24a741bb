"""The tables of what the warehouse has and still lacks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import NEVER_AGAIN, Base, unique_where
from backend.storage.types import Key, Moment, now


class OutboxRow(Base):
    """A part of a kind that has changed since it was published; `taken` is the load that has it.

    The database itself writes these rows (backend.warehouse.outbox), so that no writer can forget.
    """

    __tablename__ = "outbox"
    __table_args__ = (Index("outbox_by_part", "kind", "head", "tail"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    head: Mapped[int] = mapped_column(BigInteger)
    tail: Mapped[int] = mapped_column(BigInteger)
    rows: Mapped[int] = mapped_column("row_count", BigInteger)
    gone: Mapped[bool]
    urgent: Mapped[bool]
    at: Mapped[datetime] = mapped_column(default=now)
    taken: Mapped[int | None] = mapped_column(BigInteger, index=True)


class PictureRow(Base):
    """A picture whose bytes are to be in the warehouse, because somebody has asked for it."""

    __tablename__ = "picture"
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64))


class LoadRow(Base):
    """A load of the warehouse: the ledger of what was published; its version is in each row of it.

    Only one runs; `beats` counts heartbeats. Where it is not `swept`, something may be left of it.
    """

    __tablename__ = "load"
    __table_args__ = (unique_where("load_running", "state = 'running'", "state"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    state: Mapped[str] = mapped_column(String(10))
    step: Mapped[str] = mapped_column(String(60), default="")
    holder: Mapped[str] = mapped_column(String(200))
    beats: Mapped[int] = mapped_column(default=0)
    version: Mapped[int] = mapped_column(BigInteger, default=0)
    started: Mapped[datetime] = mapped_column(default=now)
    finished: Mapped[datetime | None] = mapped_column(Moment)
    rows: Mapped[dict[str, Any]] = mapped_column("row_counts", default=dict)
    statements: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[float] = mapped_column(default=0.0)
    error: Mapped[str] = mapped_column(default="")
    swept: Mapped[bool] = mapped_column(default=True)
