"""A run of a classifier against the classes that people gave."""

from __future__ import annotations

from datetime import UTC, datetime

from backend.domain import Detection, Run, RunImage, State, Task
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.review import tally
from backend.review.tally import Figures
from backend.storage import findings
from backend.storage.engine import Database

RUN = 4
ANSWERS = {"a": "good", "b": "bad", "c": "good", "d": "bad", "e": "good"}


def test_right_and_wrong_are_counted_from_classes(database: Database) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, ["good", "bad"]).id
        images.add(session, project, [NewImage(n, n * 64, 9, 9) for n in ANSWERS], "")
        ids = images.ids(session, project, list(ANSWERS))
        run = Run(RUN, "v1", "classifier", datetime.now(UTC), project_id=project)
        findings.start(session, run)
        rows = [
            RunImage(ids[name], name, detections=(Detection(0, 0, 9, 9, label, 0.4),))
            for name, label in ANSWERS.items()
        ]
        findings.record(session, RUN, rows)
        said = {"a": "good", "b": "good", "c": "good", "d": ""}  # e is not done
        for name, label in said.items():
            labelling.save(session, ids[name], 0, [], "ana", state=State.DONE, label=label)
        assert tally.figures(session, RUN) == Figures(4, right=2, false_calls=2, escapes=1)
