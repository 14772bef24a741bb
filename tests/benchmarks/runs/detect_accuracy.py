"""What each runtime's boxes are worth: mAP on the COCO photos, and on DeepPCB's test boards.

`python -m tests.benchmarks.runs.detect_accuracy`: one table, in points of plain torch's
figure. From a score of .001 up, as mAP is meant, the whole graph answers; from .05 up the quick
one, as in runs.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from tests import real_data
from tests.benchmarks.golden import deeppcb
from workers.evaluation import metrics
from workers.evaluation.average_precision import Weighed
from workers.families.base import Detections, LoadedModel, Picture
from workers.runtimes import ModelSource, openvino, preparing

LEAST, SERVED = 0.001, openvino.SURE
WAYS = (("torch", "f32"), ("openvino", "bf16"), ("openvino", "int8"))


def main() -> None:
    """Measure and print."""
    cache = Path(tempfile.gettempdir()) / "loupe-benchmarks" / "cache"
    photos = ModelSource("yolo", real_data.weights() / "yolo11n_recovered.pt")
    trained = ModelSource("yolo", real_data.weights() / "yolo11n_deeppcb.pt")
    cases = (
        ("164 COCO photos, mAP50-95", coco, photos),
        ("500 DeepPCB test boards, mAP@.5", boards, trained),
    )
    for (title, measure, source), least in itertools.product(cases, (LEAST, SERVED)):
        print(f"{title}, from a score of {least} up")
        plain = 0.0
        for runtime, precision in WAYS:
            worth = measure(source, cache, runtime, precision, least)
            plain = plain or worth
            points = 100 * (worth - plain)
            print(f"{runtime + ' ' + precision:24}{worth:10.4f}{points:+8.2f} points", flush=True)


def coco(
    source: ModelSource, cache: Path, runtime: str, precision: str, least: float = LEAST
) -> float:
    """mAP50-95 on the 164 photos, by pycocotools."""
    photos = sorted(real_data.unpacked("photos").rglob("*.jpg"))
    folder = real_data.unpacked("cocoval")
    model = _load(source, cache, runtime, precision, photos, least)
    truth = json.loads((folder.parent / "cocoval.json").read_text())
    kinds = sorted(kind["id"] for kind in truth["categories"])
    found = []
    for image in truth["images"]:
        boxes = predict(model, folder / image["file_name"])
        found += [_coco_row(image["id"], row, kinds) for row in boxes.tolist()]
    return _evaluate(truth, found)


def boards(
    source: ModelSource, cache: Path, runtime: str, precision: str, least: float = LEAST
) -> float:
    """mAP@.5 on DeepPCB's 500 test boards; calibration on its trainval split."""
    trainval = [pair.board for pair in deeppcb.pairs("trainval")]
    model = _load(source, cache, runtime, precision, trainval, least)
    order = np.array(
        [deeppcb.KINDS.index(name.replace("pinhole", "pin-hole")) for name in model.classes]
    )
    pairs = deeppcb.pairs("test")
    judged = [Weighed(_renamed(predict(model, pair.board), order), pair.truths) for pair in pairs]
    return float(metrics.report(judged, deeppcb.KINDS, 0.5, resamples=0)["map50"])


def _renamed(boxes: Detections, order: NDArray[np.int64]) -> Detections:
    """The same boxes with the benchmark's class indices."""
    boxes[:, 5] = order[boxes[:, 5].astype(int)]
    return boxes


def predict(model: LoadedModel, path: Path) -> Detections:
    """The boxes of one picture."""
    pixels = np.asarray(cv2.imread(str(path)), np.uint8)
    return np.asarray(model.predict([Picture(pixels)])[0], np.float32)


def _load(
    source: ModelSource,
    cache: Path,
    runtime: str,
    precision: str,
    pictures: Sequence[Path],
    least: float,
) -> LoadedModel:
    prepared = preparing.prepare(source, cache, runtime, precision, pictures)
    return preparing.load(prepared, least, 2)


def _coco_row(image_id: int, row: Sequence[float], kinds: Sequence[int]) -> dict[str, Any]:
    x1, y1, x2, y2, score, label = row
    return {
        "image_id": image_id,
        "category_id": kinds[int(label)],
        "bbox": [x1, y1, x2 - x1, y2 - y1],
        "score": score,
    }


def _evaluate(truth: dict[str, Any], found: list[dict[str, Any]]) -> float:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        labels = COCO()
        labels.dataset = truth
        labels.createIndex()
        judge = COCOeval(labels, labels.loadRes(found), "bbox")
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    return float(judge.stats[0])


if __name__ == "__main__":
    main()
