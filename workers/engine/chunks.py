"""What travels between the driver and its workers: a chunk of pictures out, packed boxes back."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from workers.families.base import NOTHING, Detections, Lie


class Status(IntEnum):
    """What became of a picture: looked at; not decodable; not accepted; it killed its worker."""

    OK = 0
    UNREADABLE = 1
    REFUSED = 2
    CRASHED = 3


@dataclass(frozen=True, slots=True)
class Work:
    """One picture to look at: a path or URL, and its golden's where the model wants one."""

    index: int
    source: str
    golden: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pictures that travel together, as columns because they are pickled by the thousand.

    `carried` holds the bytes of sources that the worker cannot read by itself, or need not.
    """

    number: int
    indices: tuple[int, ...]
    sources: tuple[str, ...]
    goldens: tuple[str, ...] = ()
    carried: Mapping[str, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.indices)

    def singles(self, number: int) -> Iterator[Chunk]:
        """A chunk for each picture, numbered downwards from `number`."""
        for i, index in enumerate(self.indices):
            yield Chunk(number - i, (index,), self.sources[i : i + 1], self.goldens[i : i + 1])


@dataclass(frozen=True, slots=True)
class Looked:
    """What one picture gave."""

    index: int
    boxes: Detections = field(default_factory=lambda: NOTHING)
    status: Status = Status.OK
    error: str = ""
    milliseconds: float = 0.0
    width: int = 0
    height: int = 0
    lie: Lie = ()


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """What a chunk gave, as columns; `boxes` holds `counts[i]` rows for the i-th picture."""

    number: int
    indices: NDArray[np.int64]
    status: NDArray[np.uint8]
    counts: NDArray[np.int32]
    boxes: Detections
    milliseconds: NDArray[np.float32]
    sizes: NDArray[np.int32]
    errors: Mapping[int, str]
    worker: str = ""
    decode_seconds: float = 0.0
    infer_seconds: float = 0.0
    lies: Mapping[int, Lie] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[Looked]:
        begin = 0
        columns = (self.indices, self.status, self.counts, self.milliseconds, self.sizes)
        told = zip(*(column.tolist() for column in columns), strict=True)
        for index, status, count, milliseconds, (width, height) in told:
            yield Looked(
                index,
                self.boxes[begin : begin + count],
                Status(status),
                self.errors.get(index, ""),
                milliseconds,
                width,
                height,
                self.lies.get(index, ()),
            )
            begin += count


def pack(
    number: int,
    looked: Sequence[Looked],
    worker: str = "",
    decode_seconds: float = 0.0,
    infer_seconds: float = 0.0,
) -> ChunkResult:
    """Pictures' results as columns."""
    boxes = [one.boxes for one in looked if len(one.boxes)]
    return ChunkResult(
        number,
        np.array([one.index for one in looked], np.int64),
        np.array([one.status for one in looked], np.uint8),
        np.array([len(one.boxes) for one in looked], np.int32),
        np.concatenate(boxes).astype(np.float32, copy=False) if boxes else NOTHING,
        np.array([one.milliseconds for one in looked], np.float32),
        np.array([(one.width, one.height) for one in looked], np.int32).reshape(-1, 2),
        {one.index: one.error for one in looked if one.error},
        worker,
        decode_seconds,
        infer_seconds,
        {one.index: one.lie for one in looked if one.lie},
    )


def cut(work: Iterable[Work], size: int) -> Iterator[Chunk]:
    """Chunks of at most `size` pictures, in order."""
    remaining = iter(work)
    for number in itertools.count():
        part = tuple(itertools.islice(remaining, size))
        if not part:
            return
        yield chunk(number, part)


def chunk(number: int, part: Sequence[Work]) -> Chunk:
    """These pictures as one chunk."""
    goldens = tuple(one.golden for one in part) if any(one.golden for one in part) else ()
    return Chunk(
        number, tuple(one.index for one in part), tuple(one.source for one in part), goldens
    )
