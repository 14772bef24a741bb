"""The table of crops: pictures that were cut out of others, each with the box that it shows."""

from __future__ import annotations

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.storage.tables.base import Base
from backend.storage.types import Key


class CropRow(Base):
    """A picture that was cut out of another project's; both may go without the other.

    `class_id` is the class that the box had when the two were last alike; the corners are those of
    the piece in the source.
    """

    __tablename__ = "crop"
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), primary_key=True)
    source_id: Mapped[int] = mapped_column(Key, index=True)
    box_id: Mapped[str] = mapped_column(String(32))
    class_id: Mapped[int] = mapped_column(Key)
    x1: Mapped[int]
    y1: Mapped[int]
    x2: Mapped[int]
    y2: Mapped[int]
