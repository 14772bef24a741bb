"""Which cards a machine has is known without the libraries that compute on them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from backend.jobs import drivers
from workers import cards

BARE = "import sys; from workers import cards; print(cards.device(), 'torch' in sys.modules)"


@pytest.mark.skipif(any(one.exists() for one in drivers.DRIVERS), reason="a card stands here")
def test_without_a_driver_torch_is_not_even_read() -> None:
    done = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cpu", "False"]


def test_who_carries_out_trials_begins_without_the_database_and_torch() -> None:
    """Each place of a cluster starts such a process."""
    bare = (
        "import sys; import workers.tuning.trier; print({'torch', 'sqlalchemy'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", bare], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_where_a_driver_stands_torch_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drivers, "DRIVERS", (tmp_path,))
    assert cards.device() == ("cuda:0" if torch.cuda.is_available() else "cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda at: f"Card {at}")
    assert (cards.names(), cards.device()) == (["Card 0", "Card 1"], "cuda:0")
