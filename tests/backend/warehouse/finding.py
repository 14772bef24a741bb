"""What a house of these tests found, and whether a warehouse has it: each row, and none twice."""

from __future__ import annotations

import time
from subprocess import Popen

import psutil

from backend.domain import Detection, Run, RunImage
from backend.storage import findings, types
from backend.storage.engine import Database
from backend.warehouse import ledger, loading, outbox
from tests.warehouses import Publishing

PATIENCE = 120.0


def find(database: Database, run: int, images: int = 20, each: int = 10) -> None:
    boxes = tuple(Detection(i, 1, i + 5, 9, "x", 0.5, i) for i in range(each))
    seen = [RunImage(one, str(one), detections=boxes) for one in range(1, images + 1)]
    with database.write.begin() as session:
        findings.start(session, Run(run, "v2", "yolo", types.now()))
        findings.record(session, run, seen)
        findings.finish(session, run, 1.0, {})


def until_frozen(child: Popen[bytes]) -> None:
    """Wait until a process has stopped itself."""
    process = psutil.Process(child.pid)
    end = time.monotonic() + PATIENCE
    while process.status() != psutil.STATUS_STOPPED:
        assert child.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)


def once(house: Publishing, images: int, each: int = 10) -> None:
    """Every row is there, and no row twice; nothing is left over."""
    found = "SELECT count(*), count(DISTINCT image_id * 1000 + idx) FROM loupe_detection_now"
    assert house.place.ask(found) == [(images * each, images * each)]
    seen = house.place.ask("SELECT count(*) FROM loupe_run_image_now")
    assert seen == [(images,)]
    if house.place.port:
        tables = house.place.ask("SELECT table_name FROM information_schema.tables")
        assert [name for (name,) in tables if "staging" in name.lower()] == []
    assert not loading.scratch(house.settings).exists()
    with house.database.read() as session:
        assert not outbox.waits(session)
        assert ledger.unswept(session) == []
