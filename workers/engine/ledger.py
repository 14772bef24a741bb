"""The ledger of a run: what is known already, what was seen now, each image written once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.domain import Run, RunImage
from backend.models.choice import Label
from backend.runs import detection
from backend.storage import engine, findings
from workers.context import Context
from workers.engine.answers import Reading
from workers.engine.chunks import ChunkResult, Looked, Status
from workers.engine.pace import RunMeter
from workers.engine.sources import SourcePicture

log = logging.getLogger(__name__)
AT_ONCE = 1000  # images in one transaction, at most about
EVERY = 0.8  # seconds between transactions while images come quickly
TRIES = 5
STATUS = {Status.OK: "ok", Status.UNREADABLE: "unreadable", Status.REFUSED: "refused"}


class Ledger:
    """Writes one run; all its transactions stand behind the job's fence."""

    def __init__(
        self,
        context: Context,
        labels: Sequence[Label],
        items: Sequence[SourcePicture],
        before: Mapping[str, float] | None = None,
    ) -> None:
        self._context = context
        self._labels = labels
        self._items = items
        self._done: set[int] = set()
        self._run: Run | None = None
        self._reading: Reading | None = None
        self._known = 0
        self.pace = RunMeter(len(items), before)

    def __len__(self) -> int:
        """How many images were asked for."""
        return len(self._items)

    def open(self, run: Run) -> None:
        """Make the run's row, or take up the one that an earlier attempt has made."""
        self._run = run
        self.relabel(self._labels)
        self._write(lambda session: findings.start(session, run))
        with self._context.database.read() as session:
            self._done = findings.seen(session, run.id)

    def relabel(self, labels: Sequence[Label]) -> None:
        """What the classes of the model are called from now on."""
        self._reading = Reading(self._opened.family, labels)

    def set_aside(self, items: Iterable[SourcePicture]) -> int:
        """Write those that cannot be looked at, each with its reason; says how many."""
        refused = [
            RunImage(item.image_id, item.name, status="unreadable", error=item.error)
            for item in items
            if item.error
        ]
        self.keep(refused)
        return len(refused)

    def take_known(self) -> None:
        """Copy what runs of the same model, runtime and settings saw in the same bytes."""
        for part in engine.batches(self.remaining(), AT_ONCE):
            hashes = {item.sha256 for _, item in part if item.sha256}
            with self._context.database.read() as session:
                found = findings.known(session, self._opened.ledger_key, hashes)
            images = [
                _again(item, found[item.sha256])
                for _, item in part
                if _is_same(item, found.get(item.sha256))
            ]
            self.keep(images)
            self._known += len(images)

    def has(self, image_id: int) -> bool:
        """Whether that image is written."""
        return image_id in self._done

    def remaining(self) -> list[tuple[int, SourcePicture]]:
        """The images not yet written, each with its place in the list."""
        return [(i, item) for i, item in enumerate(self._items) if item.image_id not in self._done]

    def follow(self, results: Iterable[ChunkResult]) -> None:
        """Write results as they come, a few chunks in one transaction."""
        self.pace.begin(len(self.remaining()))
        waiting: list[RunImage] = []
        written = time.monotonic()
        for result in results:
            self.pace.saw(result)
            waiting += [self.seen(self._items[one.index], one, result.worker) for one in result]
            if len(waiting) >= AT_ONCE or time.monotonic() - written >= EVERY:
                self._flush(waiting)
                waiting, written = [], time.monotonic()
        self._flush(waiting)

    def close(self) -> Mapping[str, Any]:
        """Say that the run is complete; gives what the job's result holds."""
        facts = {"known": self._known, **self.pace.facts()}
        run_id, seconds = self._opened.id, self.pace.seconds()
        with self._context.database.read() as session:
            counts = findings.counts(session, run_id)
        self._write(lambda session: findings.finish(session, run_id, seconds, facts, counts))
        return {"run": run_id, **counts[findings.COUNTED], "seconds": round(seconds, 2), **facts}

    @property
    def _opened(self) -> Run:
        assert self._run is not None
        return self._run

    def _flush(self, images: Sequence[RunImage]) -> None:
        began = time.perf_counter()
        self.keep(images)
        self.pace.wrote(time.perf_counter() - began)
        self._context.progress(*self.pace.progress())

    def keep(self, images: Sequence[RunImage]) -> None:
        """Write images that are not written yet, in one transaction."""
        if not images:
            return
        marked = findings.of_images(self._opened)
        doubts = {one.image_id: round(findings.doubt_of(one), 4) for one in images if marked}

        def write(session: Session) -> None:
            findings.record(session, self._opened.id, images)
            if marked:
                detection.mark(session, doubts)

        self._write(write)
        self._done.update(image.image_id for image in images)

    def _write(self, work: Callable[[Session], None]) -> None:
        """One transaction behind the fence; a database that others hold locked is asked again."""
        for remaining in reversed(range(TRIES)):
            try:
                self._once(work)
            except OperationalError as error:
                if not remaining or "locked" not in str(error):
                    raise
                log.warning("The database is locked by others; the write is tried again.")
                self._context.check()
            else:
                return

    def _once(self, work: Callable[[Session], None]) -> None:
        with self._context.database.write.begin() as session:
            self._context.fence(session)
            work(session)

    def seen(self, item: SourcePicture, one: Looked, worker: str) -> RunImage:
        """What is written of an image."""
        assert self._reading is not None
        found, told = self._reading.of(one.boxes)
        return RunImage(
            image_id=item.image_id,
            name=item.name,
            sha256=item.sha256,
            width=one.width,
            height=one.height,
            status=STATUS.get(one.status, "unreadable"),
            error=one.error,
            milliseconds=round(one.milliseconds, 2),
            worker=worker,
            detections=found,
            facts=_facts(item, one) | told,
        )


def _facts(item: SourcePicture, one: Looked) -> dict[str, Any]:
    """With which golden the image was compared, and how that lies on it."""
    if not item.golden_sha256:
        return {}
    return {"golden": item.golden_sha256, **({"lie": list(one.lie)} if one.lie else {})}


def _is_same(item: SourcePicture, found: RunImage | None) -> bool:
    """The same bytes give the same boxes, unless they are compared with another golden."""
    return found is not None and found.facts.get("golden", "") == item.golden_sha256


def _again(item: SourcePicture, found: RunImage) -> RunImage:
    return RunImage(
        image_id=item.image_id,
        name=item.name,
        sha256=item.sha256,
        width=found.width,
        height=found.height,
        worker="known",
        detections=found.detections,
        facts=found.facts,
    )
