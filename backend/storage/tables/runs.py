"""The tables of what models find."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import Base
from backend.storage.types import Key, Moment, now


class RunRow(Base):
    """One model over one set of images; its id is that of the job that made it."""

    __tablename__ = "run"
    id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    project_id: Mapped[int | None] = mapped_column(index=True)
    model_id: Mapped[int | None]
    model: Mapped[str] = mapped_column(String(200))
    family: Mapped[str] = mapped_column(String(40))
    weights: Mapped[str] = mapped_column(String(64), default="")
    runtime: Mapped[str] = mapped_column(String(40), default="")
    ledger_key: Mapped[str] = mapped_column(String(64), default="", index=True)
    purpose: Mapped[str] = mapped_column(String(20), default="detect")
    source: Mapped[dict[str, Any]] = mapped_column(default=dict)
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    author: Mapped[str] = mapped_column(String(100), default="")
    at: Mapped[datetime] = mapped_column("started_at", default=now)
    finished: Mapped[datetime | None] = mapped_column(Moment)
    images: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[float] = mapped_column(default=0.0)
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class RunImageRow(Base):
    """An image that a run has seen, also when nothing was found in it.

    `best` is its best score, `largest` the area of its largest detection: to sort by.
    """

    __tablename__ = "run_image"
    __table_args__ = (
        Index("run_image_by_doubt", "run_id", "status", "doubt", "image_id"),
        Index("run_image_by_name", "run_id", "status", "name", "image_id"),
        Index("run_image_by_best", "run_id", "status", "best", "image_id"),
        Index("run_image_by_largest", "run_id", "status", "largest", "image_id"),
        Index("run_image_by_count", "run_id", "status", "detection_count", "image_id"),
        Index("run_image_by_bytes", "sha256", "run_id"),
        {"sqlite_with_rowid": False},
    )
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(1000))
    sha256: Mapped[str] = mapped_column(String(64), default="")
    width: Mapped[int] = mapped_column(default=0)
    height: Mapped[int] = mapped_column(default=0)
    status: Mapped[str] = mapped_column(String(12))
    error: Mapped[str] = mapped_column(default="")
    milliseconds: Mapped[float] = mapped_column(default=0.0)
    worker: Mapped[str] = mapped_column(String(200), default="")
    detections: Mapped[int] = mapped_column("detection_count", default=0)
    doubt: Mapped[float] = mapped_column(default=0.0)
    best: Mapped[float] = mapped_column(default=0.0)
    largest: Mapped[float] = mapped_column(default=0.0)
    verdict: Mapped[str] = mapped_column(String(12), default="")
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class DetectionRow(Base):
    """A box that a run found; `label` is what its class was called then, or what none is called."""

    __tablename__ = "detection"
    __table_args__ = (
        Index("detection_by_class", "run_id", "class_id", "score"),
        {"sqlite_with_rowid": False},
    )
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    idx: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    class_id: Mapped[int | None]
    label: Mapped[str] = mapped_column(String(200))
    score: Mapped[float]
    x1: Mapped[float]
    y1: Mapped[float]
    x2: Mapped[float]
    y2: Mapped[float]
