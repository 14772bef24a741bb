"""What a YOLO says of DeepPCB's boards, run once and kept in the temporary folder."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from tests.benchmarks.golden.deeppcb import KINDS, Pair
from workers.families.base import Detections
from workers.families.golden.partner import Partner
from workers.runtimes import ModelSource, partners, preparing


def detections(weights: Path, pairs: Sequence[Pair], turned: bool = False) -> list[Detections]:
    """The detections of each board, or of the board on its side as a training asks for them."""
    key = hashlib.sha256(weights.read_bytes() + "".join(p.name for p in pairs).encode())
    name = f"loupe-benchmark-{key.hexdigest()[:16]}-{'turned' if turned else 'upright'}.npz"
    kept = Path(tempfile.gettempdir()) / name
    if not kept.is_file():
        found = _run(weights, pairs, turned)
        sizes = np.array([len(each) for each in found])
        np.savez(kept, sizes=sizes, rows=np.concatenate(found))
    with np.load(kept, allow_pickle=False) as arrays:
        return list(np.split(arrays["rows"], arrays["sizes"].cumsum()[:-1]))


def _run(weights: Path, pairs: Sequence[Pair], turned: bool) -> list[Detections]:
    cache = Path(tempfile.gettempdir()) / "loupe-benchmark-models"
    model = preparing.load(preparing.prepare(ModelSource("yolo", weights), cache), partners.LEAST)
    partner = Partner("yolo", "yolo", b"", model)
    ask = partner.found_turned if turned else partner.found
    # Some weights say `pinhole` where the data set says pin-hole.
    names = tuple(kind if kind in model.classes else kind.replace("-", "") for kind in KINDS)
    return [ask(_colour(pair), names, pair.name) for pair in pairs]


def _colour(pair: Pair) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.asarray(cv2.cvtColor(pair.picture().pixels, cv2.COLOR_GRAY2BGR), np.uint8)
