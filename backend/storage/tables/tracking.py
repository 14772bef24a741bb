"""The tables of what is told to mlflow: a row a run, with how much of it was told already."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.domain import JobState
from backend.storage.tables.base import NEVER_AGAIN, Base, index_where
from backend.storage.types import Key, now

# Runs of which something may have to be told: few of very many, as most are trials that are over.
OPEN = "told < figure_count OR told_state <> state OR state = 'running'"


class TrackedRunRow(Base):
    """A run as mlflow is to know it; one with a job goes as that job goes.

    `mark` finds it in the store, `run` is the store's own name for it; `told` counts the job's
    events, or the run's figures, that the store has.
    """

    __tablename__ = "tracked_run"
    __table_args__ = (
        Index("ix_tracked_run_name", "project_id", "name"),
        index_where("tracked_run_open", OPEN, "id"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    job_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"), index=True)
    model_id: Mapped[int | None] = mapped_column(ForeignKey("model.id"), index=True)
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("tracked_run.id"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    mark: Mapped[str] = mapped_column(String(32))
    state: Mapped[str] = mapped_column(String(10), default=JobState.RUNNING)
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    tags: Mapped[dict[str, Any]] = mapped_column(default=dict)
    began: Mapped[datetime] = mapped_column(default=now)
    ended: Mapped[datetime | None]
    figures: Mapped[int] = mapped_column("figure_count", default=0)
    store: Mapped[str] = mapped_column(String(64), default="")
    run: Mapped[str] = mapped_column("store_run", String(64), default="")
    told: Mapped[int] = mapped_column(default=0)
    told_state: Mapped[str] = mapped_column(String(10), default="")
    registered: Mapped[str] = mapped_column(String(250), default="")
    version: Mapped[str] = mapped_column(String(20), default="")
    crowned: Mapped[bool] = mapped_column(default=False)
    holder: Mapped[str] = mapped_column(String(200), default="")
    error: Mapped[str] = mapped_column(default="")


class TrackedFigureRow(Base):
    """What a run without a job of its own measured, in the order in which it was told."""

    __tablename__ = "tracked_figure"
    tracked_run_id: Mapped[int] = mapped_column(ForeignKey("tracked_run.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)
    step: Mapped[int] = mapped_column(default=0)
    data: Mapped[dict[str, Any]] = mapped_column(default=dict)
