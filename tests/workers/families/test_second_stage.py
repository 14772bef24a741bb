"""What a second stage learns from what differs at a detector's places, and what it refuses."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend import families, sample
from backend.errors import Cancelled, Invalid, Refused
from backend.models import choice
from backend.weights import start_weights
from tests.contracts.test_families import boards as drawn
from tests.contracts.test_families import pictures
from tests.workers.families.golden import boards
from tests.workers.training import reports
from workers.families import golden, second_stage
from workers.families.base import Detections, Parameters, Picture, TrainingSet
from workers.families.golden import features, golden_file, seeing
from workers.families.golden.options import GoldenOptions
from workers.families.second_stage import places, stage_file
from workers.runtimes import ModelSource, native

KINDS = sample.CLASSES["pcb"]
DETECTOR = start_weights.ASSETS / "start_yolo11n.safetensors"
GIVEN = Parameters(extra={"partner": {"name": "v4", "family": "yolo"}})
OPEN, NOTHING_THERE = (70, 40, 100, 80), (200, 20, 230, 50)


def seen(*defects: str) -> seeing.Seen:
    board = boards.plain()
    for name in defects:
        boards.DEFECTS[name](board)
    return seeing.look(Picture(board, boards.plain()), GoldenOptions())


def found(*rows: tuple[float, ...]) -> Detections:
    return np.array(rows, np.float32).reshape(-1, 6)


def test_a_place_knows_what_differs_there_and_what_the_detector_says() -> None:
    told = found((*OPEN, 0.6, 0), (*OPEN, 0.2, 3), (*NOTHING_THERE, 0.7, 1))
    kept, rows = places.find(seen("open"), told, len(KINDS))
    assert kept[:, 4].tolist() == pytest.approx([0.7, 0.6])
    assert rows.shape == (2, places.columns(len(KINDS)))
    assert not rows[0, : len(features.NAMES)].any()
    assert rows[1, features.COLUMN["area"]] > 0
    assert places.sure(rows, len(KINDS)).tolist() == pytest.approx([0.7, 0.6])


def test_a_board_like_its_golden_has_places_without_a_difference() -> None:
    _, rows = places.find(seen(), found((*OPEN, 0.6, 0)), len(KINDS))
    assert not rows[:, : len(features.NAMES)].any()


def test_every_place_is_judged_however_many_a_detector_finds() -> None:
    many = [(x, y, x + 8, y + 8, 0.9 - x / 1000, 0) for x in range(0, 300, 10) for y in (0, 20, 40)]
    kept, rows = places.find(seen(), found(*many, *many), len(KINDS))
    assert len(kept) == len(rows) == len(many)
    assert {tuple(one[:4]) for one in kept.tolist()} == {one[:4] for one in many}


def test_a_place_teaches_what_its_label_says_and_every_other_is_a_false_call() -> None:
    told = found((*OPEN, 0.6, 3), (*NOTHING_THERE, 0.7, 1))
    kept, rows = places.find(seen("open"), told, len(KINDS))
    lesson = places.lesson(kept, rows, np.array([[*OPEN, 0]], np.float64), len(KINDS), "a")
    assert lesson.outcomes.tolist() == [len(KINDS), 0]
    none = places.lesson(kept, rows, np.zeros((0, 5)), len(KINDS), "a")
    assert none.outcomes.tolist() == [len(KINDS)] * 2


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingSet:
    return drawn(tmp_path_factory.mktemp("staged") / "pictures", 6)


@pytest.fixture(scope="module")
def trained(data: TrainingSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was learned by a training that was cancelled in the middle and asked for again."""
    folder = tmp_path_factory.mktemp("stage")
    with pytest.raises(Cancelled):
        second_stage.train(data, DETECTOR, GIVEN, reports.Remembering(cancel_in=1), folder)
    assert not list(folder.iterdir())
    told = reports.Remembering()
    learned = second_stage.train(data, DETECTOR, GIVEN, told, folder)
    assert learned.figures["calls"] <= learned.figures["calls_alone"]
    assert any("held out, v4 alone makes" in line for line in told.lines)
    return learned.weights


def test_places_where_nothing_differs_lose_their_score(data: TrainingSet, trained: Path) -> None:
    model = second_stage.load(trained)
    (picture, *_) = pictures(data)
    (there,) = model.predict([picture])
    assert picture.golden is not None
    (gone,) = model.predict([replace(picture, golden=picture.pixels)])
    assert not isinstance(there, Refused)
    assert not isinstance(gone, Refused)
    assert there[0, 4] > 0.9
    assert gone[:, 4].max(initial=0) < 0.5 < gone[:, 6].max()


