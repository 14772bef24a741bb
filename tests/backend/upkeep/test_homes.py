"""A home that an earlier version left opens in this one, with all that was in it."""

from __future__ import annotations

from backend.jobs import kinds, queue
from backend.labels import gallery, labelling
from backend.models import registry, snapshots
from backend.projects import catalogue
from backend.review import views
from backend.storage import engine, findings


def test_projects_labels_and_models_are_all_there(old_home: engine.Database) -> None:
    with old_home.read.begin() as session:
        boards, faces = (one.project for one in catalogue.summaries(session))
        ids = gallery.ids(session, boards.id, gallery.Filter())
        boxes = labelling.boxes_of(session, ids)
        model = registry.find(session, boards.id, "v1")
        counts = (
            len(ids),
            sum(map(len, boxes.values())),
            len(gallery.ids(session, faces.id, gallery.Filter())),
        )
    assert [one.name for one in boards.classes][:2] == ["open", "short circuit"]
    assert counts == (14, 68, 6)
    assert (model.family, model.champion) == ("golden", True)


def test_runs_decisions_and_the_rule_are_all_there(old_home: engine.Database) -> None:
    with old_home.read.begin() as session:
        boards = catalogue.find(session, "boards")
        run = findings.runs(session, boards.id, "detect")[0]
        assert findings.totals(session, run.id) == {"images": 14, "detections": 89, "failed": 0}
        assert views.rule(session, boards.id)["threshold"] == 0.3


def test_what_is_saved_next_goes_on_where_the_old_home_ended(old_home: engine.Database) -> None:
    with old_home.write.begin() as session:
        boards = catalogue.find(session, "boards")
        image = gallery.ids(session, boards.id, gallery.Filter())[0]
        version = labelling.version_of(session, image)
        saved = labelling.save(session, image, version, (), "ana")
        assert saved.version == version + 1
        assert catalogue.create(session, "new").id > boards.id


def test_the_next_run_of_an_old_home_goes_on_from_its_numbers(old_home: engine.Database) -> None:
    with old_home.write.begin() as session:
        boards = catalogue.find(session, "boards").id
        newest = queue.enqueue(session, kinds.Detect(boards, "golden"))
        queue.enqueue(session, kinds.Try(boards, "golden", path="board.png"))
        following = queue.enqueue(session, kinds.Propose(boards, "golden"))
    assert following.id == newest.id + 1


def test_what_knew_a_class_by_its_earlier_name_follows_it(old_home: engine.Database) -> None:
    """`short` became `short circuit` after all of it was made."""
    with old_home.read.begin() as session:
        boards = catalogue.find(session, "boards")
        model = registry.details(session, registry.find(session, boards.id, "v1").id)
        known = [model.model.classes, model.evaluation["per_class"]]
        known.append(model.evaluation["confusion"]["labels"])
        known += [views.summary(session, run).classes for run in (1, 2)]
        known.append(snapshots.get(session, 1).classes)
        known.append(queue.get(session, 3).result["per_class"])
        known.append(views.rule(session, boards.id)["thresholds"])
        assert [("short circuit" in one, "short" in one) for one in known] == [(True, False)] * 8
