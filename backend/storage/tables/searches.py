"""The tables of searches for better parameters, and of their trials."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.domain import TrialState
from backend.storage.tables.base import NEVER_AGAIN, Base
from backend.storage.types import Key, Moment, now


class SearchRow(Base):
    """What is searched and how long: at most so many trials (0: any number), so many hours (0).

    `method` is how values are chosen; `seconds` is how long its jobs have searched; `facts` is what
    came of it.
    """

    __tablename__ = "search"
    __table_args__ = NEVER_AGAIN
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), index=True)
    family: Mapped[str] = mapped_column(String(40))
    space: Mapped[str]
    method: Mapped[str] = mapped_column(String(10), default="random", server_default="random")
    start: Mapped[str] = mapped_column(default="")
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    seed: Mapped[int]
    trials: Mapped[int] = mapped_column("most_trials", default=0)
    hours: Mapped[float] = mapped_column("most_hours", default=0.0)
    seconds: Mapped[float] = mapped_column(default=0.0)
    stopping: Mapped[bool] = mapped_column(default=False)
    job_id: Mapped[int | None] = mapped_column(index=True)
    author: Mapped[str] = mapped_column(String(100), default="")
    at: Mapped[datetime] = mapped_column(default=now)
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class TrialRow(Base):
    """One set of parameters that a search tries; number 0 changes nothing.

    `parameters` are those of the space, `epochs` the figures of each epoch, `tries` how often it
    began since its last epoch. `weights` are kept of the best one and of number 0.
    """

    __tablename__ = "trial"
    __table_args__ = (
        Index("trial_by_state", "search_id", "state"),
        Index("trial_by_value", "search_id", "value"),
    )
    search_id: Mapped[int] = mapped_column(ForeignKey("search.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(String(10), default=TrialState.RUNNING)
    epochs: Mapped[list[Any]] = mapped_column(default=list)
    value: Mapped[float | None]
    device: Mapped[str] = mapped_column(String(100), default="")
    seconds: Mapped[float] = mapped_column(default=0.0)
    tries: Mapped[int] = mapped_column(default=0)
    stopping: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str] = mapped_column(default="")
    weights: Mapped[str] = mapped_column(String(64), default="")
    at: Mapped[datetime] = mapped_column(default=now)
    finished: Mapped[datetime | None] = mapped_column(Moment)