def test_a_picture_without_a_golden_is_refused(data: TrainingSet, trained: Path) -> None:
    (picture, *_) = pictures(data)
    (answer,) = second_stage.load(trained).predict([replace(picture, golden=None)])
    assert isinstance(answer, Refused)
    assert "has no golden" in str(answer)


def test_a_file_is_known_by_what_it_says(trained: Path, tmp_path: Path) -> None:
    assert choice.family_of(trained) == "second_stage"
    golden_file.write(golden.untrained(), tmp_path / "golden.npz")
    assert choice.family_of(tmp_path / "golden.npz") == "golden"
    (tmp_path / "noise.npz").write_bytes(bytes(99))
    assert choice.family_of(tmp_path / "noise.npz") == "golden"
    with zipfile.ZipFile(tmp_path / "locked.npz", "w") as packed:
        packed.writestr("about.npy", b"")
    whole = (tmp_path / "locked.npz").read_bytes()
    flags = whole.index(b"PK\x01\x02") + 8
    (tmp_path / "locked.npz").write_bytes(whole[:flags] + b"\x01" + whole[flags + 1 :])
    assert choice.family_of(tmp_path / "locked.npz") == "golden"
    with pytest.raises(Invalid, match="is not a second stage"):
        second_stage.load(tmp_path / "golden.npz")
    with pytest.raises(Invalid, match="is not a golden model"):
        golden.load(trained, "cpu")


@pytest.mark.parametrize(
    "other",
    [
        {"partner": None},
        {"partner": {"name": "v1", "family": "golden"}},
        {"partner": {"name": "v1", "family": "second_stage"}},
        {"classes": ["open"]},
        {"format": 99},
        {"settings": {"most": "x"}},
        {"glosses": [[9, 9]]},
    ],
    ids=str,
)
def test_a_file_that_says_what_cannot_be_is_refused(
    trained: Path, tmp_path: Path, other: dict[str, Any]
) -> None:
    _told_otherwise(trained, tmp_path / "m.npz", other)
    with pytest.raises(Invalid, match="is not a second stage that this version can read"):
        stage_file.read(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("family", "kind"), [("second_stage", "second stage"), ("golden", "golden model")]
)
def test_a_damaged_file_is_called_what_it_was_given_as(
    trained: Path, tmp_path: Path, family: str, kind: str
) -> None:
    whole = trained.read_bytes()
    (tmp_path / "m.npz").write_bytes(whole[: len(whole) // 2])
    source = ModelSource(family, tmp_path / "m.npz")
    for ask in (lambda: native.about(source), lambda: native.prepare(source, "", tmp_path, ())):
        with pytest.raises(Invalid, match=f"m.npz is not a {kind} that this version can read"):
            ask()


def test_a_forest_that_asks_for_what_no_place_has_is_refused(trained: Path, tmp_path: Path) -> None:
    _told_otherwise(trained, tmp_path / "m.npz", {}, places.columns(len(KINDS)))
    with pytest.raises(Invalid, match="is not a second stage that this version can read"):
        stage_file.read(tmp_path / "m.npz")


def _told_otherwise(model: Path, file: Path, other: dict[str, Any], feature: int = 0) -> None:
    with np.load(model) as arrays:
        found = dict(arrays)
    about = json.loads(str(found["about"])) | other
    found["forest_feature"][0] = feature
    np.savez(file, **(found | {"about": np.array(json.dumps(about))}))


def test_without_goldens_nothing_is_learned_and_it_says_why(
    data: TrainingSet, tmp_path: Path
) -> None:
    bare = replace(data, examples=tuple(replace(one, golden=None) for one in data.examples))
    with pytest.raises(Refused, match="by the picture alone it saves no false calls"):
        second_stage.train(bare, DETECTOR, GIVEN, reports.Remembering(), tmp_path)


def test_too_few_places_are_told_of(data: TrainingSet, tmp_path: Path) -> None:
    few = replace(data, examples=tuple(replace(one, boxes=()) for one in data.examples[:2]))
    with pytest.raises(Refused, match=r"at least 10 defects.*[Rr]eview a run of v4"):
        second_stage.train(few, DETECTOR, GIVEN, reports.Remembering(), tmp_path)


def test_without_a_detector_there_is_no_second_stage(data: TrainingSet, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="the detector that it stands behind"):
        second_stage.train(data, None, GIVEN, reports.Remembering(), tmp_path)


def test_no_model_carries_one_that_carries_another() -> None:
    assert "second_stage" not in families.detectors()
