"""Brings the files of a stage into the store: listed once, a folder at a time, several at once.

GET puts all files of a place into one folder, so that equal names would overwrite each other.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backend.errors import Invalid, NotFound, Refused, Unavailable
from backend.formats.source import tree
from backend.incoming import fetched, names
from backend.incoming.fetched import Fetched, Listed
from backend.incoming.names import Stage
from backend.settings import Settings
from backend.storage.files import Files
from backend.warehouse import address as addresses
from backend.warehouse.address import Address
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection

AT_ONCE = 4  # GETs; each of them has ten files on the way
MOST = 1000  # files of one GET; so many wait beside the store at most
NAMED = 200  # files of a GET that names them
BLOCK = 16  # what a stage encrypts is filled up to such a block
PLACE = "A stage or a table of Snowflake is read where LOUPE_WAREHOUSE_URL names a Snowflake."
WAITING = "Waiting for another one that reads from there"
LOOK = 1.0  # seconds between two looks whether to stop
Told = Callable[[int, int], None]  # of none: it waits, and does not know how many there are


@dataclass(frozen=True, slots=True)
class Brought:
    """A file of a place and the hash of its bytes in the store; `name` is below the place."""

    name: str
    sha256: str


def is_stage(said: str) -> bool:
    """Whether somebody means a place on a stage; a folder of such a name is ./@name."""
    return said.startswith("@")


def check(said: str, settings: Settings) -> str:
    """Refuse, before anything starts, what cannot be a place on a stage; gives it as it is kept."""
    place = names.stage(said)
    account(settings)
    return str(place)


def account(settings: Settings) -> Address:
    """The Snowflake that the settings name."""
    found = addresses.of(settings)
    if found is None or found.dialect != "snowflake":
        raise Refused(PLACE)
    return found


@contextmanager
def brought(
    said: str,
    known: Address,
    cache: Path,
    files: Files,
    told: Told,
    wanted: Callable[[str], bool] = tree.wanted,
) -> Iterator[Iterator[Brought]]:
    """Bring in what the store has not got of a place; gives all that is wanted of it by name."""
    place = names.stage(said)
    with closing(SnowflakeConnection(known)) as connection:
        place = in_full(connection, place)
        with fetched.opened(_home(cache, known, place), lambda: told(0, 0)) as ledger:
            there = listed(connection, place)
            count = ledger.note(replace(one, wanted=wanted(one.name)) for one in there)
            if not count:
                raise NotFound(f"There are no pictures at {place} ({', '.join(tree.ENDINGS)}).")
            _Fetching(connection, place, ledger, files, count, told).run()
            yield (Brought(_below(place, name), sha256) for name, sha256 in ledger.held())


def in_full(connection: SnowflakeConnection, place: Stage) -> Stage:
    """With the database and the schema that the connection is in."""
    if place.names == ("~",) or len(place.names) == 3:
        return place
    asked = "SELECT CURRENT_DATABASE(), CURRENT_SCHEMA()"
    here = [str(one) for one in connection.ask(asked)[0] if one]
    return Stage((*here[: 3 - len(place.names)], *place.names), place.path)


def _below(place: Stage, name: str) -> str:
    """A file's name below the place, which may be that file."""
    if name == place.path:
        return name.rpartition("/")[2]
    return name.removeprefix(f"{place.path}/" if place.path else "")


def _home(cache: Path, known: Address, place: Stage) -> Path:
    told = repr((known.digest, place.names))
    return cache / "stages" / hashlib.sha256(told.encode()).hexdigest()[:16]


def listed(connection: SnowflakeConnection, place: Stage) -> Iterator[Listed]:
    """The files of a place; a LIST tells also of others whose names begin as this one's."""
    for name, size, digest, changed, *_ in connection.stream("LIST %s", (str(place),)):
        if "://" in name:
            raise Invalid(
                f"{place.whole} is an external stage, of which Snowflake hands out no files; read "
                "them where they lie, by their own URL."
            )
        inside = name.partition("/")[2] if place.is_named else name
        if not place.path or inside == place.path or inside.startswith(f"{place.path}/"):
            yield Listed(inside, int(size), f"{size} {digest or changed}")


