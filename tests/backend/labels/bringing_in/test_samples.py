"""Sample projects: labelled enough to train, with something left to do."""

from __future__ import annotations

import cv2
import pytest
from sqlalchemy import select

from backend.domain import State
from backend.errors import Refused
from backend.labels import images, labelling, samples
from backend.models import snapshots
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import ImageRow


def test_a_sample_has_boards_with_goldens_and_some_left_to_do(
    database: Database, files: Files
) -> None:
    drawn = samples.draw(files, "pcb", 12, seed=4)
    with database.write.begin() as session:
        project = samples.create(session, "demo", "pcb", drawn)
        (summary,) = catalogue.summaries(session)
        rows = images.of_rows(session, session.scalars(select(ImageRow)))
        boxes = labelling.boxes_of(session, [row.id for row in rows])
    assert (summary.images, summary.goldens, summary.labelled) == (12, 4, 8)
    assert len(project.classes) == 6
    for image in rows:
        assert image.is_golden == (image.golden_id is None)
        assert not boxes[image.id] or (image.state == State.DONE and not image.is_golden)
        pixels = cv2.imread(str(files.local_path(image.sha256)))
        assert pixels is not None
        assert pixels.shape[:2] == (image.height, image.width)
    assert sum(map(len, boxes.values())) > 12


def test_a_sample_can_be_frozen_for_training(sqlite: Database, files: Files) -> None:
    drawn = samples.draw(files, "mask", 30)
    with sqlite.write.begin() as session:
        project = samples.create(session, "faces", "mask", drawn)
        snapshot = snapshots.freeze(session, project.id, 0, "ana")
    assert set(snapshot.counts) == {"train", "val", "test"}


def test_a_sample_of_nothing_is_refused(files: Files) -> None:
    with pytest.raises(Refused, match="1 to 100,000"):
        samples.draw(files, "pcb", 0)
