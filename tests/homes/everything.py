"""One thing of every kind in a project, for tests that ask what holds for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Run, RunImage, State, Verdict
from backend.jobs import kinds, queue
from backend.labels import box_rows, gallery, images, labelling
from backend.models import registry, snapshots, tracked
from backend.projects import classes, selections
from backend.review import blind_repeats
from backend.review.deciding import decisions
from backend.review.doubts import inbox
from backend.review.doubts.inbox import Raised
from backend.review.doubts.scoring import Kind
from backend.storage import findings
from backend.storage.tables import (
    BoardMarkRow,
    BoardSumRow,
    ClassSumRow,
    CropRow,
    DismissalRow,
    LeaseRow,
    MetricRow,
    PartSumRow,
    PictureRow,
    SearchRow,
    TrialRow,
    TurnRow,
)

CLASS = "nick"
FOUND = Detection(4.0, 4.0, 20.0, 20.0, CLASS, 0.9)
DOUBTED = Detection(30.0, 30.0, 50.0, 50.0, CLASS, 0.5, 1)


@dataclass(frozen=True)
class Things:
    """The names of what a project has; `project` is its id, `model` that of its champion."""

    project: int
    name: str
    images: tuple[int, ...]
    sha256: str
    box: str
    class_: int
    model: int
    snapshot: int
    job: int
    run: int
    search: int
    doubt: int


def furnish(session: Session, project: int, name: str, author: str = "ana") -> Things:
    """Add to a project, which has images, one of all that a project may have."""
    ids = tuple(gallery.ids(session, project, gallery.Filter()))
    found = classes.ensure(session, project, CLASS).id
    job = queue.enqueue(session, kinds.Detect(project, "golden"), author=author)
    findings.start(session, Run(job.id, "golden", "golden", _now(), project_id=project))
    seen = [RunImage(one, str(one), detections=(FOUND, DOUBTED)) for one in ids]
    findings.record(session, job.id, seen)
    findings.finish(session, job.id, 1.0, {})
    saved = _review(session, job.id, ids[0], author)
    frozen = snapshots.freeze(session, project, 1, author)
    selections.kept(session, project, {"images": range(selections.FEW + 1)})
    model = _champion(session, project, frozen.id)
    session.add(MetricRow(job_id=job.id, name="map50", class_id=0, value=0.5))
    turn = {"work": "train", "processes": 1, "nodes": 1, "repeat": 0}
    session.add(TurnRow(job_id=job.id, number=0, figures={"rate": 9.0}, **turn))
    tracked.tell(session, tracked.begin(session, project, "v1"), {"loss": 0.5}, 1)
    first = images.get(session, ids[0])
    corners = dict.fromkeys(("x1", "y1"), 4) | dict.fromkeys(("x2", "y2"), 20)
    session.add(CropRow(image_id=ids[0], source_id=1, box_id=saved, class_id=found, **corners))
    of_run = {"run_id": job.id, "part": 0}
    of_lot = {"run_id": job.id, "group": "", "day": "2026-01-01"}
    session.add(PartSumRow(**of_run, mark="older"))
    session.add(BoardSumRow(**of_lot, failed=1))
    session.add(ClassSumRow(**of_lot, class_id=found, label="", defects=1))
    session.add(BoardMarkRow(**of_run, mark="escape", class_id=found, image_id=ids[0]))
    session.add(PictureRow(image_id=ids[0], sha256="a" * 64))
    search = _search(session, project, frozen.id, job.id)
    doubt = _doubt(session, project, job.id, ids[0], author)
    return Things(
        project,
        name,
        ids,
        first.sha256,
        saved,
        found,
        model,
        frozen.id,
        job.id,
        job.id,
        search,
        doubt,
    )


def _doubt(session: Session, project: int, job: int, image: int, author: str) -> int:
    """A label that is in doubt, and one of the same bytes that was found right."""
    label = labelling.boxes_of(session, [image])[image][0]
    seen = images.get(session, image)
    raised = Raised(image, seen.sha256, seen.version, Kind.SPURIOUS, 0.9, label, None)
    inbox.keep(session, project, job, [raised])
    said = {"kind": "loose", "label": box_rows.kept(label), "author": author}
    session.add(DismissalRow(project_id=project, sha256=seen.sha256, **said))
    session.flush()
    return inbox.window(session, project, 1)[0].id


def _review(session: Session, run: int, image: int, author: str) -> str:
    """An image that was reviewed, twice, and that somebody still has before them."""
    box = Box(4.0, 4.0, 20.0, 20.0, CLASS, id="b" * 32, detection=DetectionRef(run, image, 0))
    sheet = decisions.Sheet(
        labelling.version_of(session, image),
        (box,),
        State.DONE,
        run_id=run,
        rejected=(1,),
        review=True,
        verdict=Verdict.FAIL,
    )
    decisions.save(session, image, sheet, author)
    blind_repeats.record(session, run, image, sheet, author)
    later = _now() + timedelta(hours=1)
    session.add(LeaseRow(run_id=run, image_id=image, holder="tab", author=author, until=later))
    session.flush()
    return box.id


def _champion(session: Session, project: int, snapshot: int) -> int:
    model = registry.add(
        session, project, "yolo", classes=(CLASS,), snapshot_id=snapshot, parameters={}
    )
    return registry.complete(session, model.id, "0" * 64, {"map50": 0.5}).id


def _search(session: Session, project: int, snapshot: int, job: int) -> int:
    """A search with one trial, that of the defaults."""
    row = SearchRow(
        project_id=project, snapshot_id=snapshot, family="yolo", space="batch=4|8", seed=1,
        trials=1, job_id=job,
    )  # fmt: skip
    session.add(row)
    session.flush()
    session.add(TrialRow(search_id=row.id, number=0, value=0.5))
    session.flush()
    return row.id


def _now() -> datetime:
    return datetime.now(UTC)
