"""What a YOLO says of DeepPCB's boards, run once and kept in the temporary folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.benchmarks.deeppcb import Pair
from workers.models.base import Detections


def detections(weights: Path, pairs: Sequence[Pair]) -> list[Detections]:
    """The detections of each board by ultralytics with torch, from a score of .001."""
    key = hashlib.sha256(weights.read_bytes() + "".join(p.name for p in pairs).encode())
    kept = Path(tempfile.gettempdir()) / f"loupe-benchmark-{key.hexdigest()[:16]}.npz"
    if not kept.is_file():
        found = _run(weights, pairs)
        sizes = np.array([len(each) for each in found])
        np.savez(kept, sizes=sizes, rows=np.concatenate(found))
    with np.load(kept, allow_pickle=False) as arrays:
        return list(np.split(arrays["rows"], arrays["sizes"].cumsum()[:-1]))


def _run(weights: Path, pairs: Sequence[Pair]) -> list[Detections]:
    os.environ.update(YOLO_OFFLINE="true", YOLO_AUTOINSTALL="false", ULTRALYTICS_SAFE_LOAD="1")
    os.environ.setdefault("YOLO_CONFIG_DIR", tempfile.mkdtemp())
    from ultralytics import YOLO  # slow to import

    model, found = YOLO(str(weights)), []
    for pair in pairs:
        boxes = model.predict(str(pair.board), conf=0.001, iou=0.6, verbose=False, device="cpu")[0]
        rows = boxes.boxes.data.numpy().astype(np.float32)
        found.append(rows[np.argsort(-rows[:, 4], kind="stable")])
    return found
