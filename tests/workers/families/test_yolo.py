"""The family yolo: what it starts from, how it goes on, and that it sees what it was taught."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import pickle
import resource
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch

from backend.errors import Cancelled, Invalid, NotFound, Refused, Unavailable
from tests.workers.families import drawn
from tests.workers.training import reports
from workers.families import letterbox
from workers.families.base import Parameters, Picture, TrainingSet
from workers.families.yolo import family, yolo_network
from workers.weights import weight_files

SMALL = Parameters(epochs=2, image_size=96, batch=4, extra={"from_scratch": True, "mosaic": 0.0})


@pytest.fixture
def shapes(tmp_path: Path) -> TrainingSet:
    return drawn.shapes(tmp_path / "shapes", images=8)


@pytest.fixture
def yolo11n(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.getfixturevalue("weights")
    return folder / "yolo11n_recovered.pt"


class Evil:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (open, (str(self.path), "w"))  # type: ignore[return-value]


def test_a_poisoned_file_is_refused_and_not_run(tmp_path: Path, shapes: TrainingSet) -> None:
    made, file = tmp_path / "made", tmp_path / "evil.pt"
    torch.save({"model": Evil(made)}, file)
    plain = tmp_path / "plain.pt"
    plain.write_bytes(pickle.dumps(Evil(made)))
    for each in (file, plain):
        with pytest.raises(Invalid, match="refused"):
            family.load(each)
        with pytest.raises(Invalid, match="refused"):
            family.train(shapes, each, SMALL, reports.Remembering(), tmp_path / "run")
    assert not made.exists()


def test_a_file_of_any_name_is_known_by_its_content(yolo11n: Path, tmp_path: Path) -> None:
    stored = tmp_path / "0a1b2c"
    stored.symlink_to(yolo11n)
    assert len(family.load(stored, "cpu").classes) == 80
    text = tmp_path / "words.pt"
    text.write_text("no weights at all")
    with pytest.raises(Invalid, match=r"words\.pt were refused"):
        family.load(text)


def _part(yolo11n: Path) -> bytes:
    return yolo11n.read_bytes()[:100_000]


def _saved(content: object) -> Callable[[Path], bytes]:
    def make(_: Path) -> bytes:
        out = io.BytesIO()
        torch.save(content, out)
        return out.getvalue()

    return make


CODE = "it holds more than weights, which Loupe does not load, as that may be code."
NONE = "it is damaged, or no file of PyTorch."


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda _: b"no weights at all", f"were refused: {NONE}"),
        (lambda _: b"", f"were refused: {NONE}"),
        (_part, f"were refused: {NONE}"),
        (_saved({"model": Evil(Path("made"))}), f"were refused: {CODE}"),
        (_saved({"model": 3}), "hold no YOLO that finds boxes."),
        (_saved({"model": torch.zeros(3)}), "hold no YOLO that finds boxes."),
    ],
    ids=["text", "empty", "cut short", "code", "a number", "a tensor"],
)
def test_what_is_no_detector_is_refused_in_our_own_words(
    yolo11n: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    make: Callable[[Path], bytes],
    reason: str,
) -> None:
    path = tmp_path / "line 3.pt"
    path.write_bytes(make(yolo11n))
    with pytest.raises(Invalid) as said:
        family.load(path)
    assert str(said.value) == f"The weights line 3.pt {reason} {yolo_network.DETECTOR}"
    library = [one for one in caplog.messages if one.startswith(f"{path} was refused: ")]
    assert len(library) == ("were refused" in reason)


def test_another_familys_weights_are_named(tmp_path: Path) -> None:
    header = weight_files.WeightsHeader("classifier", "resnet18", ("a",), 224)
    path = weight_files.save(tmp_path / "c.safetensors", header, {"x": torch.zeros(2)})
    with pytest.raises(Invalid, match="belong to the family 'classifier'"):
        family.load(path)
    with pytest.raises(NotFound, match="no weights file"):
        family.load(tmp_path / "absent.pt")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (Parameters(epochs=0), "at least 1 epoch"),
        (Parameters(image_size=10**9), "from 32 to 4096"),
        (Parameters(batch=0), "at least 1"),
    ],
)
def test_senseless_parameters_are_refused(
    parameters: Parameters, sentence: str, shapes: TrainingSet, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match=sentence):
        family.train(shapes, None, parameters, reports.Remembering(), tmp_path)


def test_a_set_that_teaches_nothing_is_refused(shapes: TrainingSet, tmp_path: Path) -> None:
    told = reports.Remembering()
    bare = TrainingSet(shapes.classes, shapes.examples[3:4])
    with pytest.raises(Refused, match="training split"):
        family.train(bare, None, SMALL, told, tmp_path)
    with pytest.raises(Invalid, match="no class 'disc'"):
        family.train(TrainingSet(("square",), shapes.examples), None, SMALL, told, tmp_path)
    shapes.examples[0].path.unlink()
    with pytest.raises(NotFound, match=r"0\.png is not there any more"):
        family.train(shapes, None, SMALL, told, tmp_path)


def test_without_start_weights_scratch_must_be_asked_for(
    shapes: TrainingSet, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match="choose training from scratch"):
        family.train(shapes, None, Parameters(variant="x"), reports.Remembering(), tmp_path)


def test_a_cancelled_training_goes_on_where_it_was(shapes: TrainingSet, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first, second = reports.Remembering(cancel_in=2), reports.Remembering()
    with pytest.raises(Cancelled):
        family.train(shapes, None, SMALL, first, folder)
    trained = family.train(shapes, None, SMALL, second, folder)
    assert (first.epochs, second.epochs) == ([1], [2])
    assert trained.figures["epochs"] == 2
    assert any("from scratch" in line for line in first.lines)


def test_a_killed_training_goes_on_and_a_finished_one_is_not_repeated(
    shapes: TrainingSet, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    process = multiprocessing.get_context("spawn").Process(
        target=family.train, args=(shapes, None, SMALL, reports.Remembering(die_in=2), folder)
    )
    process.start()
    process.join(120)
    assert process.exitcode == -9
    told = reports.Remembering()
    # The kill came after the last checkpoint, before the weights: only they are missing.
    trained = family.train(shapes, None, SMALL, told, folder)
    assert told.epochs == []
    assert trained.figures["epochs"] == 2
    assert trained.weights.is_file()


@contextlib.contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file may grow beyond `room` bytes: to a writer it is as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_weights_that_do_not_fit_the_disk_leave_the_old_ones_whole(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    header = weight_files.WeightsHeader("yolo", "n", ("a",), 96)
    weight_files.save(path, header, {"x": torch.ones(3)})
    with full_disk(100), pytest.raises(Unavailable, match="could not be saved"):
        weight_files.save(path, header, {"x": torch.zeros(300)})
    assert weight_files.load(path, "yolo")[1]["x"].tolist() == [1, 1, 1]
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_fills_up_leaves_the_earlier_checkpoint_whole(
    shapes: TrainingSet, tmp_path: Path
) -> None:
    full = contextlib.ExitStack()

    class Filling(reports.Remembering):
        def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
            super().epoch(epoch, epochs, figures)
            full.enter_context(full_disk(1_000_000))

    with full, pytest.raises(Unavailable, match="checkpoint could not be saved"):
        family.train(shapes, None, SMALL, Filling(), tmp_path / "run")
    told = reports.Remembering()
    family.train(shapes, None, SMALL, told, tmp_path / "run")
    assert told.epochs == [2]


@pytest.mark.parametrize(("width", "height"), [(70, 50), (301, 200), (97, 211)])
def test_training_and_use_see_the_same_picture(
    shapes: TrainingSet, tmp_path: Path, width: int, height: int
) -> None:
    from workers.families.yolo import dataset, trainer
    from workers.training.basics import Place, TrainingTask

    pixels = np.random.default_rng(0).integers(0, 255, (height, width, 3), np.uint8)
    path = tmp_path / "odd.png"
    cv2.imwrite(str(path), pixels)
    task = TrainingTask(shapes, None, SMALL, tmp_path / "run")
    learner = trainer.YoloTrainer(task, Place(), reports.Remembering(), None)
    example = shapes.examples[0].__class__(path, width, height, shapes.examples[0].split)
    pictures = dataset.Pictures(
        (example,), shapes.classes, imgsz=96, augment=False, hyp=learner.args, rect=True,
        batch_size=1, stride=32, pad=0.0, data=learner.data,
    )  # fmt: skip
    taught = learner.preprocess_batch(pictures.collate_fn([pictures[0]]))["img"]
    used = family.tensor([letterbox.placed(pixels, letterbox.fit(width, height, 96))])
    assert torch.equal(taught, used)


def test_boxes_come_back_in_pixels_of_the_original() -> None:
    where = letterbox.fit(50, 100, 96)
    assert letterbox.placed(np.zeros((100, 50), np.uint8), where).shape == (96, 64, 3)
    rows = np.array([[8, 0, 8 + 48, 96, 0.9, 1]], np.float32)
    assert letterbox.back(rows, where, 50, 100)[0].tolist() == pytest.approx(
        [0, 0, 50, 100, 0.9, 1]
    )


@pytest.mark.slow
def test_it_learns_keeps_and_exports_what_it_was_taught(yolo11n: Path, tmp_path: Path) -> None:
    shapes = drawn.shapes(tmp_path / "shapes", images=16)
    told = reports.Remembering()
    trained = family.train(
        shapes, yolo11n, Parameters(epochs=6, image_size=96, batch=4),
        told, tmp_path / "run",
    )  # fmt: skip
    assert told.figures[-1]["loss"] < told.figures[0]["loss"]
    assert told.figures[-1]["map50"] > 0.8
    stored = trained.weights.rename(tmp_path / "0a1b2c")  # the store names files by their hash
    model = family.load(stored, "cpu")
    assert model.classes == drawn.CLASSES
    pixels = [cv2.imread(str(example.path)) for example in shapes.examples[:3]]
    pictures = [Picture(np.asarray(each, np.uint8)) for each in pixels]
    together = model.predict(pictures)
    for picture, found, example in zip(pictures, together, shapes.examples, strict=False):
        alone = model.predict([picture])[0]
        assert found[:2] == pytest.approx(alone[:2], abs=1e-3)
        best = found[0]
        truth = next(b for b in example.boxes if b.label == drawn.CLASSES[int(best[5])])
        assert best[:4] == pytest.approx([truth.x1, truth.y1, truth.x2, truth.y2], abs=8)
    again = family.train(
        shapes, stored, Parameters(epochs=1, image_size=96, batch=4),
        told, tmp_path / "again",
    )  # fmt: skip
    assert again.figures["map50"] > 0.7
    assert again.figures["map50_95"] >= trained.figures["map50_95"] - 0.01
    assert any("start weights reach" in line for line in told.lines)
    spoilt = family.train(
        shapes, stored, Parameters(epochs=1, image_size=96, batch=4, learning_rate=1.0),
        told, tmp_path / "spoilt",
    )  # fmt: skip
    assert spoilt.figures["best_epoch"] == 0
    assert told.lines[-1].endswith("they are kept.")
    assert family.load(spoilt.weights).predict(pictures)[0] == pytest.approx(together[0], abs=0.05)
    assert model.export("openvino", tmp_path / "out").is_file()
    with warnings.catch_warnings(action="ignore"):  # torch.jit is deprecated, not gone
        scripted = torch.jit.load(str(model.export("torchscript", tmp_path / "out")))  # type: ignore[no-untyped-call]
    side = pictures[0].pixels.shape[0]
    image = family.tensor([letterbox.placed(pictures[0].pixels, letterbox.fit(side, side, 96))])
    with torch.inference_mode():
        theirs, ours = scripted(image), model.network(image)
    assert torch.allclose(theirs, ours[0], atol=1e-3)
