"""The previews of large pictures, written as they come in: nobody waits for the first one."""

from __future__ import annotations

import threading

from PIL import Image

from backend.previews import previews, rendering
from backend.settings import Settings

GIGA = 1e9


class FirstLook:
    """Keeps what an import has decoded anyway, as long as the cache has room."""

    def __init__(self, settings: Settings) -> None:
        self._folder = previews.home(settings)
        self._lock = threading.Lock()
        self._room = settings.cache_gb * GIGA - previews.held(self._folder)

    def keep(self, name: str, small: Image.Image | None) -> None:
        """Write the preview of a picture, unless there is one or the cache is full."""
        target = previews.place(self._folder, name) / previews.PREVIEW_FILE
        if small is None or self._room <= 0 or target.exists():
            return
        written = rendering.write(small, target)
        with self._lock:
            self._room -= written
