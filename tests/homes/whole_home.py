"""A small home in which every table has rows, made by the rooms themselves."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Origin, Run, RunImage, State, Verdict
from backend.jobs import journal, kinds, queue
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.models import registry, snapshots, tracked
from backend.projects import catalogue, classes, tokens
from backend.review import agenda, blind_repeats
from backend.review.deciding import decisions
from backend.runs import detection
from backend.storage import findings, tables, types
from backend.storage.engine import Database

RUN = 900
OPEN = Detection(10, 10, 30, 30, "open", 0.9)
SPUR = Detection(40, 40, 60, 55, "spur", 0.6, 1)


def fill(database: Database, sha256: str = "a" * 64) -> int:
    """A project with labels, a training, a run and its review; gives its number."""
    with database.write.begin() as session:
        catalogue.create(session, "empty")
        project = catalogue.create(session, "boards", classes=["open", "spur", "old spur"])
        golden = NewImage("golden", sha256, 99, 99, is_golden=True)
        new = [NewImage(name, sha256, 99, 99, golden="golden") for name in "abc"]
        images.add(session, project.id, [golden, *new], "ana")
        ids = images.ids(session, project.id, "abc")
        seen = [RunImage(id_, name, sha256, detections=(OPEN, SPUR)) for name, id_ in ids.items()]
        _train(session, project.id, ids["c"])
        model = registry.champion(session, project.id)
        assert model is not None
        findings.start(session, Run(RUN, "v1", "yolo", types.now(), project.id, model_id=model.id))
        findings.record(session, RUN, seen)
        findings.finish(session, RUN, 1.0, {})
        detection.mark(session, {id_: round(findings.doubt((0.9, 0.6)), 4) for id_ in ids.values()})
        _review(session, ids["a"])
        person = {"name": "ana", "role": "admin", "password": ""}
        session.execute(insert(tables.PersonRow), [person])
        session.execute(insert(tables.LoginRow), [{"id": "f" * 64, "person": "ana"}])
        token, _ = tokens.add(session, "line 3", "ana", projects=[project.id])
        use = {"token_id": token.id, "person": "ana", "operation": "train", "digest": "d" * 64}
        session.execute(insert(tables.TokenUseRow), [{**use, "subject": "project 1"}])
        chosen = {"project_id": project.id, "digest": "d" * 64, "images": sorted(ids.values())}
        session.execute(insert(tables.SelectionRow), [chosen])
        part = {"kind": "image", "head": 0, "tail": 0, "rows": 1, "gone": False}
        session.execute(insert(tables.OutboxRow), [{**part, "urgent": False}])
        above = tracked.begin(session, project.id, "search")
        trial = tracked.begin(session, project.id, "trial", parent=above)
        tracked.tell(session, trial, {"loss": 0.5}, 1)
        turn = {"work": "train", "processes": 1, "nodes": 1, "repeat": 0}
        session.add(tables.TurnRow(job_id=1, number=0, figures={"rate": 9.0}, **turn))
        session.add(tables.LoadRow(state="loaded", holder="host:1:1", version=1))
        _search(session, project.id)
        shown = {"image_id": ids["b"], "source_id": ids["a"], "box_id": "b" * 32, "class_id": 1}
        session.execute(insert(tables.CropRow), [{**shown, "x1": 0, "y1": 0, "x2": 9, "y2": 9}])
        wanted = {"image_id": ids["b"], "sha256": sha256}
        session.execute(insert(tables.PictureRow), [wanted])
        doubted = {"project_id": project.id, "kind": "spurious"}
        of_image = {"image_id": ids["c"], "job_id": 1, "version": 1, "certainty": 0.9}
        session.add(tables.DoubtRow(**doubted, **of_image, answer="fixed", revision=1))
        session.add(tables.DismissalRow(**doubted, sha256=sha256, author="bo"))
        _add_up(session, ids["b"])
        agenda.take(session, RUN, agenda.Choice(), "tab", "bo")
    return project.id


def rows(session: Session) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    found = {}
    for table in tables.Base.metadata.sorted_tables:
        query = select(table).order_by(*table.primary_key.columns)
        found[table.name] = [tuple(row) for row in session.execute(query)]
    return found


def _train(session: Session, project_id: int, image_id: int) -> None:
    """Two models from a label of a class that was merged into another."""
    box = Box(1, 2, 30, 40, "old spur")
    labelling.save(session, image_id, 0, [box], "ana", state=State.DONE, label="old spur")
    spur, old = (classes.find(session, project_id, name) for name in ("spur", "old spur"))
    assert spur is not None
    assert old is not None
    classes.merge(session, old.id, spur.id)
    frozen = snapshots.freeze(session, project_id, 0, "ana")
    job = queue.enqueue(session, kinds.Check(project_id, steps=1))
    later = queue.enqueue(session, kinds.Check(project_id, steps=1), after=job.id)
    journal.write(session, later.id, "Waits.")
    for _ in range(2):
        made = registry.add(
            session, project_id, "yolo", classes=("open", "spur"), snapshot_id=frozen.id,
            parameters={},
        )  # fmt: skip
        registry.set_job(session, made.id, job.id)
        tracked.follow(session, project_id, job.id, made.name, model=made)
        registry.complete(session, made.id, "", {})


def _search(session: Session, project_id: int) -> None:
    """A search with the trial of the defaults, which is done."""
    values = {"family": "yolo", "space": "batch=4|8", "seed": 0}
    search = tables.SearchRow(project_id=project_id, snapshot_id=1, job_id=1, **values)
    session.add(search)
    session.flush()
    session.add(tables.TrialRow(search_id=search.id, number=0, state="done", value=0.5))


def _add_up(session: Session, image_id: int) -> None:
    """What is kept of a run's only part."""
    part = {"run_id": RUN, "part": 0}
    where = {"run_id": RUN, "group": "", "day": "2026-11-20"}
    session.execute(insert(tables.PartSumRow), [{**part, "mark": "m" * 64}])
    session.execute(insert(tables.BoardSumRow), [{**where, "passed": 1}])
    session.execute(insert(tables.ClassSumRow), [{**where, "class_id": 1, "label": "open"}])
    mark = {**part, "mark": "escape", "class_id": 1, "image_id": image_id}
    session.execute(insert(tables.BoardMarkRow), [mark])


def _review(session: Session, image_id: int) -> None:
    """One detection becomes a box, one is refused and then not."""
    taken = Box(10, 10, 30, 30, "open", Origin.MODEL, detection=DetectionRef(RUN, image_id, 0))
    for version, rejected in enumerate(((1,), ())):
        sheet = decisions.Sheet(
            version, (taken,), State.DONE, run_id=RUN, rejected=rejected, review=True,
            verdict=Verdict.FAIL,
        )  # fmt: skip
        saved = decisions.save(session, image_id, sheet, "ana")
        taken = saved.boxes[0]
    blind_repeats.record(session, RUN, image_id, sheet, "bo")
    session.execute(
        insert(tables.MetricRow),
        [{"job_id": 1, "name": "ap50", "class_id": 1, "model_id": 1, "value": 0.5}],
    )
    session.execute(update(tables.ImageRow).filter_by(id=image_id).values(split="train"))
