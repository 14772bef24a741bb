"""What is removed goes with all that hangs on it, and with nothing else."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.domain import JobState, Run, RunImage
from backend.errors import Busy, NotFound, Refused
from backend.jobs import kinds, queue
from backend.labels import gallery, images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage import engine, findings, tables, types
from backend.storage.engine import Database
from backend.upkeep import removal

# Tables whose rows belong to the house, and not to a project.
APART = {"load", "login", "outbox", "person", "project", "setting", "token", "token_use", "worker"}


def find(database: Database, name: str) -> int:
    with database.read.begin() as session:
        return catalogue.find(session, name).id


def counts(database: Database) -> dict[str, int]:
    """How many rows each table has."""
    every = tables.Base.metadata.sorted_tables
    with database.read.begin() as session:
        return {
            one.name: session.scalar(select(func.count()).select_from(one)) or 0 for one in every
        }


def remove(database: Database, name: str) -> int:
    project = find(database, name)
    with database.write.begin() as session:
        removal.begin(session, project, name, "ana")
    removal.finish(database, project)
    return project


def test_every_table_is_thought_of() -> None:
    hanging = {row.__tablename__ for row, _, _ in removal.HANGING}
    own = {row.__tablename__ for row, _ in removal.OWN}
    assert hanging | own | APART == set(tables.Base.metadata.tables)


def test_all_of_a_project_goes_and_nothing_of_another(old_home: Database) -> None:
    before = counts(old_home)
    with old_home.read.begin() as session:
        faces = removal.remains(session, find(old_home, "faces"))
    remove(old_home, "boards")
    with old_home.read.begin() as session:
        assert [one.project.name for one in catalogue.summaries(session)] == ["faces"]
        assert removal.remains(session, find(old_home, "faces")) == faces
    remove(old_home, "faces")
    left = {name: count for name, count in counts(old_home).items() if count}
    assert left == {name: before[name] for name in APART - {"project"} if before[name]}


def test_its_name_must_be_typed_and_what_goes_is_said(old_home: Database) -> None:
    boards = find(old_home, "boards")
    with old_home.write.begin() as session:
        said = r"boards with 19 pictures, 68 boxes, 1 model, 3 runs and 10 decisions"
        with pytest.raises(Refused, match=said):
            removal.begin(session, boards, "board", "ana")
    assert find(old_home, "boards") == boards


def test_a_removed_project_is_found_no_more_and_its_name_is_free(old_home: Database) -> None:
    boards = find(old_home, "boards")
    with old_home.write.begin() as session:
        removal.begin(session, boards, "boards", "ana")
        for wanted in ("boards", f"removed {boards}: boards"):
            with pytest.raises(NotFound):
                catalogue.find(session, wanted)
            assert catalogue.addressed(session, wanted) is None
        assert catalogue.addressed(session, str(boards)) is None
        with pytest.raises(NotFound):
            catalogue.get(session, boards)
        assert catalogue.create(session, "boards").id != boards


def test_a_project_that_was_not_removed_is_not_swept_away(old_home: Database) -> None:
    with pytest.raises(Refused, match="has not been removed"):
        removal.finish(old_home, find(old_home, "boards"))


def test_its_jobs_are_cancelled_and_awaited(old_home: Database) -> None:
    boards = find(old_home, "boards")
    running = tables.JobRow.state == JobState.RUNNING
    with old_home.write.begin() as session:
        waiting = queue.enqueue(session, kinds.Export(boards, "yolo")).id
        under_way = queue.enqueue(session, kinds.Export(boards, "coco")).id
        row = update(tables.JobRow).filter_by(id=under_way)
        session.execute(row.values(state=JobState.RUNNING))
        removal.begin(session, boards, "boards", "ana")
        assert queue.get(session, waiting).state is JobState.CANCELLED
    with pytest.raises(Busy, match=f"Job {under_way} of the project is still ending"):
        removal.finish(old_home, boards)
    with old_home.write.begin() as session:
        session.execute(update(tables.JobRow).where(running).values(state=JobState.CANCELLED))
    removal.finish(old_home, boards)


def _killed(url: str, project: int, after: int) -> None:
    seen = 0

    def told(done: int, total: int) -> None:  # noqa: ARG001
        nonlocal seen
        seen += 1
        if seen == after:
            os.kill(os.getpid(), signal.SIGKILL)

    removal.finish(engine.open_url(url), project, told)


def test_killed_at_any_step_it_is_done_again_to_its_end(old_home: Database) -> None:
    boards = find(old_home, "boards")
    with old_home.write.begin() as session:
        removal.begin(session, boards, "boards", "ana")
    url = old_home.engine.url.render_as_string(hide_password=False)
    for after in (3, 9, 17):
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=_killed, args=(url, boards, after))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    removal.finish(old_home, boards)
    with old_home.read.begin() as session:
        assert session.get(tables.ProjectRow, boards) is None
    remove(old_home, "faces")
    assert sum(count for name, count in counts(old_home).items() if name not in APART) == 0


def test_put_away_images_go_for_good_with_what_was_said_of_them(old_home: Database) -> None:
    boards = find(old_home, "boards")
    with old_home.write.begin() as session:
        ids = gallery.ids(session, boards, gallery.Filter())
        images.put_away(session, ids[:3])
    before = counts(old_home)
    assert removal.purge(old_home, boards) == 3
    after = counts(old_home)
    gone = {name: before[name] - after[name] for name in before if before[name] != after[name]}
    assert gone["image"] == 3
    assert set(gone) == {
        "box", "decision", "detection", "image", "revision", "run_image", "snapshot_image",
    }  # fmt: skip
    with old_home.read.begin() as session:
        assert gallery.ids(session, boards, gallery.Filter()) == ids[3:]


def test_a_run_writes_nothing_of_an_image_that_goes_while_it_looks(old_home: Database) -> None:
    boards = find(old_home, "boards")
    run = Run(900, "v1", "yolo", types.now(), boards)
    with old_home.write.begin() as session:
        before, meanwhile, stays = gallery.ids(session, boards, gallery.Filter())[:3]
        images.put_away(session, [before, meanwhile])
        findings.start(session, run)
    purging = threading.Thread(target=removal.purge, args=(old_home, boards))
    with old_home.write.begin() as session:
        assert findings.record(session, run.id, [RunImage(before, "before.png")]) == 1
        purging.start()
    purging.join()
    seen = [RunImage(meanwhile, "meanwhile.png"), RunImage(stays, "stays.png")]
    with old_home.write.begin() as session:
        assert findings.record(session, run.id, seen) == 1
        assert findings.seen(session, run.id) == {stays}


def test_a_golden_that_is_still_compared_with_stays(old_home: Database) -> None:
    boards = find(old_home, "boards")
    with old_home.write.begin() as session:
        goldens = gallery.ids(session, boards, gallery.Filter(goldens=True))
        images.put_away(session, goldens)
        assert removal.purgeable(session, boards) == 0
        images.put_away(session, gallery.ids(session, boards, gallery.Filter()))
        assert removal.purgeable(session, boards) == 19
    assert removal.purge(old_home, boards) == 19


def test_a_number_that_was_given_once_means_nothing_else_later(old_home: Database) -> None:
    numbers = ("project", "class", "image", "job")
    with old_home.write.begin() as session:
        last = catalogue.create(session, "last", classes=["scratch"])
        images.add(session, last.id, [NewImage("a", "0" * 64, 9, 9)], "ana")
        queue.enqueue(session, kinds.Export(last.id, "yolo"))
        before = highest(session, numbers)
    remove(old_home, "last")
    with old_home.write.begin() as session:
        again = catalogue.create(session, "last", classes=["scratch"])
        images.add(session, again.id, [NewImage("a", "0" * 64, 9, 9)], "ana")
        queue.enqueue(session, kinds.Export(again.id, "yolo"))
        after = highest(session, numbers)
    assert all(after[name] > before[name] for name in numbers), (before, after)


def highest(session: Session, names: tuple[str, ...]) -> dict[str, int]:
    every = tables.Base.metadata.tables
    return {name: session.scalar(select(func.max(every[name].c.id))) or 0 for name in names}
