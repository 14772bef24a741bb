"""What every model family keeps: it trains, tells, stops when told, loads again, and answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

from backend import families, sample
from backend.domain import Task
from backend.errors import Cancelled, LoupeError, Refused
from backend.weights import start_weights
from tests.workers.families import drawn
from tests.workers.training import reports
from workers.evaluation import appraisal
from workers.families import base
from workers.families.base import Example, Parameters, Picture, Pixels, Trained, TrainingSet
from workers.weights import publishing

EVERY = list(families.FAMILIES)
FORMS = {
    "golden": (),
    "yolo": publishing.FORMATS,
    "faster_rcnn": publishing.FORMATS,
    "classifier": publishing.FORMATS,
    "second_stage": (),
}


def boards(folder: Path, count: int = 9) -> TrainingSet:
    """Drawn boards with their goldens."""
    folder.mkdir()
    paths: dict[str, Path] = {}
    examples = []
    for each in sample.draw("pcb", count):
        path = paths[each.name] = folder / f"{each.name}.png"
        cv2.imwrite(str(path), each.pixels)
        if not each.is_golden:
            golden = paths.get(each.golden)
            examples.append(
                Example(path, 640, 640, each.split, each.boxes, "", golden, each.group, each.name)
            )
    return TrainingSet(sample.CLASSES["pcb"], tuple(examples))


def pictures(data: TrainingSet) -> list[Picture]:
    """The first three, as a run would show them."""
    return [
        Picture(
            _read(example.path), _read(example.golden) if example.golden else None, example.name
        )
        for example in data.examples[:3]
    ]


def _read(path: Path) -> Pixels:
    return np.asarray(cv2.imread(str(path)), np.uint8)


@pytest.fixture(scope="module", params=EVERY)
def family(request: pytest.FixtureRequest) -> families.Family:
    return families.find(request.param)


@pytest.fixture(scope="module")
def data(family: families.Family, tmp_path_factory: pytest.TempPathFactory) -> TrainingSet:
    folder = tmp_path_factory.mktemp(family.name) / "pictures"
    return drawn.single(folder) if family.task is Task.CLASSIFY else boards(folder)


@pytest.fixture(scope="module")
def begin(family: families.Family) -> Path | None:
    """What a second stage stands behind."""
    return start_weights.ASSETS / "start_yolo11n.safetensors" if family.behind else None


@pytest.fixture(scope="module")
def given(family: families.Family) -> Parameters:
    extra = {} if family.needs_golden else {"from_scratch": True}
    variant = family.variants[0] if family.variants else ""
    return Parameters(epochs=2, image_size=96, batch=4, variant=variant, extra=extra)


@pytest.fixture(scope="module")
def trained(
    family: families.Family,
    data: TrainingSet,
    given: Parameters,
    begin: Path | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Trained, reports.Remembering]:
    told = reports.Remembering()
    folder = tmp_path_factory.mktemp(f"{family.name}-run")
    return base.implementation(family.name).train(data, begin, given, told, folder), told


def test_it_leaves_weights_and_tells_finite_figures(
    trained: tuple[Trained, reports.Remembering],
) -> None:
    left, told = trained
    assert left.weights.is_file()
    assert told.epochs == sorted(told.epochs)
    assert told.epochs
    assert all(np.isfinite(value) for figures in told.figures for value in figures.values())
    assert all(0 <= fraction <= 1 for fraction in told.fractions)


def test_it_answers_the_same_when_it_is_loaded_again(
    family: families.Family, data: TrainingSet, trained: tuple[Trained, reports.Remembering]
) -> None:
    module = base.implementation(family.name)
    first, second = (module.load(trained[0].weights, "cpu") for _ in range(2))
    assert first.classes == data.classes
    together = first.predict(pictures(data))
    for picture, answer in zip(pictures(data), together, strict=True):
        again = second.predict([picture])[0]
        assert not isinstance(answer, Refused)
        assert not isinstance(again, Refused)
        assert np.allclose(answer[:20], again[:20], atol=2e-3)


def test_its_rows_are_boxes_inside_the_picture_best_first(
    family: families.Family, data: TrainingSet, trained: tuple[Trained, reports.Remembering]
) -> None:
    model = base.implementation(family.name).load(trained[0].weights, "cpu")
    for picture, rows in zip(pictures(data), model.predict(pictures(data)), strict=True):
        assert not isinstance(rows, Refused)
        height, width = picture.pixels.shape[:2]
        assert rows.dtype == np.float32
        assert rows.shape[1:] == ((base.STAGED,) if family.behind else (6,))
        assert (rows[:, :4] >= 0).all()
        assert (rows[:, [0, 2]] <= width).all()
        assert (rows[:, [1, 3]] <= height).all()
        assert (np.diff(rows[:, 4]) <= 0).all()
        assert set(rows[:, 5]) <= set(range(len(data.classes)))


def test_its_classes_are_the_same_under_other_names(
    family: families.Family, data: TrainingSet, trained: tuple[Trained, reports.Remembering]
) -> None:
    """As in a project where they were renamed, two of them swapped, and put in another order."""
    now = dict(
        zip(data.classes, [*data.classes[1::-1], *map(str.upper, data.classes[2:])], strict=True)
    )
    few, order = data.examples[:3], tuple(reversed(now.values()))

    def told(*_: object) -> None: ...

    def look(classes: Sequence[str], known: Sequence[str]) -> list[list[tuple[str, float]]]:
        seen = appraisal.look(family.name, trained[0].weights, few, classes, told, known)
        return [[(classes[int(r[5])], float(r[4])) for r in one] for one in seen.detections]

    before = [[(now[name], score) for name, score in one] for one in look(data.classes, ())]
    assert before == look(order, tuple(now.values()))
    assert any(before)


@pytest.mark.parametrize("form", publishing.FORMATS)
def test_it_is_written_in_another_form_or_says_why_not(
    family: families.Family,
    trained: tuple[Trained, reports.Remembering],
    form: str,
    tmp_path: Path,
) -> None:
    model = base.implementation(family.name).load(trained[0].weights, "cpu")
    if form in FORMS[family.name]:
        assert model.export(form, tmp_path).stat().st_size > 0
        assert json.loads((tmp_path / "model.json").read_text())["classes"] == list(model.classes)
    else:
        with pytest.raises(Refused, match=form):
            model.export(form, tmp_path)


def test_cancelling_stops_it(
    family: families.Family,
    data: TrainingSet,
    given: Parameters,
    begin: Path | None,
    tmp_path: Path,
) -> None:
    with pytest.raises(Cancelled):
        base.implementation(family.name).train(
            data, begin, given, reports.Remembering(cancel_in=1), tmp_path
        )


def test_it_refuses_the_weights_of_another_family(
    family: families.Family, trained: tuple[Trained, reports.Remembering]
) -> None:
    for other in EVERY:
        if other != family.name:
            with pytest.raises(LoupeError):
                base.implementation(other).load(trained[0].weights, "cpu")
