"""Requests that wait hold up nobody of another kind."""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from app import server
from app.edge import pools
from app.premises import Premises
from backend.labels import gallery
from backend.storage import engine
from tests.app.conftest import WRITE, drawn


def test_reading_goes_on_while_forty_saves_wait(premises: Premises, client: TestClient) -> None:
    project = drawn(premises)
    with premises.read() as session:
        image = gallery.page(session, project.id, gallery.Filter(), limit=1).items[0].image
    save = {"version": image.version, "boxes": [], "state": "done"}
    address = f"/api/images/{image.id}/boxes"
    with ThreadPoolExecutor(40) as people:
        with premises.write() as session:
            session.connection()  # takes the lock that the saves wait for
            saves = [
                people.submit(client.put, address, json=save, headers=WRITE) for _ in range(40)
            ]
            seen = [client.get(f"/api/projects/{project.id}").status_code for _ in range(20)]
            assert not any(one.done() for one in saves)
        answers = sorted(one.result().status_code for one in saves)
    assert seen == [200] * 20
    assert answers == [200] + [409] * 39


@pytest.mark.parametrize("room", server.ROOMS)
def test_every_route_has_a_pool(room: str) -> None:
    routes = importlib.import_module(f"app.routes.{room}").router.routes
    assert routes
    assert {type(one) for one in routes} == {pools.Pooled}


def test_each_thread_that_may_ask_finds_a_connection() -> None:
    assert sum(pools.SIZES.values()) < 2 * engine.CONNECTIONS
