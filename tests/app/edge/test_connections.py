"""Who sends or takes hardly anything is let go; who is only slow is not. Over real sockets."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from app import server
from app.edge import connections
from tests.workers import running

SECONDS = 1.5
WHOLE = 400_000
PART = bytes(50_000)
PUT = b"PUT / HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % WHOLE
PUT_API = PUT.replace(b"PUT /", b"PUT /api/v1/import")
GET = b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
MANY = 800  # parts of an answer, more than all buffers between two processes hold


class Quick(connections.Connection):
    """As the site's connections, with little patience."""

    patience = connections.Patience(SECONDS, 4096)


async def take(request: Request) -> Response:
    """Say how large the body is."""
    return Response(str(len(await request.body())))


async def give(_: Request) -> Response:
    """A large answer."""

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(MANY):
            yield PART

    return StreamingResponse(parts())


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A site that takes and gives, served as Loupe is."""
    number = running.free_port()
    takes = [Route(path, take, methods=["PUT"]) for path in ("/", "/api/v1/import")]
    app = Starlette(routes=[*takes, Route("/", give)])
    served = uvicorn.Server(server.configured(app, "127.0.0.1", number, Quick))
    thread = threading.Thread(target=served.run)
    thread.start()
    while not served.started:
        time.sleep(0.02)
    yield number
    served.should_exit = True
    thread.join()


def trickled(port: int, first: bytes, drop: bytes) -> bytes:
    """What is answered to who sends something and then, for ever, a drop now and then."""
    with socket.create_connection(("127.0.0.1", port), 60) as line:
        line.sendall(first)
        line.settimeout(0.2)
        while True:
            try:
                return line.recv(10_000)
            except TimeoutError:
                line.sendall(drop)
            except OSError:
                return b""


def test_heads_and_bodies_that_trickle_are_ended(port: int) -> None:
    trickles = [
        (b"", b""),
        (b"", b"G"),
        (b"GET / HTTP/1.1\r\n", b"A: b\r\n"),
        (PUT, b"."),
        (PUT, b""),
        (PUT_API, b""),
    ]
    with ThreadPoolExecutor(len(trickles)) as at_once:
        said = list(at_once.map(lambda one: trickled(port, *one), trickles))
    assert [one.startswith(connections.ANSWER) for one in said] == [True] * len(trickles)
    told = [json.loads(one.partition(b"\r\n\r\n")[2]) for one in said]
    assert [one.get("error") for one in told] == [connections.TOO_SLOW] * 5 + [None]
    assert (told[-1]["status"], told[-1]["detail"]) == (408, connections.TOO_SLOW)


def test_a_body_may_take_its_time_as_long_as_it_moves(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 60) as line:
        line.sendall(PUT)
        for _ in range(WHOLE // len(PART)):
            time.sleep(SECONDS / 3)
            line.sendall(PART)
        assert line.recv(10_000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(("pause", "whole"), [(4 * SECONDS, False), (0.01, True)])
def test_an_answer_that_nobody_takes_is_ended(port: int, pause: float, whole: bool) -> None:
    with socket.create_connection(("127.0.0.1", port), 60) as line:
        line.sendall(GET)
        assert (taken(line, pause) >= MANY * len(PART)) is whole


def taken(line: socket.socket, pause: float) -> int:
    """How many bytes come to who waits once, and then takes all."""
    time.sleep(pause)
    number = 0
    try:
        while part := line.recv(1_000_000):
            number += len(part)
    except ConnectionResetError:
        pass
    return number
