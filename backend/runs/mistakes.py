"""What a classifier got wrong when it was measured, what it was surest of first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.storage.classes import class_names
from backend.storage.tables import DetectionRow, ImageRow, RunRow

MOST = 60
MEASURED = "evaluate"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A picture that people say is of one class (`label`), and a model of another (`said`)."""

    run: int
    image: int
    name: str
    sha256: str
    label: str
    said: str
    score: float


def of_model(session: Session, project_id: int, model_id: int, most: int = MOST) -> list[Mistake]:
    """Those of the newest measurement, held against what people say today."""
    run = session.scalar(
        select(RunRow.id)
        .filter_by(project_id=project_id, model_id=model_id, purpose=MEASURED)
        .where(RunRow.finished.is_not(None))
        .order_by(RunRow.id.desc())
        .limit(1)
    )
    return [] if run is None else list(islice(_of_run(session, project_id, run), most))


def _of_run(session: Session, project_id: int, run: int) -> Iterator[Mistake]:
    names = class_names.of(session, project_id)
    query = (
        select(DetectionRow, ImageRow)
        .join(ImageRow, ImageRow.id == DetectionRow.image_id)
        .where(DetectionRow.run_id == run, DetectionRow.idx == 0)
        .where(ImageRow.label_id.is_not(None), ImageRow.deleted.is_(None))
        .where(DetectionRow.class_id.is_distinct_from(ImageRow.label_id))
        .order_by(DetectionRow.score.desc(), ImageRow.id)
    )
    for answer, image in session.execute(query).yield_per(MOST):
        label, said = names.name(image.label_id), names.name(answer.class_id, answer.label)
        if label != said:  # two classes that were merged are one
            yield Mistake(run, image.id, image.name, image.sha256, label, said, answer.score)
