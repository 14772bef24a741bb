"""From a click on Retrain to a model in the registry, by a real worker."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from sqlalchemy import select

from backend.domain import JobState, Project
from backend.errors import Invalid
from backend.jobs import kinds, queue
from backend.labels import samples
from backend.models import measurements, registry, tracked, trainings
from backend.review import reports
from backend.storage import findings
from backend.storage.files import Files
from backend.storage.tables import MetricRow
from tests.workers import running
from tests.workers.running import House
from workers.handlers.models import benchmark


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running.house(tmp_path_factory.mktemp("house")) as built:
        built.start_worker()
        yield built


@pytest.fixture(scope="module")
def files(house: House) -> Files:
    return Files(str(house.home / "files"), house.home / "cache")


@pytest.fixture(scope="module")
def project(house: House, files: Files) -> Project:
    return boards(house, files)


def boards(house: House, files: Files) -> Project:
    drawn = samples.draw(files, "pcb", 24, seed=5)
    with house.database.write.begin() as session:
        return samples.create(session, "boards", "pcb", drawn)


def retrain(house: House, project: Project, family: str = "golden") -> trainings.Started:
    with house.database.write.begin() as session:
        return trainings.retrain(session, project.id, family, seed=1)


def rows(house: House, job: int) -> dict[tuple[str, int], float]:
    """The figures that a job has left for SQL, by name and class."""
    with house.database.read() as session:
        found = session.scalars(select(MetricRow).filter_by(job_id=job))
        return {(one.name, one.class_id): one.value for one in found}


def test_a_model_stands_in_the_registry_beside_the_champion(house: House, project: Project) -> None:
    first = house.until_ended(retrain(house, project).job.id)
    assert (first.state, first.error) == (JobState.DONE, "")
    assert first.result["metrics"]["map50"] > 0.3
    second = house.until_ended(retrain(house, project).job.id)
    with house.database.read() as session:
        told = registry.details(session, second.result["model_id"])
        assert registry.find(session, project.id, "champion").name == "v1"
    assert told.against["model"] == "v1"
    assert told.against["map50"]["difference"] == 0.0
    assert registry.verdict(told).startswith("v2 is not clearly different from v1")
    assert set(told.evaluation["per_class"]) == set(told.model.classes)
    assert told.against["images"] == []
    assert told.provenance["job"] == second.id
    with house.database.read() as session:
        run = findings.get(session, second.id)
        assert (run.purpose, run.model, run.images) == (
            "evaluate",
            "v2",
            first.result["metrics"]["images"],
        )
        assert findings.totals(session, run.id)["detections"] > 0


def test_a_model_is_measured_as_the_training_measured_it(house: House, project: Project) -> None:
    started = retrain(house, project)
    trained = house.until_ended(started.job.id)
    with house.database.write.begin() as session:
        job = trainings.evaluate(session, project.id, started.model.name)
    measured = house.until_ended(job.id).result
    figures = trained.result["metrics"]
    assert {name: measured[name] for name in figures} == figures
    assert rows(house, job.id)["map50", measurements.OVERALL] == figures["map50"]
    assert ("ap50", project.classes[0].id) in rows(house, job.id)
    assert rows(house, job.id) == rows(house, started.job.id)


def test_two_models_are_compared_by_class_and_by_image(house: House, project: Project) -> None:
    with house.database.write.begin() as session:
        names = [one.name for one in registry.models(session, project.id)][:2]
        job = trainings.evaluate(session, project.id, names[0], iou=0.33, against=names[1])
        with pytest.raises(Invalid, match="compared with itself"):
            trainings.evaluate(session, project.id, names[0], against=names[0])
    measured = house.until_ended(job.id)
    assert measured.error == ""
    against = measured.result["against"]
    assert (against["model"], against["iou"], against["images"]) == (names[1], 0.33, [])
    assert set(against["per_class"]) == set(measured.result["per_class"])
    assert measured.result["verdict"].startswith(
        f"{names[0]} is not clearly different from {names[1]} (mAP@.33 +0.000"
    )


def test_what_another_program_found_is_judged_like_a_model(
    house: House, files: Files, project: Project, tmp_path: Path
) -> None:
    """A model's own detections, taken out and brought in again, get the model's own figures."""
    with house.database.write.begin() as session:
        champion = registry.find(session, project.id, "champion")
        (tmp_path / "found.csv").write_bytes(
            b"".join(reports.write(session, champion.job_id or 0, "csv"))
        )
        (tmp_path / "found.json").write_bytes(
            b"".join(reports.write(session, champion.job_id or 0, "coco"))
        )
    for name in ("found.csv", "found.json"):
        stored = files.put_file(tmp_path / name)
        with house.database.write.begin() as session:
            job = trainings.judge(session, project.id, stored, name)
        judged = house.until_ended(job.id)
        assert judged.error == ""
        figures = {name: judged.result[name] for name in ("map50", "map50_95", "images")}
        assert figures == pytest.approx({n: champion.metrics[n] for n in figures}, abs=0.02)
        assert judged.result["against"]["model"] == champion.name
        with house.database.read() as session:
            run = findings.get(session, judged.id)
            assert (run.model, run.family, run.purpose) == (name, "imported", "evaluate")
        assert rows(house, judged.id)["map50", measurements.OVERALL] == figures["map50"]


def test_predictions_of_other_pictures_are_refused(
    house: House, files: Files, project: Project, tmp_path: Path
) -> None:
    (tmp_path / "found.csv").write_text("name,label,score,x1,y1,x2,y2\nz.png,open,1,1,2,3,4\n")
    stored = files.put_file(tmp_path / "found.csv")
    with house.database.write.begin() as session:
        job = trainings.judge(session, project.id, stored, "found.csv")
    judged = house.until_ended(job.id)
    assert judged.state is JobState.FAILED
    assert "found.csv has no box of a class of this project" in judged.error


@pytest.mark.usefixtures("mlflow_is_told")
def test_a_training_can_be_found_in_mlflow(tmp_path: Path) -> None:
    """A process of a worker tells it; the training itself never heard of mlflow."""
    with running.house(tmp_path / "house") as house:
        house.start_worker(LOUPE_MLFLOW_URI="default")
        project = boards(house, Files(str(house.home / "files"), house.home / "cache"))
        assert house.until_ended(retrain(house, project).job.id).error == ""

        def all_told() -> bool:
            with house.database.read() as session:
                return tracked.waiting(session) == []

        house.until_true(all_told)
        client = MlflowClient(tracking_uri=f"sqlite:///{house.home / 'mlflow.db'}")
        found = client.get_experiment_by_name(project.name)
        assert found is not None
        (run,) = client.search_runs([found.experiment_id])
        assert (run.info.run_name, run.info.status) == ("v1", "FINISHED")
        assert {"ap", "held_out_map50", "duration"} <= set(run.data.metrics)
        assert run.data.params["seed"] == "1"
        assert {"driver_node_type", "device", "nodes", "versions.torch"} <= set(run.data.tags)
        assert len(list((house.home / "mlruns").rglob("model.npz"))) == 1


@pytest.mark.parametrize("runtime", ["onnx", "openvino"])
def test_a_model_is_exported(house: House, runtime: str, trained_yolo: int) -> None:
    with house.database.write.begin() as session:
        model = registry.get(session, trained_yolo)
        asked = kinds.Publish(model.project_id, model.id, runtime)
        job = queue.enqueue(session, asked)
    done = house.until_ended(job.id)
    assert (done.error, done.result["file"]) == ("", f"faces-v1-{runtime}.zip")
    with zipfile.ZipFile(house.home / "cache" / "exports" / f"{job.id}.zip") as packed:
        assert "model.json" in packed.namelist()
        assert any(name.startswith("model.") and "json" not in name for name in packed.namelist())


@pytest.mark.siege
def test_a_detector_is_measured_in_each_runtime(house: House, trained_yolo: int) -> None:
    with house.database.write.begin() as session:
        model = registry.get(session, trained_yolo)
        job = trainings.benchmark(session, model.project_id, model.name)
    done = house.until_ended(job.id)
    assert done.error == ""
    with house.database.read() as session:
        runtimes = registry.details(session, trained_yolo).runtimes
    ways = {(row["runtime"], row["precision"]): row for row in runtimes}
    kept = rows(house, job.id)["openvino f32 map50", measurements.OVERALL]
    assert kept == ways["openvino", "f32"]["map50"]
    assert {("openvino", "f32"), ("openvino", "int8"), ("torch", "f32")} <= set(ways)
    assert ways["openvino", "f32"]["images_per_second"] > 0
    assert ways["openvino", "f32"]["map50"] == pytest.approx(
        ways["torch", "f32"]["map50"], abs=1e-3
    )


def test_a_way_is_named_by_the_precision_in_which_it_computes() -> None:
    assert benchmark.ways("faster_rcnn") == [
        ("openvino", "f32"),
        ("openvino", "int8"),  # asked for, and refused in words
        ("onnxruntime", "f32"),
        ("native", "f32"),
    ]


@pytest.fixture(scope="module")
def trained_yolo(house: House, files: Files) -> int:
    drawn = samples.draw(files, "mask", 9, seed=5)
    parameters = {"epochs": 1, "image_size": 96, "batch": 2}
    with house.database.write.begin() as session:
        faces = samples.create(session, "faces", "mask", drawn)
        started = trainings.retrain(
            session, faces.id, "yolo", start="scratch", parameters=parameters
        )
    assert house.until_ended(started.job.id).error == ""
    return started.model.id


def test_a_picture_lost_after_the_click_is_named(house: House, files: Files) -> None:
    drawn = samples.draw(files, "pcb", 6, seed=99)
    with house.database.write.begin() as session:
        project = samples.create(session, "torn", "pcb", drawn)
    for one in drawn:
        if one.labelled:
            files.local_path(one.sha256).unlink()
    job = house.until_ended(retrain(house, project).job.id)
    assert job.state is JobState.FAILED
    assert "is not in the store any more: put its file back" in job.error
    with house.database.read() as session:
        assert registry.champion(session, project.id) is None


def test_a_poisoned_weights_file_is_refused_without_running_it(
    house: House, project: Project, tmp_path: Path
) -> None:
    trap, mark = tmp_path / "evil.pt", tmp_path / "executed"
    trap.write_bytes(poisoned(mark))
    with house.database.write.begin() as session:
        started = trainings.retrain(session, project.id, "yolo", start=str(trap))
    job = house.until_ended(started.job.id)
    assert job.state is JobState.FAILED
    assert not mark.exists()
    refused = "The weights evil.pt were refused: it is damaged, or no file of PyTorch."
    assert job.error.startswith(refused)


def poisoned(mark: Path) -> bytes:
    """A pickle that would create a file if it were loaded carelessly."""
    import pickle

    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (str(mark),)

    return pickle.dumps(Trap())
