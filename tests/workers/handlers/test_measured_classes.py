"""A classifier from its training to its figures: evaluated, compared, judged beside others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from backend.domain import Detection, Job, Split, Task
from backend.errors import Invalid, Refused
from backend.labels import images
from backend.labels.images import NewImage
from backend.models import registry, trainings
from backend.projects import catalogue
from backend.review import agenda, reports
from backend.runs import mistakes
from backend.storage import findings
from backend.storage.tables import MetricRow
from tests.workers.families import drawn
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers.evaluation import appraisal
from workers.evaluation.appraisal import Appraisal
from workers.families.base import Example
from workers.handlers.models import judge
from workers.tracking import facts


@dataclass
class Parts:
    """A project of squares and discs, its pictures, and what two trainings left."""

    place: Place
    project: int
    examples: tuple[Example, ...]
    trained: dict[str, Any]

    def held_out(self) -> list[Example]:
        return [one for one in self.examples if one.split is Split.VAL]

    def measured(self, ask: Any, *said: Any, **how: Any) -> dict[str, Any]:
        """What a measurement says, carried out here."""
        with self.place.database.write.begin() as session:
            job: Job = ask(session, self.project, *said, **how)
        claimed = self.place.claim()
        assert claimed.id == job.id
        return self.place.carry_out(claimed)

    def judged(self, table: str, name: str = "theirs.csv") -> dict[str, Any]:
        """What a file of answers is worth."""
        path = self.place.settings.home / name
        path.write_text(table)
        return self.measured(trainings.judge, self.place.files.put_file(path), name)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    folder = tmp_path_factory.mktemp("parts")
    place, single = places.make(folder / "home"), drawn.single(folder / "pictures", 24)
    with place.database.write.begin() as session:
        made = catalogue.create(session, "parts", Task.CLASSIFY, drawn.CLASSES)
        new = [
            NewImage(
                one.name, place.files.put_file(one.path), 64, 64, label=one.label,
                split=one.split, labelled=True,
            )
            for one in single.examples
        ]  # fmt: skip
        images.add(session, made.id, new, "")
    told = {}
    for epochs in (6, 1):
        with place.database.write.begin() as session:
            given = {"epochs": epochs, "batch": 8, "patience": 0}
            trainings.retrain(session, made.id, "classifier", parameters=given, seed=1)
        told = place.carry_out(place.claim())
    yield Parts(place, made.id, single.examples, told)
    place.database.close()


def test_small_pictures_got_the_small_network(parts: Parts) -> None:
    with parts.place.database.read() as session:
        model = registry.find(session, parts.project, "v1")
    assert (model.parameters["variant"], model.parameters["image_size"]) == ("small", 64)


def test_an_evaluation_says_how_sure_it_may_be_and_keeps_its_run(parts: Parts) -> None:
    told = parts.measured(trainings.evaluate, "v1")
    assert 0 <= told["ece"] <= 1
    assert sum(row["images"] for row in told["reliability"]) == told["images"] == 6
    with parts.place.database.read() as session:
        details = registry.details(session, registry.find(session, parts.project, "v1").id)
        (run, *_) = findings.runs(session, parts.project)
    assert details.evaluation["reliability"] == told["reliability"]
    assert (run.purpose, run.model, run.images) == ("evaluate", "v1", 6)


@pytest.mark.parametrize("model", ["v1", "v2"])
def test_each_cell_of_the_confusion_opens_its_pictures(parts: Parts, model: str) -> None:
    trained = _confusion(parts, model)
    measured = parts.measured(trainings.evaluate, model)
    assert _confusion(parts, model) == trained | {"run": _newest(parts)}
    assert sum(map(sum, measured["confusion"]["matrix"])) == len(parts.held_out())
    for confusion in (trained, _confusion(parts, model)):
        for label, row in zip(confusion["labels"], confusion["matrix"], strict=True):
            for said, number in zip(confusion["labels"], row, strict=True):
                assert len(_behind(parts, confusion["run"], label, said)) == number


def test_page_sql_mlflow_and_report_say_the_same(parts: Parts) -> None:
    told = parts.measured(trainings.evaluate, "v1")
    run, truths = _newest(parts), {one.name: one.label for one in parts.held_out()}
    with parts.place.database.read() as session:
        shown = registry.details(session, registry.find(session, parts.project, "v1").id)
        stored = select(MetricRow.name, MetricRow.value).filter_by(job_id=run, class_id=0)
        in_sql = dict(session.execute(stored).tuples().all())
        report = {row["name"]: row["label"] for row in reports.rows(session, run)}
    in_mlflow = {name: value for name, value, *_ in facts.held_out(shown, ())}
    right = sum(report[name] == truth for name, truth in truths.items())
    assert report.keys() == truths.keys()
    assert told["accuracy"] == pytest.approx(right / len(truths), abs=1e-9)
    for figure in ("accuracy", "macro_f1", "ece", "images"):
        assert told[figure] == shown.evaluation[figure] == in_sql[figure]
    for figure in ("accuracy", "macro_f1"):
        assert in_mlflow[f"held_out_{figure}"] == told[figure]
    for named in (told, shown.evaluation, in_sql, in_mlflow):
        assert not [one for one in named if "map" in one or "iou" in one]


def _confusion(parts: Parts, model: str) -> dict[str, Any]:
    """What a page is told of a model's mistakes."""
    with parts.place.database.read() as session:
        found = registry.details(session, registry.find(session, parts.project, model).id)
    return dict(found.evaluation["confusion"])


