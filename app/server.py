"""Settings → database → FastAPI with Gradio mounted → uvicorn."""

from __future__ import annotations

import importlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

# Gradio reads this when it is imported.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio as gr
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from app import preloading, site, worker_process
from app.edge import connections, gate, picture_door, policy, refusals, slashes
from app.edge.login import Door
from app.premises import Premises
from app.routes.public import operations
from backend.errors import Refused, Unavailable
from backend.previews import previews
from backend.projects import catalogue, people
from backend.settings import Settings, make_home
from backend.storage import engine, files, schema
from backend.storage.uploads import Uploads

log = logging.getLogger(__name__)

GIGA = 1e9
ROOMS = (
    "assets",
    "glimpses",
    "guide",
    "health",
    "jobs",
    "labels.labelling",
    "labels.pictures",
    "labels.transfers",
    "labels.windows",
    "models",
    "projects.account",
    "projects.catalogue",
    "projects.changes",
    "projects.login",
    "projects.people",
    "projects.removal",
    "review.boards",
    "review.decisions",
    "review.doubts",
    "review.overview",
    "review.reports",
    "review.sweeps",
    "runs.detection",
    "runs.forecast",
    "searches",
    "warehouse",
)
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")


def open_premises(settings: Settings, with_accounts: bool = False, token: str = "") -> Premises:
    """Connect to all that the settings name."""
    make_home(settings)
    database = engine.connect(settings)
    schema.prepare(database, copies=settings.home)
    store = files.connect(settings)
    pictures = previews.of(settings, store)
    uploads = Uploads(settings.uploads, settings.max_upload_gb * GIGA)
    door = Door(database, with_accounts, token, token_rate=settings.token_rate)
    return Premises(settings, database, store, pictures, uploads, door)


def create(premises: Premises) -> FastAPI:
    """The web application; it closes the premises when it ends."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        premises.previews.warm()
        yield
        premises.previews.close()
        premises.database.close()

    app = FastAPI(title="Loupe", lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.premises = premises
    app.add_middleware(slashes.Slashes)
    app.add_middleware(refusals.Edge)
    app.add_middleware(policy.Policy)
    app.add_middleware(preloading.Preloading)
    app.add_middleware(gate.Gate, door=premises.door)
    app.add_middleware(refusals.Edge)  # the gate asks the database, too
    refusals.install(app)
    app.include_router(operations.router())
    for room in ROOMS:
        router = importlib.import_module(f"app.routes.{room}").router
        app.include_router(router, dependencies=[picture_door.CHECKED])
    # Below /assets lie Gradio's own files, too.
    for ours in ("/api", "/files", "/guide"):
        app.add_api_route(ours + "/{rest:path}", refusals.nothing, methods=METHODS)
    gr.mount_gradio_app(
        app,
        site.build(),
        path="/",
        ssr_mode=False,
        run_history=False,
        footer_links=[],
        theme=gr.themes.Default(),
        head=site.head(),
        auth_dependency=lambda request: request.state.person.name,
        blocked_paths=[str(premises.settings.home)],
    )
    return app


def check_address(premises: Premises, host: str) -> None:
    """Refuse to serve the network without accounts, and accounts without anybody in them."""
    if host not in LOOPBACK and not premises.door.accounts:
        raise Refused(
            f"Serving {host} would let everybody in the network in. Start with --auth, after "
            "making an account: loupe user add NAME --role admin."
        )
    with premises.read() as session:
        if premises.door.accounts and not people.everyone(session):
            raise Refused("There is no account yet. Make one: loupe user add NAME --role admin.")


def is_empty(premises: Premises) -> bool:
    """Whether there is no project at all."""
    with premises.read() as session:
        return not catalogue.summaries(session)


def free_port(host: str, port: int) -> int:
    """The port, if nobody else has it; a free one for 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Unavailable(
                f"Port {port} of {host} is taken, perhaps by another Loupe; "
                "choose one with --port, or 0 for any."
            ) from error
        return int(probe.getsockname()[1])


def serve(
    premises: Premises,
    host: str,
    port: int,
    *,
    worker: bool = True,
    then: Callable[[], None] = lambda: None,
) -> None:
    """Answer until the process is told to stop; `then` is called once it answers."""
    kept = worker_process.WorkerProcess()

    def answering() -> None:
        # What takes the machine's breath away comes after the first page.
        if worker:
            kept.start()
        then()

    try:
        proxies = premises.settings.trusted_proxies
        _Server(configured(create(premises), host, port, proxies=proxies), answering).run()
    finally:
        kept.stop()


def configured(
    app: ASGIApp,
    host: str,
    port: int,
    connection: type[connections.Connection] | None = None,
    proxies: str = "",
) -> uvicorn.Config:
    """How the site is served; only `proxies` are believed when they say for whom they ask."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=connection or connections.Connection,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=3,
    )


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, answering: Callable[[], None]) -> None:
        super().__init__(config)
        self._answering = answering

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._answering()
