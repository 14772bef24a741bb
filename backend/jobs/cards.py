"""Whether a job that asks for a card could have one anywhere; torch is not asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from backend.jobs import drivers, needs, presence
from backend.settings import Settings, current

NOWHERE = (
    "A GPU is asked for, and no machine here has one: ask for the device cpu, or name a cluster "
    "that has GPUs, or can start nodes with them, with LOUPE_RAY_ADDRESS."
)


def can_be_had(settings: Settings) -> bool:
    """Whether a job of this machine may come by a card: its own, or one of a cluster."""
    return bool(settings.ray_address) or drivers.driven()


def missing(session: Session, values: Mapping[str, Any]) -> Iterator[str]:
    """A card that is asked for, and that no worker who lives could give to its job.

    Where none lives, one is started here, or begins on another machine that shares the database.
    """
    if values.get("device", needs.AUTO) != needs.GPU:
        return
    can = [one.sees.get("cards", True) for one in presence.living(session)]
    if not can and session.get_bind().dialect.name == "sqlite":
        can = [can_be_had(current())]
    if can and not any(can):
        yield NOWHERE
