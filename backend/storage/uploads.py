"""What browsers have sent and nobody has used yet: bounded, one by one and together."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import Counter
from pathlib import Path

from backend.errors import Refused, Unavailable

GIGA = 1e9
TOGETHER = 3  # times the bound of one upload
MOST_FILES = 400_000  # of one upload
LEAST_LEFT = GIGA  # bytes of the disk that uploads leave to all else
RECOUNT = 30.0


class Uploads:
    """The folder of uploads; each is a folder in it, named by its token."""

    def __init__(self, folder: Path, bound: float) -> None:
        self._folder = folder
        self._bound = bound
        self._lock = threading.Lock()
        self._bytes: Counter[str] = Counter()
        self._files: Counter[str] = Counter()
        self._counted = -RECOUNT

    def begin(self, token: str) -> None:
        """One more file comes; refused where the disk has no room for any."""
        with self._lock:
            self._count_anew()
            self._files[token] += 1
            if self._files[token] > MOST_FILES:
                raise Refused(f"One upload takes {MOST_FILES:,} files; pack them into an archive.")
        self.check_room()

    def check_room(self) -> None:
        """Refuse what would take the last of the disk."""
        if shutil.disk_usage(self._existing()).free < LEAST_LEFT:
            raise Unavailable(
                f"The disk has less than {LEAST_LEFT / GIGA:g} GB left, so nothing is taken in. "
                "Nothing that was saved is lost: make room and try again."
            )

    def take(self, token: str, size: int) -> None:
        """So many bytes of an upload come in."""
        with self._lock:
            self._bytes[token] += size
            if self._bytes[token] > self._bound:
                raise Refused(
                    f"This upload is larger than {self._bound / GIGA:g} GB (LOUPE_MAX_UPLOAD_GB); "
                    "import it in parts, or from a folder of the server."
                )
            if self._bytes.total() > TOGETHER * self._bound:
                raise Refused(
                    f"The uploads that wait are larger than {TOGETHER * self._bound / GIGA:g} GB "
                    "(three times LOUPE_MAX_UPLOAD_GB); wait until some of them are imported."
                )

    def _existing(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def _count_anew(self) -> None:
        """Imports take away what they have used."""
        if time.monotonic() < self._counted + RECOUNT:
            return
        self._counted = time.monotonic()
        self._bytes.clear()
        self._files.clear()
        for at, _, names in os.walk(self._folder):
            token = os.path.relpath(at, self._folder).partition(os.sep)[0]
            self._files[token] += len(names)
            self._bytes[token] += sum(_size(Path(at, name)) for name in names)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # an import has just used it
        return 0
