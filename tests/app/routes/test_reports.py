"""A run as a file, and what its slow readers keep from others."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from app import server
from app.edge import login
from app.premises import Premises
from backend.domain import Run
from backend.storage import findings
from tests import loops
from tests.app.conftest import drawn, log_in

RUN = 71_001
# More than a database pool has connections.
READERS = 20
PATIENCE = 15


def test_downloads_that_nobody_reads_keep_nobody_else_waiting(
    guarded: Premises, stranger: TestClient
) -> None:
    project = drawn(guarded)
    with guarded.write() as session:
        run = Run(RUN, "golden", "golden", datetime.now(UTC), project_id=project.id)
        findings.start(session, run)
    log_in(stranger, "vera")
    asked = loops.run(_ask_beside_readers(server.create(guarded), guarded, stranger))
    assert asked == 200


async def _ask_beside_readers(app: FastAPI, premises: Premises, client: TestClient) -> int:
    cookie = f"{login.COOKIE}={client.cookies[login.COOKIE]}"
    unread = [_Reader(cookie) for _ in range(READERS)]
    reading = [asyncio.create_task(one.get(app, f"/api/runs/{RUN}/export/csv")) for one in unread]
    await asyncio.wait_for(asyncio.gather(*(one.began.wait() for one in unread)), PATIENCE)
    premises.door.forget("vera")
    other = _Reader(cookie)
    other.goes_on.set()
    try:
        await asyncio.wait_for(other.get(app, "/api/projects"), PATIENCE)
    finally:
        for one in unread:
            one.goes_on.set()
        await asyncio.gather(*reading)
    return other.status


class _Reader:
    """A client that takes the first bytes of an answer, and the rest once it is told to."""

    def __init__(self, cookie: str) -> None:
        self.began, self.goes_on, self.status = asyncio.Event(), asyncio.Event(), 0
        self._headers = [(b"host", b"127.0.0.1"), (b"cookie", cookie.encode())]

    async def get(self, app: FastAPI, path: str) -> None:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": self._headers,
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 1),
        }
        await app(scope, _nothing_more, self._take)

    async def _take(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message.get("body"):
            self.began.set()
            await self.goes_on.wait()


async def _nothing_more() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}
