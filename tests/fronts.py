"""A port before a server, which can be away in every way that servers are away."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

CLOSED, SILENT, REFUSING, OPEN = "closed", "silent", "refusing", "open"
AWAY = (CLOSED, SILENT, REFUSING)


@dataclass
class Front:
    """Whoever asks its port finds nobody, silence, a 500 to all, a refused login, or the server.

    A way that is a number is an answer of Snowflake that refuses so, with all that was sent in it.
    """

    port: int
    way: str = OPEN
    target: int = 0
    accepted: int = 0
    _server: socket.socket | None = None
    _held: list[socket.socket] = field(default_factory=list)

    def go(self, way: str) -> None:
        """Be there, or away, in this way from now on."""
        self.close()
        self.way = way
        if way != CLOSED:
            server = socket.create_server(("127.0.0.1", self.port), backlog=50)
            self._server = server
            threading.Thread(target=self._serve, args=(server,), daemon=True).start()

    def close(self) -> None:
        """Nobody is there any more."""
        if self._server is not None:
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()
            self._server = None
        for one in self._held:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._held.clear()

    def _serve(self, server: socket.socket) -> None:
        while True:
            try:
                asking, _ = server.accept()
            except OSError:
                return
            self.accepted += 1
            self._held.append(asking)
            if self.way == OPEN:
                there = socket.create_connection(("127.0.0.1", self.target))
                self._held.append(there)
                for one, other in ((asking, there), (there, asking)):
                    threading.Thread(target=_carry, args=(one, other), daemon=True).start()
            elif self.way != SILENT:
                threading.Thread(target=_refuse, args=(asking, self.way), daemon=True).start()


@contextmanager
def front(target: int = 0, way: str = OPEN) -> Iterator[Front]:
    """A port of its own before that of a server."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    made = Front(port, target=target)
    made.go(way)
    try:
        yield made
    finally:
        made.close()


def _carry(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while told := one.recv(65536):
            other.sendall(told)
        other.shutdown(socket.SHUT_WR)


def _refuse(asking: socket.socket, way: str) -> None:
    """Hear a whole request and answer it, whatever it is, as HTTP."""
    with suppress(OSError, ValueError):
        while heard := _heard(asking):
            if way == REFUSING:
                asking.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                break
            said = {"success": False, "code": way, "message": f"Refused: {heard!r}", "data": None}
            body = json.dumps(said).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            asking.sendall(head.encode() + body)
    asking.close()


def _heard(asking: socket.socket) -> bytes:
    told = b""
    while b"\r\n\r\n" not in told:
        more = asking.recv(65536)
        if not more:
            return b""
        told += more
    head, _, body = told.partition(b"\r\n\r\n")
    lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    left = int(lengths[0].split(b":")[1]) - len(body) if lengths else 0
    while left > 0:
        more = asking.recv(65536)
        body, left = body + more, left - len(more)
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body or head
