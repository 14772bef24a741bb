"""A line whose model has been measured: boards with a defect each, found or not, and an alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Model, Run, RunImage, Split, State
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.models import registry
from backend.projects import catalogue, classes
from backend.review import thresholds
from backend.storage import findings
from backend.storage.tables import ModelRow

RUN = 4
SPOT = (10.0, 10.0, 30.0, 40.0)
ELSEWHERE = (60.0, 60.0, 90.0, 90.0)
# Each board of a split: the score of its defect, and of an alarm where there is none.
VALIDATION = [(0.9, 0.2), (0.8, 0.3), (0.6, 0.4), (0.0, 0.1)]
TEST = [(0.9, 0.7), (0.3, 0.1)]


@dataclass
class Line:
    session: Session
    project: int
    model: Model

    def seen(self, split: Split = Split.VAL) -> thresholds.Boards:
        return thresholds.seen(self.session, self.model, split)


def lay(session: Session) -> Line:
    """The project `line` with its model v1 and the run that measured it."""
    project = catalogue.create(session, "line").id
    for label in ("spur", "short"):
        classes.ensure(session, project, label)
    row = ModelRow(
        project_id=project, number=1, family="golden", state="ready", weights="w", classes=[]
    )
    session.add(row)
    session.flush()
    model = registry.get(session, row.id)
    at = datetime.now(UTC)
    findings.start(session, Run(RUN, "v1", "golden", at, project_id=project, model_id=model.id))
    add_boards(session, project, Split.VAL, VALIDATION)
    add_boards(session, project, Split.TEST, TEST)
    findings.finish(session, RUN, 1.0, {})
    return Line(session, project, model)


def add_boards(
    session: Session, project: int, split: Split, boards: Sequence[tuple[float, float]]
) -> None:
    names = [f"{split}{number}" for number in range(len(boards))]
    new = [NewImage(name, "0" * 64, 99, 99, split=split) for name in names]
    images.add(session, project, new, "")
    for name, image in zip(names, images.ids(session, project, names).values(), strict=True):
        score, alarm = boards[names.index(name)]
        found = [Detection(*SPOT, "spur", score)] if score else []
        seen = tuple([*found, Detection(*ELSEWHERE, "spur", alarm)])
        findings.record(session, RUN, [RunImage(image, name, detections=seen)])
        labelling.save(session, image, 0, [Box(*SPOT, "spur")], "ana", state=State.DONE)
