"""The tables of images and of what people say of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.domain import State
from backend.storage.tables.base import NEVER_AGAIN, Base, unique_where
from backend.storage.types import Key, Moment, now


class ImageRow(Base):
    """A picture; `boxes` and `doubt` repeat what other tables say, for sorting.

    `facts` is what a table of boards says of it, `facet` the part by which projects are summed up.
    """

    __tablename__ = "image"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        Index("image_by_bytes", "project_id", "sha256"),
        Index("image_by_name", "project_id", "is_golden", "deleted", "name"),
        Index("image_by_state", "project_id", "is_golden", "deleted", "state", "name"),
        Index("image_by_boxes", "project_id", "is_golden", "deleted", "box_count", "name"),
        Index("image_by_group", "project_id", "group_name", "is_golden", "deleted", "name"),
        Index("image_by_doubt", "project_id", "is_golden", "deleted", "doubt", "name"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str] = mapped_column(String(1000))
    sha256: Mapped[str] = mapped_column(String(64))
    width: Mapped[int]
    height: Mapped[int]
    added: Mapped[datetime] = mapped_column(default=now)
    split: Mapped[str | None] = mapped_column(String(10))
    group: Mapped[str] = mapped_column("group_name", String(300), default="")
    golden_id: Mapped[int | None] = mapped_column(ForeignKey("image.id"), index=True)
    is_golden: Mapped[bool] = mapped_column(default=False)
    state: Mapped[str] = mapped_column(String(10), default=State.NEW)
    version: Mapped[int] = mapped_column(default=0)
    label_id: Mapped[int | None] = mapped_column(ForeignKey("class.id"))
    comment: Mapped[str] = mapped_column(default="")
    author: Mapped[str] = mapped_column(String(100), default="")
    boxes: Mapped[int] = mapped_column("box_count", default=0)
    doubt: Mapped[float | None]
    deleted: Mapped[datetime | None] = mapped_column(Moment)
    facts: Mapped[str] = mapped_column(Text, default="", server_default="")
    facet: Mapped[str] = mapped_column(String(1000), default="", server_default="")


class BoxRow(Base):
    """The boxes of the newest revision of each image."""

    __tablename__ = "box"
    __table_args__ = (Index("box_by_class", "class_id", "image_id"),)
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("class.id"))
    x1: Mapped[float]
    y1: Mapped[float]
    x2: Mapped[float]
    y2: Mapped[float]
    origin: Mapped[str] = mapped_column(String(10))
    author: Mapped[str] = mapped_column(String(100), default="")
    run_id: Mapped[int | None]
    run_image_id: Mapped[int | None]
    run_idx: Mapped[int | None]


class RevisionRow(Base):
    """All that was said of an image at one save; never changed, never deleted.

    `key` names the save as its sender knows it: sent twice, it is taken once.
    """

    __tablename__ = "revision"
    __table_args__ = (
        Index("revision_by_time", "at"),
        unique_where("revision_by_key", "key IS NOT NULL", "image_id", "key"),
    )
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    author: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime] = mapped_column(default=now)
    action: Mapped[str] = mapped_column(String(200), default="")
    state: Mapped[str] = mapped_column(String(10))
    label_id: Mapped[int | None]
    comment: Mapped[str] = mapped_column(default="")
    boxes: Mapped[list[Any]] = mapped_column(default=list)
    key: Mapped[str | None] = mapped_column(String(64))
