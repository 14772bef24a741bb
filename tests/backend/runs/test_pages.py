"""Lists that go on by a cursor show each thing once, whatever comes meanwhile."""

from __future__ import annotations

from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage
from backend.labels import gallery, images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage import findings, types
from backend.storage.engine import Database

EVERY = gallery.Filter()


def test_images_go_on_after_the_last_number(database: Database) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "boards").id
        _add(session, project, "dcb")
        first = gallery.following(session, project, EVERY, 0, 2)
        _add(session, project, "a")
        rest = gallery.following(session, project, EVERY, first[-1], 9)
        names = [gallery.one(session, id_).image.name for id_ in (*first, *rest)]
        assert names == ["d", "c", "b", "a"]
        only = gallery.Filter(text="c")
        assert gallery.following(session, project, only, 0, 9) == [first[1]]
        assert gallery.following(session, project, EVERY, rest[-1], 9) == []


def test_runs_and_what_they_saw_go_on_too(database: Database) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "boards").id
        _add(session, project, "abc")
        ids = gallery.following(session, project, EVERY, 0, 9)
        for run in (7, 8, 9):
            findings.start(session, Run(run, "v1", "yolo", types.now(), project))
        found = Detection(1.0, 1.0, 9.0, 9.0, "spur", 0.9)
        seen = [RunImage(one, str(one), detections=(found,)) for one in ids]
        findings.record(session, 8, seen)
        assert [one.id for one in findings.runs_before(session, project, 0, 2)] == [9, 8]
        assert [one.id for one in findings.runs_before(session, project, 8, 2)] == [7]
        assert findings.seen_after(session, 8, 0, 2) == ids[:2]
        assert findings.seen_after(session, 8, ids[1], 2) == ids[2:]


def _add(session: Session, project: int, names: str) -> None:
    for name in names:
        images.add(session, project, [NewImage(name, name * 64, 99, 99)], "ana")
