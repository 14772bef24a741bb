"""The table of what a cluster benchmark has measured."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import Base
from backend.storage.types import now


class TurnRow(Base):
    """One configuration of a cluster benchmark, measured once; `error` says why it was not."""

    __tablename__ = "benchmark_turn"
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    work: Mapped[str]
    processes: Mapped[int] = mapped_column("process_count")
    nodes: Mapped[int] = mapped_column("node_count")
    repeat: Mapped[int] = mapped_column("repeated")
    figures: Mapped[dict[str, Any]] = mapped_column(default=dict)
    error: Mapped[str] = mapped_column(default="")
    at: Mapped[datetime] = mapped_column(default=now)
