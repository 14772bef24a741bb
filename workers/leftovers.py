"""Files in the cache that browsers have sent or may fetch, removed when nobody needs them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from backend.domain import FINAL
from backend.errors import NotFound
from backend.jobs import claims, queue
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.types import now

EXPORTS_STAY = timedelta(days=7)
SENT_STAYS = timedelta(days=2)


def clear(database: Database, settings: Settings) -> None:
    """Remove old exports, and old uploads and tries that no open job names."""
    exports = list(_older(settings.exports, EXPORTS_STAY))
    sent = [*_older(settings.uploads, SENT_STAYS), *_older(settings.tries, SENT_STAYS)]
    if not exports and not sent:
        return
    with database.read() as session:
        named = [Path(path) for path in claims.named_paths(session)]
        gone = [path for path in exports if _has_ended(session, path.stem)]
    gone += [path for path in sent if not any(_is_at(one, path) for one in named)]
    for path in gone:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _older(folder: Path, stay: timedelta) -> Iterator[Path]:
    """What lies in a folder and has not changed for so long."""
    before = time.time() - stay.total_seconds()
    for path in folder.glob("*"):
        try:
            newest = max(one.stat().st_mtime for one in (path, *path.rglob("*")))
        except FileNotFoundError:
            continue  # it is in use: it goes, or comes, at this moment
        if newest < before:
            yield path


def _has_ended(session: Session, name: str) -> bool:
    """Whether the job of an export ended long ago, or is none that we know."""
    try:
        job = queue.get(session, int(name))
    except (NotFound, ValueError):
        return True
    return job.state in FINAL and (job.finished is None or job.finished < now() - EXPORTS_STAY)


def _is_at(named: Path, path: Path) -> bool:
    return named == path or path in named.parents
