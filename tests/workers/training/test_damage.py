"""A byte that a disk has turned is noticed before a model learns from it, and named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import Damaged, Invalid
from backend.jobs import kinds, queue
from backend.models import snapshots
from backend.storage.files import Files
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers import data


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home")
    yield made
    made.database.close()


def turn_a_byte(files: Files, sha256: str) -> None:
    path = files.local_path(sha256)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_training_names_the_picture_of_which_a_byte_has_turned(place: Place) -> None:
    project = place.sample(3)
    with place.database.write.begin() as session:
        queue.enqueue(session, kinds.Check(project_id=None, steps=1))
        snapshot = snapshots.freeze(session, project, 0, "ana").id
        first, *_ = snapshots.images(session, snapshot)
    context = place.context(place.claim())
    assert data.lay_out(context, snapshot).set.examples
    turn_a_byte(place.files, first.sha256)
    with pytest.raises(Invalid, match=rf"{first.name} \(or its golden\) is not what came in"):
        data.lay_out(context, snapshot)


def test_a_damaged_copy_of_a_remote_file_is_fetched_anew(tmp_path: Path) -> None:
    store = Files("memory://damage", tmp_path / "cache")
    name = store.put(b"whole")
    turn_a_byte(store, name)
    with pytest.raises(Damaged, match="have changed in the store"):
        store.intact_path(name)
    assert store.intact_path(name).read_bytes() == b"whole"
