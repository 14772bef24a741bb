"""The tables of models, of what they learned from, and of how good they are."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.domain import ModelState
from backend.storage.tables.base import NEVER_AGAIN, Base, unique_where
from backend.storage.types import Key, now


class SnapshotRow(Base):
    """What a training learns from; `classes` are ids, in their order of that time."""

    __tablename__ = "snapshot"
    __table_args__ = NEVER_AGAIN
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    seed: Mapped[int]
    author: Mapped[str] = mapped_column(String(100), default="")
    at: Mapped[datetime] = mapped_column(default=now)
    classes: Mapped[list[Any]]
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class SnapshotImageRow(Base):
    __tablename__ = "snapshot_image"
    __table_args__ = (Index("snapshot_image_by_image", "image_id"),)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), primary_key=True)
    version: Mapped[int]
    split: Mapped[str] = mapped_column(String(10))
    group: Mapped[str] = mapped_column("group_name", String(300), default="")
    golden_id: Mapped[int | None]


class ModelRow(Base):
    """A model; `classes` are the names in its file, `class_ids` what each of them means."""

    __tablename__ = "model"
    __table_args__ = (
        UniqueConstraint("project_id", "number"),
        unique_where("model_champion", "champion", "project_id"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    number: Mapped[int]
    family: Mapped[str] = mapped_column(String(40))
    state: Mapped[str] = mapped_column(String(10), default=ModelState.TRAINING)
    champion: Mapped[bool] = mapped_column(default=False)
    at: Mapped[datetime] = mapped_column(default=now)
    author: Mapped[str] = mapped_column(String(100), default="")
    weights: Mapped[str] = mapped_column(String(64), default="")
    classes: Mapped[list[Any]]
    class_ids: Mapped[list[Any]] = mapped_column(default=list)
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    metrics: Mapped[dict[str, Any]] = mapped_column(default=dict)
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    snapshot_id: Mapped[int | None] = mapped_column(ForeignKey("snapshot.id"))
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("model.id"))
    job_id: Mapped[int | None]


class MetricRow(Base):
    """One figure of a measurement, named by its job; `class_id` is 0 for one over all classes."""

    __tablename__ = "metric"
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    class_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    model_id: Mapped[int | None] = mapped_column(ForeignKey("model.id"), index=True)
    split: Mapped[str] = mapped_column(String(10), default="")
    value: Mapped[float]
