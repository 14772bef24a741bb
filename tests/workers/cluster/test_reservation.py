"""How long a job waits for nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backend import settings
from backend.errors import Refused
from workers.demand import reservation


@pytest.fixture
def two_minutes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LOUPE_NODE_MINUTES", "2")
    settings.current.cache_clear()
    yield
    settings.current.cache_clear()


@pytest.mark.usefixtures("two_minutes")
def test_what_is_waited_for_longer_than_is_allowed_is_given_up_by_name() -> None:
    reservation.check_patience(120, "Waiting for 1 GPU.")
    told = r"Given up after 2 minutes \(LOUPE_NODE_MINUTES\)\. Waiting for 1 GPU\."
    with pytest.raises(Refused, match=told):
        reservation.check_patience(121, "Waiting for 1 GPU.")
