"""Every installed runtime gives the boxes that plain ultralytics gives, within a tolerance."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from backend import matching
from workers import runtimes
from workers.models.base import Detections, Picture, Pixels
from workers.runtimes import Source, preparing

SURE = 0.3
# Share of the sure boxes that the other side must have at IoU .9 (int8: .8), with that score.
TOLERANCE = {"f32": (0.995, 0.02), "f16": (0.98, 0.03), "bf16": (0.95, 0.06), "int8": (0.85, 0.15)}
ROWS = [
    (name, precision)
    for name, runtime in runtimes.RUNTIMES.items()
    for precision in runtime.precisions
    if "yolo" in runtime.families
]


@pytest.fixture(scope="module")
def photos_shown(cocoval: Path) -> list[Path]:
    # Two shapes, because each is compiled anew.
    shapes = ((480, 640), (640, 480))
    fitting = [path for path in sorted(cocoval.glob("*.jpg")) if _pixels(path).shape[:2] in shapes]
    return fitting[:16]


@pytest.fixture(scope="module")
def reference(weights: Path, photos_shown: list[Path]) -> list[Detections]:
    import ultralytics

    model = ultralytics.YOLO(str(weights / "yolo11n_recovered.pt"), task="detect")
    # One by one: of several at once ultralytics pads all to a square.
    found = [model.predict(str(path), conf=0.1, iou=0.7, verbose=False) for path in photos_shown]
    return [np.asarray(one[0].boxes.data.cpu().numpy(), np.float32) for one in found]


@pytest.mark.parametrize(("runtime", "precision"), ROWS)
def test_a_runtime_finds_what_plain_ultralytics_finds(
    runtime: str,
    precision: str,
    weights: Path,
    photos_shown: list[Path],
    reference: list[Detections],
    tmp_path: Path,
) -> None:
    if not runtimes.RUNTIMES[runtime].installed():
        pytest.skip(f"{runtime} is not installed")
    source = Source("yolo", weights / "yolo11n_recovered.pt")
    prepared = preparing.prepare(source, tmp_path, runtime, precision, photos_shown)
    if prepared.precision != precision:
        pytest.skip(f"this machine does not compute in {precision}")
    model = preparing.load(prepared, confidence=0.1)
    found = model.predict([Picture(_pixels(path)) for path in photos_shown])
    share, score = TOLERANCE[precision]
    ours = [np.asarray(one, np.float32) for one in found]
    pairs = list(zip(ours, reference, strict=True))
    assert _agreement(pairs, score) >= share
    assert _agreement([(second, first) for first, second in pairs], score) >= share


def _pixels(path: Path) -> Pixels:
    return np.asarray(cv2.imread(str(path)), np.uint8)


def _agreement(pairs: list[tuple[Detections, Detections]], score: float) -> float:
    """Of the sure boxes of the first, the share that the second has too."""
    iou = 0.8 if score > 0.1 else 0.9
    same = every = 0
    for first, second in pairs:
        sure = first[first[:, 4] >= SURE]
        every += len(sure)
        overlap = matching.overlaps(sure, second)
        alike = sure[:, 5:] == second[:, 5]
        close = abs(sure[:, 4:5] - second[:, 4]) <= score
        same += int(((overlap >= iou) & alike & close).any(1).sum()) if len(second) else 0
    return same / every


def test_a_crowded_picture_gets_all_its_boxes_from_the_quick_graph(
    weights: Path, photos_shown: list[Path], tmp_path: Path
) -> None:
    from workers.runtimes.openvino import OpenVinoForward, QuickForward

    prepared = preparing.prepare(
        Source("yolo", weights / "yolo11n_recovered.pt"), tmp_path, "openvino", "f32"
    )
    photos = [cv2.resize(_pixels(path), (160, 160)) for path in photos_shown]
    wall = np.concatenate([np.concatenate(photos[i : i + 4], 1) for i in range(0, 16, 4)], 0)
    quick = QuickForward(prepared.folder, "f32", 2, 0.001)
    whole = OpenVinoForward(prepared.folder / "graph.xml", "f32", 2)
    rows = []
    for forward in (quick, whole):
        tensor = forward.tensor(1, 640, 640)
        tensor[0] = wall
        rows.append(forward.infer(tensor)[0].copy())
    np.testing.assert_array_equal(rows[0], rows[1])
