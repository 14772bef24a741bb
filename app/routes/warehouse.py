"""How the warehouse stands, as the Jobs page tells it; asks our own database alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from app import premises
from app.edge import login, pools
from backend.errors import Refused
from backend.warehouse import address, outbox, standing

router = APIRouter(prefix="/api/warehouse", dependencies=[login.SEES], route_class=pools.Pooled)


@dataclass(frozen=True, slots=True)
class WarehouseCard:
    """How the warehouse stands, in sentences; none where there is no warehouse."""

    told: Sequence[str]
    waiting: int
    failing: bool


@dataclass(frozen=True, slots=True)
class HurriedRows:
    """How many rows are published at once."""

    rows: int


@router.get("")
def stands(at: premises.At) -> WarehouseCard:
    """How it stands in sentences, and how many rows wait; nothing where there is none."""
    try:
        with at.read() as session:
            found = standing.of(session, at.settings)
    except Refused as wrong:  # a setting, or a file that it names
        return WarehouseCard([str(wrong)], 0, True)
    if found is None:
        return WarehouseCard([], 0, False)
    return WarehouseCard(standing.sentences(found), found.waiting, bool(found.error))


@router.post("")
def publish(at: premises.At, person: login.Labeler) -> HurriedRows:  # noqa: ARG001
    """Let what waits be published at once."""
    if not address.is_set(at.settings):
        raise Refused(address.NONE)
    with at.write() as session:
        return HurriedRows(outbox.hurry(session))
