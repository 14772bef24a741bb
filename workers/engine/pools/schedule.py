"""Which chunk goes to whom, and what happens to the chunks of a worker that died."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator

from workers.engine import chunks
from workers.engine.chunks import Chunk, ChunkResult, Looked, Status

STRIKES = 3  # a picture that was in so many workers' hands when they died, alone, has killed them


class Schedule:
    """Chunks not yet answered. Every picture is answered exactly once, whoever dies."""

    def __init__(self, work: Iterator[Chunk]) -> None:
        self._work = work
        self.exhausted = False
        self._again: deque[Chunk] = deque()
        self._held: dict[Hashable, deque[Chunk]] = {}
        self._strikes: dict[int, int] = {}
        self._numbers = -1
        self._guilty: deque[ChunkResult] = deque()

    def take(self, worker: Hashable) -> Chunk | None:
        """The next chunk for this worker, or None where nothing waits."""
        chunk = self._again.popleft() if self._again else next(self._work, None)
        if chunk is None:
            self.exhausted = True
        else:
            self._held.setdefault(worker, deque()).append(chunk)
        return chunk

    def sample(self) -> str:
        """A source that the work holds."""
        chunk = self._again[0] if self._again else next(self._work, None)
        if chunk is None:
            self.exhausted = True
            return ""
        if not self._again:
            self._again.append(chunk)
        return chunk.sources[0]

    def answered(self, worker: Hashable, number: int) -> bool:
        """Note an answer; False where somebody else has the chunk by now."""
        held = self._held.get(worker, deque())
        for chunk in held:
            if chunk.number == number:
                held.remove(chunk)
                return True
        return False

    def died(self, worker: Hashable, looking: bool = True) -> None:
        """Queue a dead worker's chunks again; the one it was looking at in single pictures."""
        held = self._held.pop(worker, deque())
        if held and looking:
            self._suspect(held.popleft())
        self._again.extend(held)

    def holding(self, worker: Hashable) -> int:
        """How many chunks this worker has."""
        return len(self._held.get(worker, ()))

    def waiting(self) -> bool:
        """Whether any chunk is in somebody's hands or was given back."""
        return bool(self._again) or any(self._held.values())

    def given_up(self) -> Iterator[ChunkResult]:
        """Answers for pictures that killed one worker after the other."""
        while self._guilty:
            yield self._guilty.popleft()

    def _suspect(self, chunk: Chunk) -> None:
        """Pictures that were in a dying worker's hands go on one by one."""
        strikes = self._strikes.pop(chunk.number, 0) + 1
        if strikes == STRIKES:
            self._guilty.append(_crashed(chunk))
            return
        singles = list(chunk.singles(self._numbers))
        self._numbers -= len(singles)
        self._strikes.update((single.number, strikes) for single in singles)
        self._again.extendleft(reversed(singles))


def _crashed(chunk: Chunk) -> ChunkResult:
    error = f"{chunk.sources[0]} ended {STRIKES} workers that looked at it; it is left out."
    return chunks.pack(chunk.number, [Looked(chunk.indices[0], status=Status.CRASHED, error=error)])
