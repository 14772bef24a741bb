"""A prepared model on a machine that does not see the one which prepared it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.app.commands.finding import WEIGHTS
from workers.engine.pools import shipping
from workers.families.base import Picture
from workers.runtimes import ModelSource, preparing
from workers.runtimes.preparing import Prepared


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """A model that only this test's folders hold."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "there"))
    (tmp_path / "there").mkdir()
    weights = tmp_path / "here" / WEIGHTS.name
    weights.parent.mkdir()
    shutil.copy(WEIGHTS, weights)
    return preparing.prepare(ModelSource("yolo", weights), tmp_path / "here", "torch", "f32")


def test_a_model_travels_and_is_kept_by_the_hash_of_its_content(
    prepared: Prepared, tmp_path: Path
) -> None:
    picture = Picture(np.full((64, 64, 3), 127, np.uint8))
    (before,) = preparing.load(prepared, 0.0).predict([picture])
    cargo = shipping.pack(prepared)
    shutil.rmtree(tmp_path / "here")
    arrived = shipping.unpack(prepared, cargo)
    assert arrived.folder == shipping.cache() / prepared.key[:32]
    (after,) = preparing.load(arrived, 0.0).predict([picture])
    assert np.array_equal(np.asarray(before), np.asarray(after))
    # What is kept there is not written again, whatever comes.
    assert shipping.unpack(prepared, {}) == arrived
    assert [path.name for path in shipping.cache().iterdir()] == [prepared.key[:32]]


def test_who_sees_the_disk_takes_the_model_from_there(prepared: Prepared) -> None:
    assert shipping.unpack(prepared, shipping.pack(prepared)) == prepared
    assert not shipping.cache().exists()
