"""Real warehouses for the tests: a SQLite file, a PostgreSQL database, Snowflake's emulator."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from pydantic import SecretStr
from sqlalchemy import make_url

from backend.settings import Settings
from backend.storage.engine import Database
from backend.warehouse import loading, outbox
from backend.warehouse.address import Address

SECRET = "hidden-word"
SERVE = "import uvicorn, tests.snowflake.double as s; uvicorn.run(s.app, host='127.0.0.1', port={port}, log_level='critical')"  # noqa: E501


@dataclass(frozen=True)
class Place:
    """A warehouse of a test: its URL, what its loader's environment says, how to ask it."""

    url: str
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    database: str = ""

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        if self.url.startswith("sqlite"):
            with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"))) as lite:
                return lite.execute(sql).fetchall()
        if self.url.startswith("postgresql"):
            with psycopg.connect(self.url.replace("+psycopg", "")) as connection:
                return connection.execute(sql).fetchall()
        with closing(connector(self.port, self.database)) as snow, snow.cursor() as cursor:
            rows: list[tuple[Any, ...]] = cursor.execute(sql).fetchall()
            return rows

    @property
    def address(self) -> Address:
        """Where it is, without any file of connections."""
        if not self.port:
            return Address(make_url(self.url).get_backend_name(), make_url(self.url))
        options = {
            "account": "fakesnow", "user": "loupe", "host": "127.0.0.1", "port": self.port,
            "protocol": "http", "database": self.database, "schema": "s1",
        }  # fmt: skip
        return Address("snowflake", make_url(self.url), options, {"password": SecretStr(SECRET)})

    def put(self, folder: Path, stage: str) -> None:
        """All files below a folder onto a stage, which is made if need be."""
        with closing(connector(self.port, self.database)) as snow, snow.cursor() as cursor:
            name = stage.removeprefix("@").partition("/")[0]
            cursor.execute(f"CREATE STAGE IF NOT EXISTS {name}")
            for at in sorted({one.parent for one in folder.rglob("*") if one.is_file()}):
                place = f"{stage}/{at.relative_to(folder).as_posix()}".removesuffix("/.")
                put = "PUT %s %s AUTO_COMPRESS = FALSE"
                cursor.execute(put, (f"file://{at}/*.*", place))

    def change(self, *statements: str) -> None:
        """Run these in Snowflake."""
        with closing(connector(self.port, self.database)) as snow, snow.cursor() as cursor:
            for one in statements:
                cursor.execute(one)


def connector(port: int, database: str) -> Any:
    """The emulator, asked by Snowflake's own connector."""
    os.environ["SNOWFLAKE_DISABLE_PLATFORM_DETECTION"] = "true"
    import snowflake.connector

    return snowflake.connector.connect(
        account="fakesnow", user="loupe", password="x", host="127.0.0.1", port=port,
        protocol="http", database=database, schema="s1", login_timeout=60, network_timeout=120,
        session_parameters={"CLIENT_TELEMETRY_ENABLED": False},
    )  # fmt: skip


@contextmanager
def emulator(folder: Path) -> Iterator[int]:
    """Snowflake's emulator as a process of its own; yields its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-W", "ignore", "-c", SERVE.format(port=port)]
    beside = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=beside, stdout=log, stderr=log)
    try:
        _answers(process, port)
        yield port
    finally:
        process.kill()
        process.wait()


def place(kind: str, folder: Path, server: str = "", port: int = 0) -> Place:
    """An empty warehouse."""
    if kind == "sqlite":
        return Place(f"sqlite:///{folder / 'results.db'}")
    if kind == "postgres":
        return Place(server)
    database = f"d{uuid.uuid4().hex[:12]}"
    home = folder / "snowflake"
    home.mkdir()
    file = home / "connections.toml"
    file.write_text(
        f'[here]\naccount = "fakesnow"\nuser = "loupe"\npassword = "{SECRET}"\nhost = "127.0.0.1"\n'
        f'port = {port}\nprotocol = "http"\ndatabase = "{database}"\nschema = "s1"\n'
    )
    file.chmod(0o600)
    url = "snowflake://?connection_name=here"
    return Place(url, {"SNOWFLAKE_HOME": str(home)}, port, database)


@dataclass(frozen=True)
class Publishing:
    """A house whose results are published."""

    database: Database
    settings: Settings
    place: Place

    @property
    def environment(self) -> dict[str, str]:
        """What a loader of it is started with."""
        return {
            **self.place.environment,
            "LOUPE_HOME": str(self.settings.home),
            "LOUPE_DATABASE_URL": self.settings.operational_url,
            "LOUPE_WAREHOUSE_URL": self.place.url,
            "LOUPE_LEASE_SECONDS": str(self.settings.lease_seconds),
        }

    def load(self) -> None:
        """Publish all that waits; Snowflake's connector has a process of its own."""
        if self.place.environment:
            child = self.start()
            assert child.wait() == 0
        else:
            assert loading.run(self.database, self.settings)

    def start(
        self, step: str = "", number: int = 0, more: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """A loader as a process of its own; at a step it may send itself a signal."""
        at = [step, str(number)] if step else []
        command = [sys.executable, "-m", "tests.snowflake.loader", *at]
        environment = {**os.environ, **(more or {}), **self.environment}
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)


def publishing(database: Database, home: Path, where: Place, lease: float = 60.0) -> Publishing:
    """A house that publishes from now on."""
    url = database.engine.url.render_as_string(hide_password=False)
    settings = Settings(
        home=home,
        database_url=SecretStr(url),
        warehouse_url=SecretStr(where.url),
        lease_seconds=lease,
    )
    with database.write.begin() as session:
        outbox.install(session)
    return Publishing(database, settings, where)


def _answers(process: subprocess.Popen[bytes], port: int) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("The emulator has not started.")
