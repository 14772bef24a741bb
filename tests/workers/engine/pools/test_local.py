from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest

from backend.errors import Invalid
from tests.workers.engine import broken, spots
from workers.engine import chunks
from workers.engine.chunks import ChunkResult, Looked, Status, Work
from workers.engine.pools.local import LocalPool
from workers.engine.work import Setup


def _work(paths: list[str]) -> Iterable[Work]:
    return (Work(i, path) for i, path in enumerate(paths))


def _all(results: Iterable[ChunkResult]) -> dict[int, Looked]:
    found: dict[int, Looked] = {}
    for result in results:
        for one in result:
            assert one.index not in found
            found[one.index] = one
    return found


def test_every_picture_is_answered_once_with_its_own_boxes(tmp_path: Path) -> None:
    paths = spots.draw(tmp_path, 30)
    with LocalPool(spots.setup(), 2) as pool:
        found = _all(pool.run(chunks.cut(_work(paths), 4)))
    assert [len(found[i].boxes) for i in range(30)] == [i % 3 for i in range(30)]
    assert {(one.width, one.height) for one in found.values()} == {(64, 48)}


def test_processes_killed_again_and_again_lose_nothing(tmp_path: Path) -> None:
    paths = spots.draw(tmp_path, 120)
    random.seed(1)
    found: dict[int, Looked] = {}
    with LocalPool(spots.setup(0.01), 2) as pool:
        for count, result in enumerate(pool.run(chunks.cut(_work(paths), 4))):
            found.update((one.index, one) for one in result)
            if count % 6 == 5 and count < 36:
                os.kill(random.choice(pool.pids()), signal.SIGKILL)
    assert sorted(found) == list(range(120))
    assert all(one.status == Status.OK for one in found.values())


def test_the_server_that_forks_them_may_be_killed_too(tmp_path: Path) -> None:
    paths = spots.draw(tmp_path, 40)
    found: dict[int, Looked] = {}
    with LocalPool(spots.setup(0.01), 2) as pool:
        for count, result in enumerate(pool.run(chunks.cut(_work(paths), 4))):
            found.update((one.index, one) for one in result)
            if count == 1:
                lookers = [psutil.Process(pid) for pid in pool.pids()]
                server = lookers[0].parent()
                assert server is not None
                assert server.pid != os.getpid()
                server.kill()
                lookers[0].kill()
        lookers += [psutil.Process(pid) for pid in pool.pids() if pid != lookers[1].pid]
        assert len(lookers) == 3
    assert sorted(found) == list(range(40))
    end = time.monotonic() + 60
    while any(_works(one) for one in lookers):
        assert time.monotonic() < end
        time.sleep(0.05)


def _works(process: psutil.Process) -> bool:
    """Whether a process is there, and is more than the row that its parent has not read yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_picture_that_kills_its_process_is_the_only_one_left_out(tmp_path: Path) -> None:
    paths = spots.draw(tmp_path, 12)
    paths[5] = spots.draw(tmp_path, 1, "killer")[0]
    with LocalPool(spots.setup(), 1) as pool:
        found = _all(pool.run(chunks.cut(_work(paths), 8)))
    assert [i for i, one in found.items() if one.status != Status.OK] == [5]
    assert found[5].status == Status.CRASHED
    assert "killer0.png" in found[5].error


def test_two_broken_files_of_a_hundred_are_listed_and_all_others_detected(tmp_path: Path) -> None:
    paths = spots.draw(tmp_path, 343)
    reasons = {}
    for at, (name, (data, reason)) in enumerate(broken.files().items()):
        (tmp_path / name).write_bytes(data)
        paths.insert(50 * at, str(tmp_path / name))
        reasons[50 * at] = reason
    with LocalPool(spots.setup(), 2) as pool:
        found = _all(pool.run(chunks.cut(_work(paths), 16)))
    failed = {i: one.error for i, one in found.items() if one.status != Status.OK}
    assert sorted(failed) == sorted(reasons)
    assert all(re.search(reasons[i], error) for i, error in failed.items())
    assert sum(len(found[i].boxes) for i in found) == sum(i % 3 for i in range(343))


def test_no_process_is_left_when_the_pool_is_closed_in_the_middle(tmp_path: Path) -> None:
    paths = spots.draw(tmp_path, 40)
    with LocalPool(spots.setup(0.05), 2) as pool:
        next(iter(pool.run(chunks.cut(_work(paths), 2))))
        pids = pool.pids()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_model_that_cannot_be_loaded_is_told_in_its_own_words() -> None:
    with (
        LocalPool(Setup("tests.workers.engine.spots:refuse"), 1) as pool,
        pytest.raises(Invalid, match="for another model"),
    ):
        next(iter(pool.run(chunks.cut([Work(0, "none.png")], 1))))
