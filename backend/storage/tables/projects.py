"""The tables of projects, their classes, and choices of images."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import NEVER_AGAIN, Base
from backend.storage.types import Key, Moment, now


class ProjectRow(Base):
    __tablename__ = "project"
    __table_args__ = NEVER_AGAIN
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    task: Mapped[str] = mapped_column(String(20))
    created: Mapped[datetime] = mapped_column(default=now)
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    removed: Mapped[datetime | None] = mapped_column(Moment)
    # How often what its classes are called has changed: who knows it for this number, knows it.
    named: Mapped[int] = mapped_column(default=0, server_default="0")


class ClassRow(Base):
    """A kind of thing to find; one that was merged into another stays, for older revisions."""

    __tablename__ = "class"
    __table_args__ = NEVER_AGAIN
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    index: Mapped[int]
    name: Mapped[str] = mapped_column(String(200))
    color: Mapped[str] = mapped_column(String(9))
    hotkey: Mapped[str] = mapped_column(String(1), default="")
    severity: Mapped[int] = mapped_column(default=1)
    merged_into_id: Mapped[int | None] = mapped_column(ForeignKey("class.id"))
    retired: Mapped[datetime | None] = mapped_column(Moment)


class ClassNameRow(Base):
    """Every name a class has or had, so that older files and offline edits still find it."""

    __tablename__ = "class_name"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("class.id"), index=True)


class SelectionRow(Base):
    """Images that somebody chose, in the order of their ids; jobs and runs name it."""

    __tablename__ = "selection"
    __table_args__ = (Index("selection_by_digest", "project_id", "digest"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    digest: Mapped[str] = mapped_column(String(64))
    images: Mapped[list[Any]]
    at: Mapped[datetime] = mapped_column(default=now)
