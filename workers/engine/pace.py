"""How fast a run goes and where its time goes, in figures and in a sentence."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from workers import load
from workers.engine.chunks import ChunkResult, Status

ASKED_EVERY = 5.0  # seconds between two questions to the graphics cards' tool


class Stopwatch:
    """Seconds of the parts of some work that follow each other."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, part: str) -> None:
        """What was done since the last lap belongs to this part."""
        now = time.perf_counter()
        self.parts[part] = self.parts.get(part, 0.0) + now - self._since
        self._since = now


class RunMeter:
    """Counts what was seen since `begin`; `before` has the seconds of what came before it."""

    def __init__(self, total: int, before: Mapping[str, float] | None = None) -> None:
        self._total = total
        self._started = time.perf_counter()
        self._began = self._started
        self._before = 0
        self._seen = 0
        self._failed = 0
        self._decode = self._infer = self._write = 0.0
        self._workers: set[str] = set()
        self._use: Mapping[str, float] = {}
        self._asked = self._started
        self._ahead = dict(before or {})
        self._start = 0.0

    def begin(self, remaining: int) -> None:
        """The pool starts; all but the remaining images were known."""
        self._before = self._total - remaining
        self._began = self._asked = time.perf_counter()
        load.now()  # what the cores did until now is not the run's

    def saw(self, result: ChunkResult) -> None:
        """A chunk came back; until the first one does, processes start and load the model."""
        if not self._seen:
            spent = result.decode_seconds + result.infer_seconds
            self._start = max(time.perf_counter() - self._began - spent, 0.0)
        self._seen += len(result)
        self._failed += int((result.status != Status.OK).sum())
        self._decode += result.decode_seconds
        self._infer += result.infer_seconds
        self._workers.add(result.worker)

    def wrote(self, seconds: float) -> None:
        """A transaction took so long."""
        self._write += seconds

    def seconds(self) -> float:
        """Since the run was opened."""
        return time.perf_counter() - self._started

    def rate(self) -> float:
        """Images a second since the pool started."""
        return self._seen / max(time.perf_counter() - self._began, 1e-9)

    def progress(self) -> tuple[float, str]:
        """How far it is, with a sentence."""
        done = self._before + self._seen
        rate = self.rate()
        shares = " · ".join(f"{name} {share:.0%}" for name, share in self.shares().items())
        use = "".join(f" · {name} {percent:.0f}% busy" for name, percent in self._busy())
        failed = f" · {self._failed:,} failed" if self._failed else ""
        return (
            done / max(self._total, 1),
            f"{done:,} of {self._total:,} images · {rate:,.0f} a second{failed} · {shares}{use}",
        )

    def shares(self) -> Mapping[str, float]:
        """How the work divides over decoding, looking and writing."""
        every = self._decode + self._infer + self._write or 1.0
        return {
            "decode": round(self._decode / every, 4),
            "infer": round(self._infer / every, 4),
            "write": round(self._write / every, 4),
        }

    def _parts(self) -> Mapping[str, float]:
        """Seconds of each part; those of decoding and of the model are of all processes."""
        return {
            **self._ahead,
            "start": self._ahead.get("start", 0.0) + self._start,
            "decode": self._decode,
            "forward": self._infer,
            "write": self._write,
        }

    def _busy(self) -> list[tuple[str, float]]:
        """How much this machine's cores, and its cards where it has any, have to do."""
        if not self._use or time.perf_counter() - self._asked > ASKED_EVERY:
            self._use, self._asked = load.now(), time.perf_counter()
        names = (("cores", "cpu_percent"), ("cards", "gpu_percent"))
        return [(name, self._use[key]) for name, key in names if key in self._use]

    def facts(self) -> Mapping[str, Any]:
        """What is kept with the run."""
        return {
            "looked": self._seen,
            "images_per_second": round(self.rate(), 1) if self._seen else 0.0,
            "shares": dict(self.shares()),
            "parts": {name: round(seconds, 3) for name, seconds in self._parts().items()},
            "workers": len(self._workers - {""}),
        }
