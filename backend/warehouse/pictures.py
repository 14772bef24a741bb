"""Which pictures go into the warehouse with their bytes: those of a project, once it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import delete, func, or_, select

from backend.storage import engine
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import ImageRow, PictureRow
from backend.storage.writers import retries

PART = 2_000
# Bytes that one value may have: BINARY of Snowflake, unless a table asks for more; half of what a
# line of PostgreSQL's COPY holds, where a byte is two characters; what a row of SQLite holds.
LARGEST: Mapping[str, int] = {"snowflake": 8 << 20, "postgresql": 1 << 28, "sqlite": 999_000_000}


@dataclass(frozen=True, slots=True)
class Enlisted:
    """How many pictures there are now, how many are new, and the reasons of those left out."""

    pictures: int
    new: int
    left_out: Sequence[str]


def enlist(database: Database, files: Files, project_id: int, largest: int) -> Enlisted:
    """Have every picture of a project published; those that are gone from it go there, too."""
    with database.read.begin() as session:
        ours = select(ImageRow.id, ImageRow.name, ImageRow.sha256, PictureRow.sha256)
        ours = ours.outerjoin(PictureRow, PictureRow.image_id == ImageRow.id)
        mine = (ImageRow.project_id == project_id, ImageRow.deleted.is_(None))
        count = session.scalar(select(func.count()).select_from(ImageRow).where(*mine)) or 0
        # Those alone that are not as they were: asked again, it is a question of what is new.
        other = or_(PictureRow.sha256.is_(None), PictureRow.sha256 != ImageRow.sha256)
        rows = session.execute(ours.where(*mine, other).order_by(ImageRow.id)).all()
        gone = select(PictureRow.image_id).join(ImageRow, ImageRow.id == PictureRow.image_id)
        away = (ImageRow.project_id == project_id, ImageRow.deleted.is_not(None))
        old = list(session.scalars(gone.where(*away)))
    old += [id_ for id_, _, _, known in rows if known is not None]
    _strike(database, old)
    left: list[str] = []
    new = _write(database, _usable(rows, files, largest, left))
    return Enlisted(count - len(left), new, left)


def _usable(
    rows: Iterable[Any], files: Files, largest: int, left: list[str]
) -> Iterator[dict[str, Any]]:
    waiting = iter(rows)
    while part := list(islice(waiting, PART)):
        sizes = files.sizes([sha256 for _, _, sha256, _ in part])
        for (id_, name, sha256, _), size in zip(part, sizes, strict=True):
            if reason := _obstacle(size, sha256, largest):
                left.append(f"{name} {reason}")
            else:
                yield {"image_id": id_, "sha256": sha256}


def _obstacle(size: int | None, sha256: str, largest: int) -> str:
    if size is None:
        return f"stays: the file {sha256[:12]}… is not in the store any more."
    if size > largest:
        return (
            f"has {size:,} bytes, and a value of the warehouse holds {largest:,}; a stage takes it."
        )
    return ""


def _strike(database: Database, ids: Sequence[int]) -> None:
    for start in range(0, len(ids), PART):
        part = ids[start : start + PART]
        with retries.patient(database.write.begin)() as session:
            session.execute(delete(PictureRow).where(PictureRow.image_id.in_(part)))


def _write(database: Database, rows: Iterator[dict[str, Any]]) -> int:
    count = 0
    while part := list(islice(rows, PART)):
        with retries.patient(database.write.begin)() as session:
            ids = [one["image_id"] for one in part]
            # One that was purged a moment ago stays out.
            there = select(ImageRow.id).where(ImageRow.id.in_(ids)).with_for_update()
            here = set(session.scalars(there.order_by(ImageRow.id)))
            wanted = [one for one in part if one["image_id"] in here]
            count += len(engine.insert_new(session, PictureRow, wanted))
    return count
