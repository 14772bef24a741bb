"""A loader as a process of its own, that ends when all is published: `python -m tests.loader`."""

from __future__ import annotations

import sys

from backend import settings
from backend.storage import engine
from backend.warehouse import loading

if __name__ == "__main__":
    database = engine.connect(settings.current())
    sys.exit(0 if loading.run(database, settings.current()) else 1)
