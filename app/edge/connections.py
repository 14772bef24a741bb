"""Connections that hardly move are ended: heads and bodies that trickle, answers nobody takes."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.edge import problems

log = logging.getLogger(__name__)

TOO_SLOW = "The request arrives so slowly that it was ended; send it again."
ANSWER = b"HTTP/1.1 408 Request Timeout\r\n"


@dataclass(frozen=True, slots=True)
class Patience:
    """What must have come of a request, or gone of an answer, whenever these seconds are over.

    A whole may last as long as it needs: an upload over the poorest line is quicker than this.
    """

    seconds: float = 30.0
    bytes: int = 4096


class Phase(StrEnum):
    """What a connection waits for; only the other side can end these."""

    HEAD = "head"
    BODY = "body"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far a connection was when it was last looked at."""

    phase: Phase | None
    request: object
    arrived: int
    waiting: int


class Connection(H11Protocol):
    """Uvicorn's connection, looked at again and again."""

    patience: ClassVar[Patience] = Patience()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arrived = 0
        self._last = _Mark(None, None, 0, 0)
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look."""
        super().connection_made(transport)
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nothing to look at any more."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what arrives."""
        self._arrived += len(data)
        super().data_received(data)

    def _look_later(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._last = _Mark(self._phase(), self.cycle, self._arrived, waiting)
        self._timer = self.loop.call_later(self.patience.seconds, self._look)

    def _look(self) -> None:
        # One that was handed over to another protocol is not ours to end.
        if self.transport.get_protocol() is not self:
            return
        phase, last = self._phase(), self._last
        still = phase is not None and phase is last.phase and self.cycle is last.request
        if still and self._moved(phase) < self.patience.bytes:
            self._end(phase)
        self._look_later()

    def _phase(self) -> Phase | None:
        answered = self.cycle is None or self.cycle.response_complete
        if self.transport.is_closing() or self.flow.write_paused:
            return Phase.ANSWER
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            return Phase.BODY
        if self.conn.their_state is h11.IDLE and answered and self.timeout_keep_alive_task is None:
            return Phase.HEAD
        return None

    def _moved(self, phase: Phase | None) -> int:
        """Bytes of the request that came, or of the answer that went; half a head is nothing."""
        if phase is Phase.ANSWER:
            return self._last.waiting - self.transport.get_write_buffer_size()
        return self._arrived - self._last.arrived if phase is Phase.BODY else 0

    def _end(self, phase: Phase | None) -> None:
        log.info("A connection from %s is ended: its %s hardly moves.", self.client, phase)
        if phase is Phase.ANSWER:
            self.transport.abort()
            return
        if self.cycle is None or not self.cycle.response_started:
            # Of a head that is not whole nobody knows the address.
            self.transport.write(_answer(self.scope["path"] if phase is Phase.BODY else ""))
        self.transport.close()


def _answer(path: str) -> bytes:
    told = problems.refusal(path, 408, TOO_SLOW, {"connection": "close"})
    heads = (b"%s: %s\r\n" % one for one in told.raw_headers)
    return b"".join([ANSWER, *heads, b"\r\n", bytes(told.body)])
