"""What only a real account of Snowflake can show, tried in a schema of its own that goes again."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from backend.errors import LoupeError, Refused
from backend.jobs import holder
from backend.warehouse.address import Address
from backend.warehouse.dialects import base
from backend.warehouse.dialects.snowflake import COPY, Snowflake

LARGEST_NAME = 255
PICTURE = 8 << 20  # bytes, what BINARY holds unless it is asked for more
ROWS = 1000
START, HOLDER = "LOUPE_TRIAL_", "holder"
SERVICE = "LOUPE_TRIAL_V1"  # as the trial of the registry calls it, which costs while it stands
LEFT = "left of another"
LONGEST = 24 * 3600.0  # seconds; no trial goes on for so long


@dataclass(frozen=True, slots=True)
class Tried:
    """One thing that was tried, and what was seen; None passed where it could not be tried."""

    name: str
    passed: bool | None
    said: str


class NotHere(LoupeError):
    """It cannot be tried here."""


# A trial that needs more than a connection.
Elsewhere = Callable[[Address], str]


@dataclass(frozen=True, slots=True)
class _Trial:
    address: Address
    scratch: Path
    warehouse: Snowflake

    def do(self, sql: str) -> list[tuple[object, ...]]:
        """The rows of a statement."""
        return [tuple(row) for row in self.warehouse.ask(sql, {}).rows]

    def number(self, sql: str) -> int:
        """The one number that a query gives."""
        return int(str(self.do(sql)[0][0]))


def attempt(
    address: Address, scratch: Path, more: Mapping[str, Elsewhere]
) -> Generator[Tried, None, None]:
    """Try one after another, also what is tried elsewhere; nothing is left of it."""
    home = scratch / address.digest
    outer = Snowflake(address, home)
    try:
        for left in _left(home):
            _drop(outer, left)
            shutil.rmtree(home / left)
            yield Tried(LEFT, True, f"{left} of a trial that was killed is gone now")
        with _schema(outer, home) as schema:
            inner = replace(address, options={**address.options, "schema": schema})
            yield from _all(_Trial(inner, home / schema, Snowflake(inner, home / schema)), more)
    finally:
        outer.close()


def _all(trial: _Trial, more: Mapping[str, Elsewhere]) -> Iterator[Tried]:
    try:
        for name, way in TRIALS.items():
            yield _tried(name, way, trial)
        for name, elsewhere in more.items():
            yield _tried(name, _outside(elsewhere), trial)
        yield _tried(CREDITS, _credits, trial)
    finally:
        trial.warehouse.close()


@contextmanager
def _schema(outer: Snowflake, home: Path) -> Iterator[str]:
    """A schema of our own that goes again; if we are killed, by the next one from here."""
    schema = f"{START}{secrets.token_hex(4)}".upper()
    (home / schema).mkdir(parents=True)
    (home / schema / HOLDER).write_text(holder.me())
    try:
        outer.ask(f"CREATE SCHEMA {schema}", {})
        yield schema
    finally:
        outer.ask(f"DROP SCHEMA IF EXISTS {schema}", {})
        shutil.rmtree(home / schema)


def _left(home: Path) -> list[str]:
    """The schemas of trials from here that were killed.

    Of one on another machine, or before a restart of this one, it is known by its age alone.
    """
    notes = sorted(home.glob(f"{START}*/{HOLDER}"))
    old = time.time() - LONGEST
    ended = (one for one in notes if holder.gone(one.read_text()) or one.stat().st_mtime < old)
    return [one.parent.name for one in ended]


def _drop(outer: Snowflake, schema: str) -> None:
    with suppress(LoupeError):  # most have none, and some roles cannot have one
        outer.ask(f"DROP SERVICE IF EXISTS {schema}.{SERVICE}", {})
    outer.ask(f"DROP SCHEMA IF EXISTS {schema}", {})


def _outside(elsewhere: Elsewhere) -> Callable[[_Trial], str]:
    return lambda trial: elsewhere(trial.address)


def _tried(name: str, way: Callable[[_Trial], str], trial: _Trial) -> Tried:
    try:
        return Tried(name, True, way(trial))
    except NotHere as error:
        return Tried(name, None, str(error))
    except LoupeError as error:
        return Tried(name, False, str(error))
    except (OSError, ValueError, IndexError) as error:  # an answer that is not as it is documented
        return Tried(name, False, f"{type(error).__name__}: {error}")


def _login(trial: _Trial) -> str:
    ((who, role, version),) = trial.do("SELECT CURRENT_USER(), CURRENT_ROLE(), CURRENT_VERSION()")
    how = trial.address.options.get("authenticator", "password or connections.toml")
    return f"{who} with the role {role}, by {how}; Snowflake {version}"


def _rights(trial: _Trial) -> str:
    missing = trial.warehouse.check()["missing"]
    _hold(not missing, "; ".join(missing))
    return "tables and views can be made and written"


def _views(trial: _Trial) -> str:
    trial.warehouse.lay()
    names = list(base.shown("snowflake", ()))
    for name in names:
        trial.number(f"SELECT count(*) FROM {name}")
    return f"{len(names)} views"


def _copied_twice(trial: _Trial) -> str:
    _put(trial, "copied")
    for _ in range(2):
        trial.do(f"COPY INTO copied FROM @%copied {COPY.replace(' PURGE = TRUE', '')}")
    found = trial.number("SELECT count(*) FROM copied")
    _hold(found == ROWS, f"{found:,} rows where {ROWS:,} were copied twice")
    return f"{ROWS:,} rows, once"


def _doubled_source(trial: _Trial) -> str:
    """What a load's MERGE does with a key that comes twice."""
    trial.do("CREATE TABLE merged (id NUMBER(38, 0), said VARCHAR)")
    trial.do(
        "MERGE INTO merged t USING (SELECT * FROM (SELECT 1 AS id, 'a' AS said UNION ALL "
        "SELECT 1, 'b') QUALIFY row_number() OVER (PARTITION BY id ORDER BY said DESC) = 1) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET said = s.said "
        "WHEN NOT MATCHED THEN INSERT (id, said) VALUES (s.id, s.said)"
    )
    rows = trial.do("SELECT id, said FROM merged")
    _hold(rows == [(1, "b")], f"{len(rows)} rows where the newest of two was merged")
    return "the newest of two rows of one key, once"