@dataclass(slots=True)
class _Fetching:
    """One place on its way into the store."""

    connection: SnowflakeConnection
    place: Stage
    ledger: Fetched
    files: Files
    count: int
    told: Told
    done: int = 0

    def run(self) -> None:
        """Bring in what is missing; what a killed process had fetched is not fetched again."""
        self._forget_lost()
        self._adopt()
        self.done = self.count - sum(map(len, self.ledger.missing()))
        self.told(self.done, self.count)
        with ThreadPoolExecutor(AT_ONCE, "stage") as pool:
            waiting: dict[Future[list[tuple[str, str]]], str] = {}
            try:
                for got in self._gets():
                    if len(waiting) >= 2 * AT_ONCE:
                        self._keep(waiting)
                    box = _box(got.files)
                    self.ledger.asked(box, got.files)
                    waiting[pool.submit(self._get, got, box)] = box
                while waiting:
                    self._keep(waiting)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _forget_lost(self) -> None:
        """What nothing named for long has been removed from the store."""
        stays = self.files.renew if self.files.local else self.files.has
        held = self.ledger.held()
        while part := list(itertools.islice(held, MOST)):
            self.ledger.lose([name for name, sha256 in part if not stays(sha256)])

    def _adopt(self) -> None:
        left = self.ledger.left()
        while part := list(itertools.islice(left, MOST)):
            whole = [(one, path) for one, path in part if is_whole(path, one)]
            self.ledger.keep([(one.name, self.files.put_file(path)) for one, path in whole])
        for box in self.ledger.home.iterdir():
            if box.is_dir():
                shutil.rmtree(box)

    def _keep(self, waiting: dict[Future[list[tuple[str, str]]], str]) -> None:
        """Note what the next one has brought; who has told us to stop is heard meanwhile."""
        ready = self._next(waiting)
        box = waiting.pop(ready)
        hashes = ready.result()
        self.ledger.keep(hashes)
        shutil.rmtree(self.ledger.home / box, ignore_errors=True)
        self.done += len(hashes)
        self.told(self.done, self.count)

    def _next(self, waiting: Collection[Future[list[tuple[str, str]]]]) -> Any:
        while True:
            with suppress(TimeoutError):
                return next(as_completed(waiting, LOOK))
            self.told(self.done, self.count)

    def _gets(self) -> Iterator[_Get]:
        """The statements that fetch what is missing, no two files of one of equal names."""
        for missing in self.ledger.missing():
            folder = missing[0].folder
            at = self.place.whole.at(folder + "/" if folder else "")
            if not self._is_listed(folder):
                yield from (_Get(self.place.whole.at(one.name), [one]) for one in missing)
                continue
            if len(missing) <= MOST and self.ledger.is_alone(folder, len(missing)):
                yield _Get(at, missing)
                continue
            double = self.ledger.bases_below(folder)
            several = [one for one in missing if one.base not in double]
            for start in range(0, len(several), NAMED):
                part = several[start : start + NAMED]
                yield _Get(at, part, f"(.*/)?({'|'.join(re.escape(one.base) for one in part)})")
            for one in missing:
                if one.base in double:
                    yield _Get(self.place.whole.at(one.name), [one])

    def _is_listed(self, folder: str) -> bool:
        """Whether all of a folder was listed; not that of a place which is a file."""
        return not self.place.path or f"{folder}/".startswith(f"{self.place.path}/")

    def _get(self, got: _Get, box: str) -> list[tuple[str, str]]:
        folder = self.ledger.home / box
        folder.mkdir(exist_ok=True)
        values = [got.place, f"file://{folder}/", *([got.pattern] if got.pattern else [])]
        self.connection.ask("GET %s %s" + (" PATTERN = %s" if got.pattern else ""), values)
        try:
            return [(one.name, self._stored(folder / one.base, one)) for one in got.files]
        except OSError as error:
            raise Unavailable(
                f"What was fetched from {got.place} cannot be stored: {error.strerror or error}."
            ) from error

    def _stored(self, path: Path, one: Listed) -> str:
        with suppress(FileNotFoundError):
            if is_whole(path, one):
                return self.files.put_file(path)
        raise Unavailable(
            f"{self.place.whole.at(one.name)} did not come whole: has it changed meanwhile? The "
            "same command goes on where it stopped."
        )


@dataclass(frozen=True, slots=True)
class _Get:
    """One statement: where from, which files, and the pattern that only they fit."""

    place: str
    files: Sequence[Listed]
    pattern: str = ""


def is_whole(path: Path, one: Listed) -> bool:
    """Whether a file here is as long as it is there: one that is cut off is not."""
    size = path.stat().st_size
    return one.size in (size, (size // BLOCK + 1) * BLOCK)


def _box(files: Sequence[Listed]) -> str:
    told = repr([(one.name, one.token) for one in files])
    return hashlib.sha256(told.encode()).hexdigest()[:24]
