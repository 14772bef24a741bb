"""What a worker does with a chunk, the same in a process of this machine and in an actor."""

from __future__ import annotations

import importlib
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import LoupeError, Refused
from workers.engine import chunks, decoding, order
from workers.engine.chunks import Chunk, ChunkResult, Looked, Status
from workers.engine.tiles import Tiled
from workers.families.base import (
    NOTHING,
    STAGED,
    Answer,
    Detections,
    Laying,
    Lie,
    LoadedModel,
    Picture,
)

HELD = 256e6  # bytes of pixels, from which no picture more is decoded before these are looked at


@dataclass(frozen=True, slots=True)
class Setup:
    """How a worker gets its model, and how it looks at pictures; travels as a pickle.

    `loader` is "module:function"; it is called with `arguments` once, in the worker.
    `wanted` is the model's input size where pictures may be reduced while they are decoded,
    `tile` the side of the tiles in which large pictures are looked at. `batch` pictures go
    together; on cores, where a setup for a card may come to be used, it is `on_cores`.
    """

    loader: str
    arguments: tuple[Any, ...] = ()
    confidence: float = 0.25
    wanted: int = 0
    tile: int = 0
    batch: int = 1
    on_cores: int = 1
    megapixels: int = 200
    card: bool = False


@dataclass(slots=True)
class Clock:
    """Where the time goes."""

    decode: float = 0.0
    infer: float = 0.0


class ChunkWorker:
    """A loaded model and what it needs to answer chunks."""

    def __init__(self, setup: Setup) -> None:
        cv2.setNumThreads(1)
        self.setup = setup
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        self.model = load(setup)
        # Asked once: for every picture anew it would take longer than the suppression of boxes.
        self._laying = self.model if isinstance(self.model, Laying) else None
        self._backwards = True

    def look(self, chunk: Chunk) -> ChunkResult:
        """The boxes of every picture; one that fails says why and stops nothing."""
        clock = Clock()
        began = time.perf_counter()
        chunk = order.read_ahead(chunk)
        self._backwards = not self._backwards
        alone = self.setup.on_cores == 1  # together they all have one shape
        turns = order.alike(chunk, self._backwards) if alone else range(len(chunk))
        clock.decode += time.perf_counter() - began
        looked: dict[int, Looked] = {}
        began = time.perf_counter()
        for batch in self._batches(chunk, turns):
            looked |= zip(batch, self._answers(list(batch.values()), began, clock), strict=True)
            began = time.perf_counter()
        in_order = [looked[at] for at in range(len(chunk))]
        return chunks.pack(chunk.number, in_order, self.name, clock.decode, clock.infer)

    def _batches(self, chunk: Chunk, turns: Sequence[int]) -> Iterator[dict[int, Opened | Looked]]:
        """Decoded pictures by their places: as many as go together, fewer where they are large."""
        batch: dict[int, Opened | Looked] = {}
        held = 0
        for at in turns:
            batch[at] = one = self._open(chunk, at)
            held += one.picture.pixels.nbytes if isinstance(one, Opened) else 0
            if len(batch) >= self.setup.batch or held >= HELD:
                yield batch
                batch, held = {}, 0
        if batch:
            yield batch

    def _answers(
        self, opened: Sequence[Opened | Looked], began: float, clock: Clock
    ) -> list[Looked]:
        good = [one for one in opened if isinstance(one, Opened)]
        decoded = time.perf_counter()
        answers = iter(self._predict([one.picture for one in good]))
        done = time.perf_counter()
        clock.decode += decoded - began
        clock.infer += done - decoded
        each = (done - began) * 1000 / len(opened)
        return [
            self._answered(one, next(answers), each) if isinstance(one, Opened) else one
            for one in opened
        ]

    def _open(self, chunk: Chunk, at: int) -> Opened | Looked:
        index, source = chunk.indices[at], chunk.sources[at]
        golden = chunk.goldens[at] if chunk.goldens else ""
        try:
            decoded = self._decoded(source, chunk.carried)
            clean = self._decoded(golden, chunk.carried).pixels if golden else None
        except Refused as error:
            return Looked(index, status=Status.REFUSED, error=str(error))
        except LoupeError as error:
            return Looked(index, status=Status.UNREADABLE, error=str(error))
        picture = Picture(decoded.pixels, clean, _name(source))
        return Opened(index, picture, decoded.width, decoded.height)

    def _decoded(self, source: str, carried: Mapping[str, bytes]) -> decoding.Decoded:
        data = carried[source] if source in carried else decoding.read(source)
        return decoding.decode(data, _name(source), self.setup.wanted, self.setup.megapixels)

    def _predict(self, batch: Sequence[Picture]) -> Sequence[tuple[Answer, Lie]]:
        if not batch:
            return ()
        if self._laying is not None:
            return self._laying.laid(batch)
        return [(answer, ()) for answer in self.model.predict(batch)]

    def _answered(
        self, opened: Opened, answered: tuple[Answer, Lie], milliseconds: float
    ) -> Looked:
        answer, lie = answered
        width, height = opened.width, opened.height
        if isinstance(answer, Refused):
            reason = str(answer)
            return Looked(
                opened.index, NOTHING, Status.REFUSED, reason, milliseconds, width, height
            )
        sure = opened.full(self._sure(answer))
        return Looked(opened.index, sure, Status.OK, "", milliseconds, width, height, lie)

    def _sure(self, answer: Detections) -> Detections:
        """What counts; all of it where nothing is too unsure."""
        least = self.setup.confidence
        return answer[strongest(answer) >= least] if least > 0 else answer


@dataclass(frozen=True, slots=True)
class Opened:
    """A decoded picture and its true size."""

    index: int
    picture: Picture
    width: int
    height: int

    def full(self, boxes: Detections) -> Detections:
        """Boxes of the reduced pixels as boxes of the whole picture."""
        height, width = self.picture.pixels.shape[:2]
        if (width, height) == (self.width, self.height):
            return boxes
        across, down = self.width / width, self.height / height
        return np.asarray(boxes * np.array([across, down, across, down, 1, 1], np.float32))


def strongest(found: Detections) -> NDArray[np.float32]:
    """The score by which a row is kept: what a second stage turned down can still be looked at."""
    return np.asarray(found[:, [4, 6]].max(axis=1) if found.shape[1] == STAGED else found[:, 4])


def _name(source: str) -> str:
    return source.rpartition("/")[2]


def load(setup: Setup) -> LoadedModel:
    """Call the setup's loader."""
    module, _, function = setup.loader.partition(":")
    model: LoadedModel = getattr(importlib.import_module(module), function)(*setup.arguments)
    return Tiled(model, setup.tile) if setup.tile else model