def _merged_at_once(trial: _Trial) -> str:
    trial.do("CREATE TABLE crowded (id NUMBER(38, 0))")
    told: list[LoupeError] = []
    threads = [threading.Thread(target=_merge, args=(trial, told)) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    _hold(not told, "; ".join(map(str, told)))
    found = trial.number("SELECT count(*) FROM crowded")
    _hold(found == ROWS, f"{found:,} rows where two merged the same {ROWS:,}")
    return f"{ROWS:,} rows, once"


def _merge(trial: _Trial, told: list[LoupeError]) -> None:
    try:
        warehouse = Snowflake(trial.address, trial.scratch)
        try:
            warehouse.ask(
                "MERGE INTO crowded t USING (SELECT id FROM copied) s ON t.id = s.id "
                "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
                {},
            )
        finally:
            warehouse.close()
    except LoupeError as error:
        told.append(error)


def _stage(trial: _Trial) -> str:
    """What LIST says of a file, and whether GET brings it back."""
    file = _put(trial, "fetched")
    ((_, size, digest, *_),) = trial.do("LIST @%fetched")
    same = digest == hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
    folder = trial.scratch / "got"
    folder.mkdir(exist_ok=True)
    trial.do(f"GET @%fetched 'file://{_quoted(folder)}'")
    (back,) = folder.iterdir()
    _hold(back.read_bytes() == file.read_bytes(), "GET brought other bytes than PUT had taken")
    return f"{size} bytes as they were; LIST's md5 is {'' if same else 'not '}that of the file"


def _name(trial: _Trial) -> str:
    trial.do(f'CREATE TABLE "{"n" * LARGEST_NAME}" (id NUMBER(38, 0))')
    try:
        trial.do(f'CREATE TABLE "{"n" * (LARGEST_NAME + 1)}" (id NUMBER(38, 0))')
    except LoupeError:
        return f"{LARGEST_NAME} characters are taken, one more is refused"
    raise Refused(f"a name of {LARGEST_NAME + 1} characters is taken")


def _picture(trial: _Trial) -> str:
    table = pa.table({"said": pa.array([os.urandom(PICTURE)], pa.binary())})
    _put(trial, "picture", table, "said BINARY")
    form = COPY.replace("TYPE = PARQUET", "TYPE = PARQUET BINARY_AS_TEXT = FALSE")
    trial.do(f"COPY INTO picture FROM @%picture {form}")
    found = trial.number("SELECT length(said) FROM picture")
    _hold(found == PICTURE, f"{found:,} bytes of {PICTURE:,}")
    return f"{PICTURE:,} bytes as BINARY"


def _moments(trial: _Trial) -> str:
    """A moment arrives as such, to the microsecond, in no zone, and can be asked for by its day."""
    moment = datetime(2026, 7, 1, 23, 59, 59, 987_654)
    table = pa.table({"said": pa.array([moment], pa.timestamp("us"))})
    _put(trial, "moments", table, "said TIMESTAMP_NTZ")
    trial.do(f"COPY INTO moments FROM @%moments {COPY}")
    ((found,),) = trial.do("SELECT said FROM moments")
    _hold(found == moment, f"{found} where {moment} was loaded")
    days = trial.do("SELECT SUBSTR(TO_CHAR(said, 'YYYY-MM-DD'), 1, 10) FROM moments")
    _hold(days == [("2026-07-01",)], f"its day is {days}")
    return f"{moment}, as it was loaded"


def _credits(trial: _Trial) -> str:
    ((seconds, credits),) = trial.do(
        "SELECT sum(execution_time) / 1000, sum(credits_used_cloud_services) "
        "FROM TABLE(INFORMATION_SCHEMA.QUERY_HISTORY_BY_SESSION(RESULT_LIMIT => 10000))"
    )
    return f"{seconds} seconds of the warehouse and {credits} credits of cloud services, all trials"


TRIALS: dict[str, Callable[[_Trial], str]] = {
    "login": _login,
    "rights": _rights,
    "views": _views,
    "COPY twice": _copied_twice,
    "MERGE of a key that comes twice": _doubled_source,
    "two MERGEs at once": _merged_at_once,
    "LIST and GET": _stage,
    "a name of 255": _name,
    "a picture of 8 MB": _picture,
    "moments": _moments,
}
CREDITS = "credits"  # comes last: it is that of all the others


def _put(
    trial: _Trial, name: str, table: pa.Table | None = None, columns: str = "id NUMBER(38, 0)"
) -> Path:
    """A table with a file on its stage."""
    trial.do(f"CREATE TABLE {name} ({columns})")
    file = trial.scratch / f"{name}.parquet"
    pq.write_table(pa.table({"id": list(range(ROWS))}) if table is None else table, file)
    trial.do(f"PUT 'file://{_quoted(file)}' @%{name} AUTO_COMPRESS = FALSE OVERWRITE = TRUE")
    return file


def _quoted(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace("'", "\\'")


def _hold(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise Refused(otherwise)
