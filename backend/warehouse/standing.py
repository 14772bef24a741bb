"""How the warehouse stands: what is loaded, what waits and since when; asks our database alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from backend import words
from backend.settings import Settings
from backend.storage.types import now
from backend.warehouse import address, layouts, ledger, outbox
from backend.warehouse.ledger import LoadState

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Filling:
    """How far the warehouse is filled, as people are told."""

    where: str
    step: str
    waiting: int
    oldest: datetime | None
    loaded: datetime | None
    rows: Mapping[str, int]
    error: str
    since: datetime | None
    rests_until: datetime | None
    statements: int
    seconds: float


def of(session: Session, settings: Settings) -> Filling | None:
    """How it stands, where there is a warehouse."""
    where = address.of(settings)
    if where is None:
        return None
    waiting, last = outbox.waiting(session), ledger.last_loaded(session)
    day = ledger.since(session, now() - DAY)
    running = ledger.running(session)
    ended = [one for one in ledger.loads(session, 200) if one.state is not LoadState.RUNNING]
    failed = _failing(ended)
    return Filling(
        where=where.shown,
        step=running.step if running else "",
        waiting=waiting.rows,
        oldest=waiting.oldest,
        loaded=last.finished if last else None,
        rows=_sums(day),
        error=failed[0].error if failed else "",
        since=failed[-1].started if failed else None,
        rests_until=ledger.rests_until(session),
        statements=sum(one.statements for one in day),
        seconds=sum(one.seconds for one in day),
    )


def sentences(found: Filling) -> list[str]:
    """How the warehouse stands, for people."""
    rows = ", ".join(f"{count:,} {kind}" for kind, count in found.rows.items())
    told = [f"Results are published into {found.where}."]
    if found.step:
        told.append(f"A load is at it: {found.step}.")
    if found.loaded is None:
        told.append("Nothing was published yet.")
    else:
        told.append(f"Last published {found.loaded:%Y-%m-%d %H:%M} UTC.")
    if found.waiting:
        assert found.oldest is not None
        minutes = (now() - found.oldest).total_seconds() / 60
        waits = words.many(found.waiting, "changed row waits", "changed rows wait")
        told.append(f"{waits}, the oldest for {words.many(round(minutes), 'minute')}.")
    else:
        told.append("Nothing waits.")
    if found.error and found.since:
        told.append(f"Since {found.since:%Y-%m-%d %H:%M} UTC it fails: {found.error}")
    told.append(
        f"In the last day: {found.statements:,} statements, {found.seconds:,.0f} seconds"
        + (f"; rows published: {rows}." if rows else ".")
    )
    return told


def is_due(session: Session, settings: Settings) -> bool:
    """Whether enough waits, or for long enough, or somebody asks; and no failure is too near."""
    where = address.of(settings)
    if where is None:
        return False
    rests = ledger.rests_until(session)
    if rests is not None and now() < rests:
        return False
    if ledger.laid(session) != str(layouts.of(where)) or ledger.is_broken_off(session):
        return True
    waiting = outbox.waiting(session)
    if waiting.oldest is None:
        return False
    old = now() - waiting.oldest >= timedelta(minutes=settings.load_minutes)
    return waiting.urgent or old or waiting.rows >= settings.load_rows


def _failing(ended: list[ledger.Load]) -> list[ledger.Load]:
    """The failures since the last success, the newest first."""
    found = []
    for one in ended:
        if one.state is LoadState.LOADED:
            break
        found.append(one)
    return found


def _sums(loads: list[ledger.Load]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in loads:
        if one.state is LoadState.LOADED:
            for kind, count in one.rows.items():
                found[kind] = found.get(kind, 0) + count
    return found
