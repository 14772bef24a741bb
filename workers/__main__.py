"""The worker process: `python -m workers`; ends gently on SIGTERM, SIGINT or its parent's death."""

from __future__ import annotations

import argparse
import logging
import os
import signal
from threading import Event, Thread

from backend import settings as all_settings
from backend.errors import LoupeError
from backend.storage import engine
from workers.loop import Worker


def main() -> None:
    """Work until told to stop."""
    arguments = _parse()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("workers").setLevel(logging.INFO)
    stopping = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    if arguments.parent is not None:
        Thread(target=_follow, args=(arguments.parent, stopping), daemon=True).start()
    try:
        settings = all_settings.current()
        database = engine.connect(settings)
    except LoupeError as error:
        raise SystemExit(str(error)) from error
    Worker(database, settings, stopping=stopping).run()
    database.close()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workers", description=__doc__)
    parser.add_argument("--parent", type=int, help="a descriptor whose other end the parent holds")
    return parser.parse_args()


def _follow(descriptor: int, stopping: Event) -> None:
    """The parent's end of the pipe closes when it dies, however it dies."""
    os.read(descriptor, 1)
    stopping.set()


if __name__ == "__main__":
    main()