def _newest(parts: Parts) -> int:
    with parts.place.database.read() as session:
        return findings.runs(session, parts.project)[0].id


def _behind(parts: Parts, run: int, label: str, said: str) -> set[str]:
    """The names of the pictures that a cell opens."""
    choice = agenda.parse([("label", label), ("class", said)])
    with parts.place.database.read() as session:
        return {images.get(session, one).name for one in agenda.ids(session, run, choice, 100)}


def test_mistakes_are_told_the_surest_first_and_held_against_what_is_said_today(
    parts: Parts,
) -> None:
    told = parts.measured(trainings.evaluate, "v2")
    wrong = round((1 - told["accuracy"]) * told["images"])
    with parts.place.database.read() as session:
        model = registry.find(session, parts.project, "v2").id
        found = mistakes.of_model(session, parts.project, model)
    assert len(found) == wrong
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(one.label != one.said for one in found)
    truths = {one.name: one.label for one in parts.held_out()}
    assert all(truths[one.name] == one.label for one in found)


def test_two_classifiers_differ_by_pictures_gained_and_lost(parts: Parts) -> None:
    told = parts.measured(trainings.evaluate, "v1", against="v2")
    against = told["against"]
    counts = {name: against[name]["images"] for name in ("gained", "lost")}
    difference = (counts["gained"] - counts["lost"]) / told["images"]
    assert against["accuracy"]["difference"] == pytest.approx(difference)
    for name in counts:
        low, high = against[name]["interval"]
        assert low <= counts[name] <= high
        assert sum(row[name] for row in against["images"]) == counts[name]
    assert "Pictures gained:" in told["verdict"]


def test_a_table_of_answers_is_judged_like_a_model(parts: Parts) -> None:
    held = parts.held_out()
    lines = [f"{one.name},{one.label},0.9" for one in held[1:]]
    told = parts.judged("\n".join(["name,label,score", *lines, "nowhere.png,disc,1", "0.png,x,1"]))
    assert told["accuracy"] == 1.0
    assert (told["images"], told["unanswered"]) == (len(held) - 1, 1)
    assert (told["strange_images"], told["strange_classes"]) == (2, 0)
    assert told["against"]["model"] == "v1"
    assert "map50" not in told
    wrong = drawn.CLASSES[held[0].label == drawn.CLASSES[0]]
    told = parts.judged(f"name,label\n{held[0].name},{wrong}\n{held[1].name},{held[1].label}")
    assert told["accuracy"] == 0.5


def test_an_answer_that_its_program_is_not_sure_of_is_one() -> None:
    example = Example(Path("a.png"), 8, 8, Split.VAL, label="disc", name="a.png")
    row = judge._whole(example, Detection(0, 0, 1, 1, "disc", 0.0), ("square", "disc"))
    assert appraisal.scores(Appraisal((example,), (row,), {}), 2).argmax() == 1


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("name,label\n{0},disc\n{0},square", "line 3: {0} has an answer already"),
        ("name,label,score\n{0},disc,often", "line 2: the score is a number from 0 to 1"),
        ("name,label\nnowhere.png,disc", "names no class of this project for any of the 6"),
        ("name,score\n{0},1", "label"),
    ],
)
def test_a_table_of_answers_that_makes_no_sense_is_refused(
    parts: Parts, table: str, sentence: str
) -> None:
    name = parts.held_out()[0].name
    with pytest.raises((Invalid, Refused), match=sentence.format(name)):
        parts.judged(table.format(name), f"{abs(hash(table))}.csv")


def test_a_benchmark_measures_a_classifier_in_each_runtime(parts: Parts) -> None:
    told = parts.measured(trainings.benchmark, "v1")
    measured = [row for row in told["runtimes"] if "refused" not in row]
    assert {row["runtime"] for row in measured} >= {"openvino", "native"}
    assert all(0 <= row["accuracy"] <= 1 and row["images_per_second"] > 0 for row in measured)
    assert not any("map50" in row for row in measured)
