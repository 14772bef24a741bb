"""Commands that stay: serve the site."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import webbrowser
from contextlib import suppress
from typing import Annotated

import typer

from app import terminal
from backend import settings

log = logging.getLogger(__name__)

SAMPLE = "sample-boards"


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.command()(serve)


def serve(
    host: Annotated[str, typer.Option(help="Address to answer on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to answer on.", min=0, max=65535)] = 7860,
    auth: Annotated[bool, typer.Option("--auth", help="Ask for a name and a password.")] = False,
    worker: Annotated[bool, typer.Option(help="Keep a worker process beside the site.")] = True,
    browser: Annotated[bool, typer.Option(help="Open the site in the browser.")] = True,
    sample: Annotated[bool, typer.Option(help="Draw a sample project when there is none.")] = True,
) -> None:
    """Serve the site.

    Example: loupe serve --port 8000 --no-browser
    """
    known = settings.current()
    settings.make_home(known)
    os.environ.setdefault("GRADIO_TEMP_DIR", str(known.cache / "gradio"))
    # Gradio makes that folder and takes seconds to import; other commands must not wait for it.
    from app import server

    house = server.open_house(known, with_accounts=auth)
    server.check_address(house, host)
    port = server.free_port(host, port)
    address = f"http://{'127.0.0.1' if host in server.EVERYWHERE else host}:{port}"
    terminal.say(f"Loupe answers on {address} (home: {house.settings.home}). Ctrl+C ends it.")

    def answering() -> None:
        if browser:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        if sample and server.is_empty(house):
            threading.Thread(target=_draw_sample, args=(worker,), daemon=True).start()

    # A service manager's end is as gentle as Ctrl+C: the worker hands back what it holds.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        server.serve(house, host, port, worker=worker, then=answering)


def _draw_sample(worker: bool) -> None:
    """In a process of its own while the page is served; then the golden board looks at it."""
    loupe = [sys.executable, "-m", "app.cli"]
    drawing = [*loupe, "sample", SAMPLE, "--images", "90", "--json"]
    if subprocess.run(drawing, stdout=subprocess.DEVNULL, check=False).returncode == 0 and worker:
        looking = [*loupe, "detect", SAMPLE, "--model", "golden", "--state", "new", "--json"]
        subprocess.run(looking, stdout=subprocess.DEVNULL, check=False)
