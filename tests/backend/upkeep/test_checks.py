"""A whole home is looked through: what is amiss is told, mended where that loses nothing."""

from __future__ import annotations

from sqlalchemy import text

from backend.labels import images
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.upkeep import checks, removal
from tests.backend.labels import drawn
from tests.homes import checked, whole_home


def damage(database: Database, *statements: str) -> None:
    with database.write.begin() as session:
        for one in statements:
            session.execute(text(one))


def rules(report: checks.Diagnosis) -> dict[str, bool]:
    return {one.rule: one.mended for one in report.findings}


def test_a_repair_mends_all_that_it_can_and_nothing_else(database: Database, files: Files) -> None:
    whole_home.fill(database, files.put(drawn.picture(kind="PNG")))
    checked.whole(database, files)
    damage(database, "UPDATE image SET box_count = 9", "UPDATE box SET x1 = x1 / 2")
    with database.read() as session:
        boxes = whole_home.rows(session)["box"]
    found = checks.check(database, files)
    assert rules(found) == {"boxes": False, "boxes-of-image": False}
    mended = checks.check(database, files, repair=True)
    assert rules(mended) == {"boxes": False, "boxes-of-image": True}
    assert rules(checks.check(database, files)) == {"boxes": False}
    with database.read() as session:
        assert whole_home.rows(session)["box"] == boxes


def test_a_purge_and_a_removal_leave_nothing_amiss(database: Database, files: Files) -> None:
    project = whole_home.fill(database, files.put(drawn.picture(kind="PNG")))
    with database.write.begin() as session:
        ids = images.ids(session, project, ["a", "b", "golden"])
        images.put_away(session, list(ids.values()))
    assert removal.purge(database, project) == 2
    checked.whole(database, files)
    with database.write.begin() as session:
        removal.begin(session, project, "boards", "ana")
    removal.finish(database, project)
    checked.whole(database, files)


def test_a_file_that_is_gone_or_changed_is_told(sqlite: Database, files: Files) -> None:
    sha256 = files.put(drawn.picture(kind="PNG"))
    whole_home.fill(sqlite, sha256)
    path = files.local_path(sha256)
    path.chmod(0o644)
    path.write_bytes(b"x")
    assert rules(checks.check(sqlite, files, quick=True)) == {}
    assert rules(checks.check(sqlite, files)) == {checks.CHANGED: False}
    path.unlink()
    assert rules(checks.check(sqlite, files, quick=True)) == {checks.MISSING: False}


def test_of_many_breaches_a_few_are_told_one_by_one(sqlite: Database, files: Files) -> None:
    whole_home.fill(sqlite, files.put(drawn.picture(kind="PNG")))
    copies = "SELECT run_id, image_id + {}, idx, label, score, x1, y1, x2, y2 FROM detection"
    columns = "run_id, image_id, idx, label, score, x1, y1, x2, y2"
    for step in (100, 200, 400, 800):
        damage(sqlite, f"INSERT INTO detection ({columns}) {copies.format(step)}")
    found = checks.check(sqlite, files).findings
    told = [one.sentence for one in found if one.rule == "detection.run_id+image_id"]
    assert (len(told), told[-1]) == (checks.MOST + 1, "… and 70 more like this.")
