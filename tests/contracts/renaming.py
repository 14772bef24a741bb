"""A site full of figures, and what people do to the names of its classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Run, RunImage, Task, Verdict
from backend.formats import format_table as formats
from backend.formats.base import Item
from backend.formats.source import tree
from backend.jobs import listing as jobs
from backend.jobs import queue
from backend.labels import exports, images
from backend.labels.images import NewImage
from backend.models import snapshots, trainings
from backend.projects import catalogue, classes
from backend.review import agenda, judgements, reports, views
from backend.review.agenda import Choice
from backend.review.judgements import Judgement
from backend.storage import findings
from backend.storage.types import now
from tests.workers.handlers.places import Place

# A swap by way of a third name, two new names; two classes that nothing shows are merged.
NOW = {
    "mousebite": "pin-hole",
    "pin-hole": "mousebite",
    "short": "short circuit",
    "spur": "whisker",
}
UNSEEN = ("scratch", "stain")
SORTED = 9001  # a classifier's run
# The rules of the golden board name what they find as the project does, so that two classes whose
# names were swapped are what they are called; a new name of their own is not in the rules' way.
BY_RULES = "detect by rules"
BY_NAME = {old: new for old, new in NOW.items() if new not in NOW}


class Site:
    """A project with two models, their runs, decisions, a rule, and a file of predictions."""

    def __init__(self, place: Place, out: Path) -> None:
        self.place, self.out = place, out
        self.project = place.sample(12)
        with place.database.write.begin() as session:
            for name in UNSEEN:
                classes.ensure(session, self.project, name)
        self.trained = self._job(trainings.retrain, "golden", seed=1)
        self.better = self._job(trainings.retrain, "golden", seed=1, parameters={"image_size": 640})
        self.run: int = place.detect(self.project, "v1")["run"]
        self.rules: int = place.detect(self.project, "golden")["run"]
        self._job(trainings.evaluate, "v2", against="v1")
        self.classified, self.frozen = classified(place)
        self.earlier = self.table("csv")
        self._judge()
        with place.database.read() as session:
            self.last = jobs.find(session, project_id=self.project)[0].id

    def _job(self, ask: Callable[..., Any], *asked: Any, **options: Any) -> dict[str, Any]:
        with self.place.database.write.begin() as session:
            ask(session, self.project, *asked, **options)
        job = self.place.claim()
        self.place.carry_out(job)
        with self.place.database.read() as session:
            return dict(queue.get(session, job.id).result)

    def _judge(self) -> None:
        """A rule, and what a person says of the first image: right, a false call, one missed."""
        rule = {"threshold": 0.5, "thresholds": {"short": 0.6, "spur": 0.97}, "severity": 1}
        with self.place.database.write.begin() as session:
            views.set_rule(session, self.project, rule, 0, "ana")
            first = self.seen(session)[0]
            missed = Box(1.0, 1.0, 20.0, 20.0, "pin-hole")
            said = Judgement({0: Verdict.ACCEPT, 1: Verdict.FALSE_CALL}, missed=(missed,))
            judgements.judge(session, self.run, first, said, "ana")

    def names(self, session: Session) -> list[str]:
        """The classes that something shows, as they are called."""
        return [kind.name for kind in classes.of(session, self.project) if kind.name not in UNSEEN]

    def seen(self, session: Session) -> list[int]:
        """The images of the run."""
        return sorted(agenda.ids(session, self.run, Choice(sort="name"), 100))

    def table(self, kind: str) -> str:
        """The run as a table."""
        with self.place.database.read() as session:
            return b"".join(reports.write(session, self.run, kind)).decode()

    def judged(self, table: str) -> Any:
        """What a table of predictions is worth."""
        stored = self.place.files.put(table.encode())
        return self._job(trainings.judge, stored, "other.csv", model="v1", split="train")

    def of_before(self) -> str:
        """What the run said of classes whose names nobody else has now, under those names."""
        head, *lines = self.earlier.splitlines()
        return "\n".join([head, *(one for one in lines if {*one.split(",")} & {*BY_NAME})])

    def evaluated(self, model: str) -> Any:
        """What a model is worth beside the other one, measured now."""
        other = "v1" if model == "v2" else "v2"
        return self._job(trainings.evaluate, model, against=other, split="train")

    def exported(self, session: Session, name: str) -> Any:
        """The labels of an export, read back."""
        folder = self.out / f"{name}-{len(list(self.out.iterdir()))}"
        exports.run(session, self.place.files, "sample of 12", folder, name)
        read = formats.find(name).read(tree.open_source(folder, self.out, 10**9))
        items = [one for one in read if isinstance(one, Item)]
        return {one.name: sorted(box.label for box in one.boxes) for one in items}


def classified(place: Place) -> tuple[int, int]:
    """A project of images with one class each, and what a classifier's run said of them."""
    said = [*NOW, *NOW]
    with place.database.write.begin() as session:
        project = catalogue.create(session, "sorted", Task.CLASSIFY, (*NOW, *UNSEEN)).id
        new = [
            NewImage(f"{n}.png", f"{n:064}", 64, 64, label=one, labelled=True)
            for n, one in enumerate(said)
        ]
        images.add(session, project, new, "ana")
        findings.start(session, Run(SORTED, "v1", "classifier", now(), project))
        ids = images.ids(session, project, [one.name for one in new])
        rows = [
            RunImage(id_, name, detections=(Detection(0, 0, 64, 64, said[at - 1], 0.9),))
            for at, (name, id_) in enumerate(ids.items())
        ]
        findings.record(session, SORTED, rows)
        return project, snapshots.freeze(session, project, 1, "ana").id


def rename(session: Session, project: int) -> None:
    """Swap, rename, reorder and merge, as people do it one after the other."""
    kinds = {kind.name: kind.id for kind in classes.of(session, project)}
    classes.edit(session, kinds["mousebite"], name="third")
    for name in ("pin-hole", "mousebite", "short", "spur"):
        classes.edit(session, kinds[name], name=NOW[name])
    classes.reorder(session, project, sorted(kinds.values(), reverse=True))
    classes.merge(session, kinds["stain"], kinds["scratch"])
