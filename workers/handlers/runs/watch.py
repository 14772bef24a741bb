"""A watched folder: what arrives is looked at within a second, each file once, across restarts."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from backend import families
from backend.domain import RunImage
from backend.errors import LoupeError
from backend.jobs import kinds
from backend.models import choice
from backend.models.choice import Label
from backend.runs import detection, documents
from backend.words import many
from workers.context import Context
from workers.engine import chunks, decoding, setups, sources
from workers.engine.chunks import Work
from workers.engine.ledger import Ledger
from workers.engine.setups import Stores
from workers.engine.sources import SourcePicture
from workers.engine.work import ChunkWorker
from workers.goldens import lookalikes
from workers.goldens.lookalikes import Lookalikes
from workers.handlers.runs import detect

EVERY = 0.2  # seconds between looks into the folder
PATIENCE = 5.0  # seconds that an unreadable file is given to become whole
AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file as it stands in the folder; another size or time makes it another arrival."""

    path: str
    size: int
    changed: int

    @property
    def id(self) -> int:
        """The same number in every attempt."""
        text = f"{self.path}\0{self.size}\0{self.changed}"
        return int.from_bytes(hashlib.sha256(os.fsencode(text)).digest()[:7], "big")


def run(context: Context) -> Mapping[str, Any]:
    """Watch until the job is cancelled; an attempt after a crash goes on where it was."""
    request = cast("kinds.Watch", context.request)
    folder = Path(request.folder)
    stores = Stores(context.database, context.files, context.settings)
    with context.database.read() as session:
        chosen = choice.chosen_by(session, request)
    prepared = setups.prepare(stores, request.project_id, chosen, request.options)
    setup = setups.setup(stores, request.project_id, chosen, prepared, request.options)
    worker = ChunkWorker(setup)
    book = Ledger(context, (), ())
    book.open(detect.describe(context, chosen, prepared, setup, {"path": str(folder)}))
    Watcher(
        context, folder, request, worker, book,
        lambda: setups.labels(stores, request.project_id, chosen, prepared),
    ).go_on()  # fmt: skip
    return {}


class Watcher:
    """What was seen, and what is still being written."""

    def __init__(
        self,
        context: Context,
        folder: Path,
        request: kinds.Watch,
        worker: ChunkWorker,
        book: Ledger,
        labels: Callable[[], Sequence[Label]],
    ) -> None:
        self._context = context
        self._folder = folder
        self._out = Path(request.out) if request.out else None
        self._worker = worker
        self._book = book
        self._labels = labels
        self._growing: dict[str, Arrival] = {}
        self._broken: dict[int, float] = {}
        self._count = 0
        self._trouble = ""
        needs = families.find(request.family).needs_golden
        self._project = request.project_id if needs else None
        self._alike = Lookalikes(context.files, context.settings)

    def go_on(self) -> None:
        """Look into the folder again and again, also after it was away; the check ends it."""
        while True:
            self._context.progress(0.0, self._sentence())
            fresh = self._complete()
            if fresh:
                self._look(self._named(fresh[:AT_ONCE]))
            if len(fresh) <= AT_ONCE:
                time.sleep(EVERY)

    def _sentence(self) -> str:
        count = f"{many(self._count, 'picture')} since the start"
        if self._trouble:
            return f"Waiting for {self._folder}, which cannot be read ({self._trouble}): {count}"
        return f"Watching {self._folder}: {count}"

    def _complete(self) -> list[Arrival]:
        """Arrivals that have not changed since the last look, oldest first."""
        now = {a.path: a for a in self._listed() if not self._book.has(a.id)}
        still = [a for path, a in now.items() if self._growing.get(path) == a]
        self._growing = now
        return sorted(still, key=lambda arrival: (arrival.changed, arrival.path))

    def _listed(self) -> list[Arrival]:
        try:
            found = list(arrivals(self._folder))
        except OSError as error:
            self._trouble = error.strerror or "it does not answer"
            return []
        self._trouble = ""
        return found

    def _named(self, fresh: list[Arrival]) -> list[Arrival]:
        """Those whose names can be written; of the others it is said why they are left out."""
        items = [self._item(arrival) for arrival in fresh]
        self._count += self._book.set_aside(items)
        return [one for one, item in zip(fresh, items, strict=True) if not item.error]

    def _look(self, fresh: list[Arrival]) -> None:
        if not fresh:
            return
        items = [self._with_golden(self._item(arrival)) for arrival in fresh]
        work = (Work(i, item.source, item.golden) for i, item in enumerate(items))
        (chunk,) = chunks.cut(work, len(fresh))
        result = self._worker.look(chunk)
        self._book.relabel(self._labels())  # a watch may go on for months
        seen = [
            self._book.seen(items[one.index], one, result.worker)
            for one in result
            if one.status == chunks.Status.OK or self._gave_time(fresh[one.index])
        ]
        self._write_out(seen)
        self._book.keep(seen)
        self._count += len(seen)

    def _gave_time(self, arrival: Arrival) -> bool:
        """A slow writer may have paused in the middle of a picture."""
        first = self._broken.setdefault(arrival.id, time.monotonic())
        return time.monotonic() - first >= PATIENCE

    def _item(self, arrival: Arrival) -> SourcePicture:
        path = Path(arrival.path)
        name = path.relative_to(self._folder).as_posix()
        shown, error = sources.shown_name(name), sources.unnamed(name)
        return SourcePicture(arrival.id, shown, arrival.path, sources.digest(path), error=error)

    def _with_golden(self, item: SourcePicture) -> SourcePicture:
        """The picture with the project's golden that it fits, where the model needs one."""
        if self._project is None:
            return item
        try:
            data = decoding.read(item.source)
            small = lookalikes.small(decoding.decode(data, item.name, lookalikes.SIDE).pixels)
        except LoupeError:  # the look itself tells
            return item
        with self._context.database.read() as session:
            goldens = detection.goldens(session, self._project)
        best = self._alike.best(small, goldens)
        if best is None:
            return item
        place = self._context.files.location(best.sha256)
        return replace(item, golden=place, golden_sha256=best.sha256)

    def _write_out(self, seen: list[RunImage]) -> None:
        """A file of results for each picture, before its row says that it is done."""
        for image in seen if self._out else ():
            assert self._out is not None
            documents.keep(image, self._out)


def arrivals(folder: Path) -> Iterator[Arrival]:
    """Every picture file in the folder and below; a folder below that is gone holds none."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # taken away meanwhile
                yield from _arrived(entry)


def _arrived(entry: os.DirEntry[str]) -> Iterator[Arrival]:
    if entry.is_dir(follow_symlinks=False):
        yield from arrivals(Path(entry.path))
    elif Path(entry.name).suffix.lower() in sources.SUFFIXES and not entry.name.startswith("."):
        found = entry.stat()
        yield Arrival(entry.path, found.st_size, found.st_mtime_ns)
