"""The tables of what people say of what was found."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import NEVER_AGAIN, Base
from backend.storage.types import Key, Moment, now


class DecisionRow(Base):
    """What a person said of a detection; an undo is a decision too, and names what it undoes."""

    __tablename__ = "decision"
    __table_args__ = (
        Index("decision_by_image", "run_id", "image_id"),
        Index("decision_by_detection", "run_id", "idx", "image_id"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    run_id: Mapped[int]
    image_id: Mapped[int]
    idx: Mapped[int | None]
    verdict: Mapped[str] = mapped_column(String(20))
    author: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float] = mapped_column(default=0.0)
    box: Mapped[dict[str, Any]] = mapped_column(default=dict)
    undoes: Mapped[int | None]
    revision: Mapped[int | None]


class RepeatRow(Base):
    """A second, blind answer to an image of a run; complete when it has the board's verdict."""

    __tablename__ = "repeat"
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    author: Mapped[str] = mapped_column(String(100), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float] = mapped_column(default=0.0)
    verdict: Mapped[str] = mapped_column(String(20), default="")
    judged: Mapped[dict[str, Any]] = mapped_column(default=dict)


class LeaseRow(Base):
    """An image of a run that one person has before them; it ends by itself."""

    __tablename__ = "lease"
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    holder: Mapped[str] = mapped_column(String(100))
    author: Mapped[str] = mapped_column(String(100), default="")
    until: Mapped[datetime] = mapped_column(Moment)


class DoubtRow(Base):
    """A label that is likely wrong, or one that is likely missing, as a job has found it.

    `label` is the box in doubt, `found` what a model that did not learn from it says instead, each
    as revisions keep boxes; `version` is that of the image which was looked at, `revision` the one
    that mended it.
    """

    __tablename__ = "doubt"
    __table_args__ = (
        Index("doubt_by_certainty", "project_id", "answer", "certainty"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), index=True)
    job_id: Mapped[int]
    version: Mapped[int]
    kind: Mapped[str] = mapped_column(String(12))
    certainty: Mapped[float]
    label: Mapped[dict[str, Any]] = mapped_column(default=dict)
    found: Mapped[dict[str, Any]] = mapped_column(default=dict)
    answer: Mapped[str] = mapped_column(String(10), default="")
    author: Mapped[str] = mapped_column(String(100), default="")
    answered: Mapped[datetime | None] = mapped_column(Moment)
    revision: Mapped[int | None]


class DismissalRow(Base):
    """A doubt that a person found wrong: about these bytes at this place it is not raised again."""

    __tablename__ = "dismissal"
    __table_args__ = (Index("dismissal_by_bytes", "project_id", "sha256"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    sha256: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(12))
    label: Mapped[dict[str, Any]] = mapped_column(default=dict)
    found: Mapped[dict[str, Any]] = mapped_column(default=dict)
    author: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime] = mapped_column(default=now)
