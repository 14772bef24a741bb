"""The curves of a training as TensorBoard reads them, for who has set a folder for them."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backend.models import registry
from backend.projects import catalogue
from workers.context import Context

log = logging.getLogger(__name__)


class Board:
    """A file of curves; without a folder it takes none, and a folder that fails costs a line."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.writer: Any = None

    def epoch(self, epoch: int, figures: Mapping[str, float]) -> None:
        """A point of every curve, on the disk at once."""
        if self.folder is None:
            return
        from tensorboardX.proto.summary_pb2 import Summary

        points = [Summary.Value(tag=name, simple_value=value) for name, value in figures.items()]
        try:
            self._write(epoch, summary=Summary(value=points))
        except OSError as error:
            log.warning("TensorBoard's folder %s takes nothing: %s", self.folder, error.strerror)
            self.folder = None

    def close(self) -> None:
        """Nothing more is written."""
        if self.writer is not None:
            self.writer.close()

    def _write(self, epoch: int, **what: Any) -> None:
        """An attempt that goes on has a file of its own, which takes back what was told twice."""
        from tensorboardX import event_file_writer
        from tensorboardX.proto.event_pb2 import Event, SessionLog

        if self.writer is None:
            assert self.folder is not None
            self.folder.mkdir(parents=True, exist_ok=True)
            ours = f".{os.getpid()}.{time.time_ns()}"
            self.writer = event_file_writer.EventsWriter(str(self.folder / "events"), ours)
            self._write(epoch, session_log=SessionLog(status=SessionLog.START))
        self.writer.write_event(Event(wall_time=time.time(), step=epoch, **what))
        self.writer.flush()


@contextmanager
def opened(context: Context, model_id: int) -> Iterator[Board]:
    """The file of a model's training, in a folder by project and model."""
    root = context.settings.tensorboard_dir
    board = Board(_place(context, model_id, root) if root else None)
    try:
        yield board
    finally:
        board.close()


def _place(context: Context, model_id: int, root: Path) -> Path:
    with context.database.read() as session:
        model = registry.get(session, model_id)
        project = catalogue.get(session, model.project_id).name
    return root / project.replace("/", "-") / model.name
