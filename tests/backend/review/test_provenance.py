"""From any detection or label back to where it came from, and forward to what it taught."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, ModelState, Origin, Run, RunImage, State
from backend.errors import NotFound
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.models import snapshots
from backend.projects import catalogue, classes
from backend.review import provenance
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import ModelRow

RUN = 5


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.write.begin() as opened:
        project = catalogue.create(opened, "line")
        classes.ensure(opened, project.id, "spur")
        golden = NewImage("golden", "1" * 64, 99, 99, is_golden=True)
        images.add(
            opened, project.id, [golden, NewImage("a", "0" * 64, 99, 99, golden="golden")], ""
        )
        run = Run(
            RUN, "golden", "golden", datetime.now(UTC), project.id, parameters={"confidence": 0.25}
        )
        findings.start(opened, run)
        image = images.find(opened, project.id, "a").id
        found = (Detection(10.0, 10.0, 30.0, 30.0, "spur", 0.9),)
        findings.record(opened, RUN, [RunImage(image, "a", worker="host-7", detections=found)])
        yield opened


def accept(session: Session, moved: float = 0.0) -> tuple[int, str]:
    project = catalogue.find(session, "line")
    image = images.find(session, project.id, "a").id
    ref = DetectionRef(RUN, image, 0)
    box = Box(10.0 + moved, 10.0, 30.0, 30.0, "spur", Origin.MODEL, "taken", ref)
    version = labelling.version_of(session, image)
    sheet = Sheet(version, (box,), State.DONE, run_id=RUN, action="move" if moved else "accept")
    decisions.save(session, image, sheet, "ana" if not moved else "ben")
    return image, box.id


def words(session: Session, name: str) -> dict[str, list[str]]:
    chain: dict[str, list[str]] = {}
    for link in provenance.why(session, name):
        chain.setdefault(link.what, []).append(link.text)
    return chain


def test_a_label_leads_back_to_its_detection_and_forward_to_its_models(session: Session) -> None:
    image, box = accept(session)
    accept(session, moved=2.0)
    frozen = snapshots.freeze(session, catalogue.find(session, "line").id, 0, "ana")
    model = ModelRow(
        project_id=1, number=2, family="yolo", state=ModelState.READY, classes=["spur"],
        snapshot_id=frozen.id,
    )  # fmt: skip
    session.add(model)
    session.flush()
    chain = words(session, f"{image}:{box}")
    assert "spur, score 0.900" in chain["Detection"][0]
    assert "host-7" in chain["Run"][0]
    assert "threshold 0.25" in chain["Run"][0]
    assert "0" * 12 in chain["Image"][0]
    assert "1" * 12 in chain["Golden"][0]
    assert [text.split()[0] for text in chain["Decision"]] == ["accept", "correct"]
    assert "accept by ana" in chain["Label"][0]
    assert "move by ben" in chain["Edit"][0]
    assert f"snapshot {frozen.id}" in chain["Went into"][0]
    assert "v2 (yolo)" in chain["Taught"][0]
    assert words(session, f"{RUN}:{image}:0") == chain


def test_a_detection_nobody_judged_has_no_label(session: Session) -> None:
    image = images.find(session, catalogue.find(session, "line").id, "a").id
    chain = words(session, f"{RUN}:{image}:0")
    assert "rules over the golden" in chain["Model"][0]
    assert "Label" not in chain


@pytest.mark.parametrize("name", ["5:1:9", "1:nothing", "what", "1:2:3:4", "9:9:9"])
def test_a_name_of_nothing_is_said_to_be_so(session: Session, name: str) -> None:
    with pytest.raises(NotFound):
        provenance.why(session, name)
