"""Real databases for the tests: a SQLite file each, and one PostgreSQL server a session."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text


def postgres_binaries() -> Path | None:
    """The folder of PostgreSQL's server programs, where there is one."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """A PostgreSQL server of our own on a free port; yields its URL without a database."""
    binaries = postgres_binaries()
    assert binaries is not None
    port, data = _free_port(), folder / "data"
    data.mkdir(parents=True)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        shutil.chown(data, "postgres")
    _run(binaries / "initdb", "-D", data, "-A", "trust", "-U", "loupe", "-E", "UTF8", "--no-sync")
    options = (
        f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off"
    )
    _run(binaries / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
    try:
        yield f"postgresql+psycopg://loupe@127.0.0.1:{port}"
    finally:
        _run(binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop")


def new_postgres_database(server: str, copied: str = "") -> str:
    """Create a database on that server, empty or a copy; returns its URL."""
    name, template = f"test_{uuid.uuid4().hex}", copied or "template1"
    engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"))
    engine.dispose()
    return f"{server}/{name}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _run(*command: object) -> None:
    # PostgreSQL refuses to run as root.
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    words = [*prefix, *map(str, command)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
