"""One load of the warehouse, step by step; killed at any of them, the next one goes on.

connecting → reading → staging a kind → merging it → counting it → … → loaded → swept
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from backend.errors import LeaseLost, LoupeError, Refused, Unavailable
from backend.jobs import holder
from backend.settings import Settings
from backend.storage import files
from backend.storage.engine import Database
from backend.warehouse import address as addresses
from backend.warehouse import layouts, ledger, outbox, reading
from backend.warehouse.dialects import opening
from backend.warehouse.dialects.base import Range, Warehouse
from backend.warehouse.ledger import Load
from backend.warehouse.outbox import Part
from backend.warehouse.shapes import RowKind
from backend.warehouse.tables import KINDS

log = logging.getLogger(__name__)
LARGEST = 1_000_000  # rows of one load, about
LOOK = 0.5


def run(database: Database, settings: Settings) -> bool:
    """Publish all that waits, load by load; tells whether it was published.

    Another loader that is at it is waited for, until it ends or is silent for too long. What goes
    wrong stands in the ledger, as a sentence.
    """
    address = addresses.of(settings)
    if address is None:
        return False
    while _is_needed(database, address):
        load = _turn(database, settings)
        try:
            if load is not None:
                _Loader(database, settings, address, load).run()
        except LoupeError as error:
            log.warning("The warehouse was not loaded: %s", error)
            return False
    return True


def scratch(settings: Settings) -> Path:
    """Folder of files that are on their way."""
    return settings.cache / "warehouse"


@dataclass(slots=True)
class _Loader:
    database: Database
    settings: Settings
    address: addresses.Address
    load: Load
    parts: list[Part] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    warehouse: Warehouse | None = None
    step: str = ""

    def run(self) -> None:
        """Carry out the load."""
        try:
            with self._beating(), self._scratch() as folder, self._connected(folder) as warehouse:
                self._sweep(warehouse)
                self._lay(warehouse)
                with self._noticing(warehouse):
                    self._publish(warehouse)
        except LeaseLost:
            raise
        except LoupeError as error:
            self._failed(str(error))
            raise
        except OSError as error:
            reason = error.strerror or error
            told = f"The disk of {scratch(self.settings)} does not take it: {reason}."
            self._failed(told)
            raise Unavailable(told) from error
        except (ValueError, TypeError, OverflowError) as error:
            told = f"A row cannot be published ({self.step}): {error}"
            self._failed(told)
            raise Refused(told) from error

    def _publish(self, warehouse: Warehouse) -> None:
        self._take()
        for name, parts in groupby(self.parts, key=lambda one: one.kind):
            self._stage(warehouse, KINDS[name], list(parts))
        if self.parts:
            with self.database.write.begin() as session:
                ledger.fence(session, self.load)
            warehouse.commit()
        with self.database.write.begin() as session:
            # What is swept after this is counted with it.
            ledger.finish(session, self.load, self.rows, warehouse.statements + len(self.rows))
        if self.parts:
            warehouse.sweep(self.load.version, list(self.rows))
            with self.database.write.begin() as session:
                ledger.swept(session, [self.load.id])

    def _take(self) -> None:
        with self.database.write.begin() as session:
            ledger.fence(session, self.load)
            order = list(KINDS)
            taken = outbox.take(session, self.load.id, LARGEST)
            self.parts = sorted(taken, key=lambda one: (order.index(one.kind), one.head, one.tail))
            kinds = dict.fromkeys((one.kind for one in self.parts), 0)
            values = {"row_counts": kinds, "swept": not kinds}
            ledger.step(session, self.load, "reading", **values)

    def _stage(self, warehouse: Warehouse, kind: RowKind, parts: Sequence[Part]) -> None:
        """One kind, from our rows to the count of what stands in the warehouse."""
        self._step(f"staging {kind.name}")
        warehouse.stage(kind, self.load.version)
        count = standing = 0
        store = files.connect(self.settings)
        for part in parts:
            for rows in reading.rows(self.database, part, self.load.version, store):
                warehouse.add(kind, rows)
                count += len(rows)
                standing += sum(not row[-1] for row in rows)
        warehouse.staged(kind, self.load.version)
        self._step(f"merging {kind.name}")
        warehouse.merge(kind, self.load.version, ranges(kind, [one for one in parts if one.gone]))
        self._step(f"counting {kind.name}")
        found = warehouse.count(kind, self.load.version, ranges(kind, parts))
        if found != standing:
            self._distrust()
            raise Unavailable(
                f"The warehouse has {found:,} rows of {kind.table} where {standing:,} were "
                "published; all of it is published anew. Does another Loupe write there, too?"
            )
        self.rows[kind.name] = count

    def _step(self, name: str) -> None:
        self.step = name
        with self.database.write.begin() as session:
            ledger.step(session, self.load, name)

    def _sweep(self, warehouse: Warehouse) -> None:
        """Take away what loads have left that were killed or failed."""
        with self.database.read.begin() as session:
            left = ledger.unswept(session)
        for one in left:
            warehouse.sweep(one.version, list(one.rows))
        if left:
            with self.database.write.begin() as session:
                ledger.swept(session, [one.id for one in left])

    def _lay(self, warehouse: Warehouse) -> None:
        """What it lacks of our tables and views is made, and what a kind lacks is published."""
        wanted = layouts.of(self.address)
        with self.database.read.begin() as session:
            noted = ledger.laid(session)
        if noted == str(wanted):
            return
        known = layouts.read(noted)
        self._step("laying tables")
        warehouse.lay()
        newest = warehouse.newest()
        # What has no row at all was emptied, or made anew, whatever is noted of it.
        lacking = known.lacks(wanted) if newest else list(wanted.kinds)
        # Of what is not known but may be there what is heavy is sent only where it differs.
        heavy = [
            one for one in lacking if newest and KINDS[one].heavy and not known.has(one, wanted)
        ]
        parts = {one: self._different(warehouse, KINDS[one]) for one in heavy}
        light = [one for one in lacking if one not in heavy]
        parts |= {one: dict.fromkeys(warehouse.heads(KINDS[one]), 0) for one in light if newest}
        with self.database.write.begin() as session:
            ledger.fence(session, self.load)
            outbox.enlist_all(session, light)
            for name, some in parts.items():
                outbox.enlist(session, name, some)
            ledger.set_laid(session, str(wanted))
            if newest >= self.load.version:
                self.load = ledger.outrun(session, self.load, newest)

    def _different(self, warehouse: Warehouse, kind: RowKind) -> dict[layouts.Part, int]:
        with self.database.read.begin() as session:
            here = layouts.parts(kind, layouts.pictures(session))
        return layouts.different(here, layouts.parts(kind, warehouse.pictures()))

    def _distrust(self) -> None:
        with self.database.write.begin() as session:
            ledger.fence(session, self.load)
            ledger.set_laid(session, "")

    @contextmanager
    def _noticing(self, warehouse: Warehouse) -> Iterator[None]:
        """What goes wrong as somebody has dropped a table of ours there is mended next time."""
        try:
            yield
        except Unavailable as error:
            if not (lost := self._lost(warehouse)):
                raise
            raise Unavailable(
                f"The warehouse has lost {', '.join(lost)}, or hides it from its role; the next "
                "load makes it anew."
            ) from error

    def _lost(self, warehouse: Warehouse) -> list[str]:
        """The tables that it had and has not got any more, which are forgotten."""
        try:
            there = warehouse.tables()
        except Unavailable:  # nobody answers: nothing is known
            return []
        with self.database.write.begin() as session:
            ledger.fence(session, self.load)
            known = layouts.read(ledger.laid(session))
            left = known.only(there)
            if left != known:
                ledger.set_laid(session, str(left))
        return [KINDS[name].table for name in known.kinds if name not in left.kinds]

    def _failed(self, reason: str) -> None:
        spent = self.warehouse.statements if self.warehouse else 0
        with suppress(LeaseLost), self.database.write.begin() as session:
            ledger.fail(session, self.load, reason, spent)

    @contextmanager
    def _connected(self, folder: Path) -> Iterator[Warehouse]:
        self.warehouse = warehouse = opening.connect(self.address, folder)
        try:
            yield warehouse
        finally:
            warehouse.close()

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        """A folder of our own; those of loaders that were killed here go with it."""
        home = scratch(self.settings)
        shutil.rmtree(home, ignore_errors=True)
        folder = home / str(self.load.id)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(home, ignore_errors=True)

    @contextmanager
    def _beating(self) -> Iterator[None]:
        """Show that we live, however long a statement takes."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(self.settings.lease_seconds / 4):
                with suppress(SQLAlchemyError, Unavailable):
                    try:
                        with self.database.write.begin() as session:
                            ledger.beat(session, self.load)
                    except LeaseLost:
                        return

        thread = threading.Thread(target=beat, name="beats", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def ranges(kind: RowKind, parts: Sequence[Part]) -> list[Range]:
    """The ranges of a key that parts have, those side by side as one."""
    found: list[list[tuple[str, int, int]]] = []
    for part in parts:
        head = (kind.head.column, *reading.within(kind.head, part.head))
        bounds = [head]
        if kind.tail is not None:
            bounds.append((kind.tail.column, *reading.within(kind.tail, part.tail)))
        if found and found[-1][:-1] == bounds[:-1] and found[-1][-1][2] + 1 == bounds[-1][1]:
            found[-1][-1] = (bounds[-1][0], found[-1][-1][1], bounds[-1][2])
        else:
            found.append(bounds)
    return [Range(tuple(one)) for one in found]


def _is_needed(database: Database, address: addresses.Address) -> bool:
    wanted = str(layouts.of(address))
    with database.read.begin() as session:
        broken = ledger.running(session) is not None or ledger.unswept(session)
        return bool(broken or outbox.waits(session) or ledger.laid(session) != wanted)


def _turn(database: Database, settings: Settings) -> Load | None:
    """A load of our own; nothing, once one of another has ended: is one needed still?"""
    seen, since = None, time.monotonic()
    while True:
        with database.write.begin() as session:
            running = ledger.running(session)
            if running is None:
                return ledger.begin(session) if seen is None else None
            if seen is None or (running.id, running.beats) != (seen.id, seen.beats):
                seen, since = running, time.monotonic()
            if reason := _why_free(running, time.monotonic() - since, settings.lease_seconds):
                log.info("Load %d ends: %s", running.id, reason)
                ledger.take_over(session, running, reason)
                continue
        time.sleep(LOOK)


def _why_free(load: Load, silent: float, lease: float) -> str:
    if holder.gone(load.holder):
        return "Its loader died."
    return f"Its loader was silent for {lease:g} seconds." if silent > lease else ""
