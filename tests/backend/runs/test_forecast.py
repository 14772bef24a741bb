"""What a person is told before a detection starts."""

from __future__ import annotations

from backend import families
from backend.domain import Run, RunImage
from backend.labels.images import NewImage, add
from backend.models import choice
from backend.models.choice import GOLDEN, Chosen
from backend.projects import catalogue
from backend.runs import forecast, known_images
from backend.runs.known_images import Recall
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.types import now

TODAY = families.find(GOLDEN).generation


def _run(database: Database, id: int, project: int, looked: int, rate: float) -> None:
    with database.write.begin() as session:
        run = Run(id, GOLDEN, GOLDEN, now(), project, runtime="native f32")
        findings.start(session, run)
        facts = {"looked": looked, "images_per_second": rate}
        findings.finish(session, id, 1.0, facts)


def test_the_pace_is_that_of_the_newest_run_that_looked_at_enough(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        project = catalogue.create(session, "boards").id
        new = [NewImage(f"{i}", f"{i:064}", 9, 9) for i in range(50)]
        add(session, project, new, "ann")
        told = forecast.sentences(session, project, GOLDEN, {}, {})
        assert told == ["50 images; no run of golden says yet how long they take."]
    for id, looked, rate in ((1, 400, 10.0), (2, 500, 25.0), (3, 2, 1.0)):
        _run(sqlite, id, project, looked, rate)
    with sqlite.read.begin() as session:
        (pace,) = forecast.paces(session, project, Chosen(GOLDEN, GOLDEN))
        assert (pace.run_id, pace.images_per_second) == (2, 25.0)
        told = forecast.sentences(session, project, GOLDEN, {}, {})
        assert told == ["50 images, about 2 s at the 25 a second of run 2."]
        assert forecast.sentences(session, project, GOLDEN, {"path": "/lot"}, {}) == []


def test_the_loss_of_int8_is_told_against_the_precise_one() -> None:
    rows = [
        {"runtime": "openvino", "precision": "bf16", "map50": 0.942, "map50_95": 0.600},
        {"runtime": "openvino", "precision": "int8", "map50": 0.938, "map50_95": 0.601},
    ]
    assert forecast.loss(rows) == (
        "int8 against bf16 on validation pictures: mAP@.5 0.938 (-0.004), "
        "mAP .5:.95 0.601 (+0.001)."
    )
    assert "not measured" in forecast.loss(rows[:1])


def _ledger(
    database: Database, id: int, project: int, names: range, generation: int = TODAY
) -> None:
    with database.write.begin() as session:
        parameters = {"confidence": 0.25, "image_size": 0, "tile": 0, "generation": generation}
        run = Run(
            id, GOLDEN, GOLDEN, now(), project,
            runtime="native f32", ledger_key="k", parameters=parameters,
        )  # fmt: skip
        findings.start(session, run)
        seen = [RunImage(1 + i, f"{i}", f"{i:064}", status="ok") for i in names]
        findings.record(session, id, seen)


def test_what_an_equal_run_knows_is_told_before_the_start(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        project = catalogue.create(session, "boards").id
        add(session, project, [NewImage(f"{i}", f"{i:064}", 9, 9) for i in range(50)], "ann")
    _ledger(sqlite, 4, project, range(48))
    with sqlite.read.begin() as session:
        told = forecast.sentences(session, project, GOLDEN, {}, {})
        assert told[0] == "48 images are known from run 4, 2 are new."
        assert told[1].startswith("2 images; no run of golden")
        few = {"images": list(range(1, 9))}
        (told_of_few,) = forecast.sentences(session, project, GOLDEN, few, {})
        assert told_of_few == "All 8 images are known from run 4; --again looks anew."
        chosen = choice.choose(session, project, GOLDEN)
        others: list[dict[str, object]] = [
            {"again": True}, {"confidence": 0.5}, {"precision": "bf16"}, {"tiles": "on"}
        ]  # fmt: skip
        for options in others:
            assert known_images.recall(session, project, chosen, {}, options) == Recall(50)


def test_what_was_looked_at_in_an_earlier_way_is_new(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        project = catalogue.create(session, "boards").id
        add(session, project, [NewImage("0", f"{0:064}", 9, 9)], "ann")
    _ledger(sqlite, 4, project, range(1), generation=TODAY - 1)
    with sqlite.read.begin() as session:
        chosen = choice.choose(session, project, GOLDEN)
        assert known_images.recall(session, project, chosen, {}, {}) == Recall(1)


def test_an_image_that_has_another_golden_since_is_new(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        project = catalogue.create(session, "boards").id
        clean = NewImage("clean", "c" * 64, 9, 9, is_golden=True)
        add(session, project, [clean, NewImage("0", f"{0:064}", 9, 9, golden="clean")], "ann")
    _ledger(sqlite, 4, project, range(1))
    with sqlite.read.begin() as session:
        chosen = choice.choose(session, project, GOLDEN)
        assert known_images.recall(session, project, chosen, {}, {}) == Recall(1)
