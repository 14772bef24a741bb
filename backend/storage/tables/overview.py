"""The tables of what was added up of runs, so that an overview reads few rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import Base
from backend.storage.types import Key

QUICK: Any = {"sqlite_with_rowid": False}


class PartSumRow(Base):
    """Boards of a run that follow each other; `mark` names what they were added up from.

    `told` is what they have added to the sums of the run, to be taken away again, and `marked`
    says whether the boards behind its marks are kept.
    """

    __tablename__ = "part_sum"
    __table_args__ = QUICK
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    part: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    mark: Mapped[str] = mapped_column(String(64))
    marked: Mapped[bool] = mapped_column(default=False)
    told: Mapped[bytes] = mapped_column(default=b"")


class BoardSumRow(Base):
    """Boards of a run by lot, day and facet: what a table of boards says of them."""

    __tablename__ = "board_sum"
    __table_args__ = QUICK
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    group: Mapped[str] = mapped_column("group_name", String(300), primary_key=True)
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    facet: Mapped[str] = mapped_column(String(1000), primary_key=True, default="")
    passed: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    asked: Mapped[int] = mapped_column(default=0)
    said: Mapped[int] = mapped_column(default=0)
    labelled: Mapped[int] = mapped_column(default=0)


class ClassSumRow(Base):
    """Defects of a class on the boards of a run, by lot, day and facet.

    `class_id` 0 are all classes together, -1 is what is of no class, called `label`. `spread` are
    detections by score and defects by place, packed.
    """

    __tablename__ = "class_sum"
    __table_args__ = QUICK
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    group: Mapped[str] = mapped_column("group_name", String(300), primary_key=True)
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    class_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    label: Mapped[str] = mapped_column(String(200), primary_key=True)
    facet: Mapped[str] = mapped_column(String(1000), primary_key=True, default="")
    defects: Mapped[int] = mapped_column(default=0)
    boards: Mapped[int] = mapped_column(default=0)
    right: Mapped[int] = mapped_column("found", default=0)
    escapes: Mapped[int] = mapped_column(default=0)
    false_calls: Mapped[int] = mapped_column(default=0)
    spread: Mapped[bytes] = mapped_column(default=b"")


class BoardMarkRow(Base):
    """A board behind a mark of a plot that no other filter could find: a place, a mistake."""

    __tablename__ = "board_mark"
    __table_args__ = (Index("board_mark_by_part", "run_id", "part"), QUICK)
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    mark: Mapped[str] = mapped_column(String(12), primary_key=True)
    class_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    part: Mapped[int]
