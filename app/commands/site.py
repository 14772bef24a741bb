"""Commands that stay: serve the site."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import subprocess
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

import typer

from app import terminal
from backend import apart, settings
from backend.warehouse import address

log = logging.getLogger(__name__)

SAMPLE = "sample-boards"
LEADING = "open.html"  # in the home


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.command()(serve)


def serve(
    host: Annotated[str, typer.Option(help="Address to answer on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to answer on.", min=0, max=65535)] = 7860,
    auth: Annotated[bool, typer.Option("--auth", help="Ask for a name and a password.")] = False,
    token: Annotated[
        bool, typer.Option("--token", help="Let in only who opens the address that is printed.")
    ] = False,
    worker: Annotated[bool, typer.Option(help="Keep a worker process beside the site.")] = True,
    browser: Annotated[bool, typer.Option(help="Open the site in the browser.")] = True,
    sample: Annotated[bool, typer.Option(help="Draw a sample project when there is none.")] = True,
) -> None:
    """Serve the site.

    Example: loupe serve --port 8000 --no-browser
    """
    if auth and token:
        raise typer.BadParameter("With --auth people log in, so there is no need of --token.")
    known = settings.current()
    settings.make_home(known)
    address.of(known)  # a wrong one is told now, and not when there is something to publish
    os.environ.setdefault("GRADIO_TEMP_DIR", str(known.cache / "gradio"))
    # Gradio makes that folder and takes seconds to import; other commands must not wait for it.
    from app import server

    shown = secrets.token_urlsafe(24) if token else ""
    premises = server.open_premises(known, with_accounts=auth, token=shown)
    server.check_address(premises, host)
    port = server.free_port(host, port)
    first = _told(
        known, f"http://{'127.0.0.1' if host in server.EVERYWHERE else host}:{port}", shown
    )

    def answering() -> None:
        if browser:
            threading.Thread(target=webbrowser.open, args=[first], daemon=True).start()
        if sample and server.is_empty(premises):
            threading.Thread(target=_draw_sample, args=(worker,), daemon=True).start()

    with _ending_gently(known):
        server.serve(premises, host, port, worker=worker, then=answering)


@contextmanager
def _ending_gently(known: settings.Settings) -> Iterator[None]:
    """A service manager's end is as gentle as Ctrl+C: the worker hands back what it holds."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        (known.home / LEADING).unlink(missing_ok=True)


def _told(known: settings.Settings, address: str, token: str) -> str:
    """Say where the site is; what the browser that is started here opens first."""
    terminal.say(f"Loupe answers on {address} (home: {known.home}). Ctrl+C ends it.")
    if not token:
        return address
    with_token = f"{address}/?token={token}"
    terminal.say(f"Open it by this address, which lets nobody else in: {with_token}")
    # All users see what a browser is started with: it gets a page of the owner's that leads on.
    path = known.home / LEADING
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as page:
        page.write(f'<meta http-equiv="refresh" content="0; url={with_token}">')
    return path.as_uri()


def _draw_sample(worker: bool) -> None:
    """In a process of its own while the page is served; then the golden board looks at it."""
    drawing = apart.command("app.cli", "sample", SAMPLE, "--images", "90", "--json")
    if subprocess.run(drawing, stdout=subprocess.DEVNULL, check=False).returncode == 0 and worker:
        how = ("--model", "golden", "--state", "new", "--json")
        looking = apart.command("app.cli", "detect", SAMPLE, *how)
        subprocess.run(looking, stdout=subprocess.DEVNULL, check=False)
