"""Golden boards in colour: the HRIPCB sample, boards 01 and 11 with their clean photographs.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden.golden_hripcb

Board 05 has no clean photograph; its golden is the median of its six pictures. Margin, thresholds
and size scale were chosen on board 05; the noise of 01 and 11 was looked at as well.
"""

from __future__ import annotations

import time
from pathlib import Path
from xml.etree import ElementTree

import cv2
import numpy as np
from numpy.typing import NDArray

from backend import matching
from backend.errors import Refused
from tests import real_data
from workers.families import golden
from workers.families.base import LoadedModel, Picture, Pixels

CLASSES = ("open_circuit", "short", "mouse_bite", "spur", "spurious_copper", "missing_hole")
SCORE = 0.5


def labels(path: Path) -> NDArray[np.float64]:
    """Corners and class of each box."""
    rows = []
    for item in ElementTree.parse(path).iter("object"):
        sides = ("xmin", "ymin", "xmax", "ymax")
        corners = [float(item.findtext(f"bndbox/{side}", "")) for side in sides]
        rows.append([*corners, CLASSES.index(item.findtext("name", "").lower())])
    return np.array(rows)


def read(path: Path) -> Pixels:
    """A colour picture."""
    return np.asarray(cv2.imread(str(path)), np.uint8)


def judge(model: LoadedModel, picture: Picture, truths: NDArray[np.float64]) -> NDArray[np.int64]:
    """Found, rightly named, called, labelled; and a line of what went wrong."""
    answer = model.predict([picture])[0]
    if isinstance(answer, Refused):
        raise answer
    _, first = np.unique(answer[:, :4], axis=0, return_index=True)
    found = answer[np.sort(first)]
    found = found[found[:, 4] >= SCORE]
    overlap = matching.overlaps(found, truths)
    chosen = matching.assign(overlap, (0.33,), np.zeros(len(truths), np.bool_))[0]
    hit = chosen >= 0
    missed = sorted(set(range(len(truths))) - set(chosen.tolist()))
    wrong = found[~hit, :5].round(1).tolist()
    if missed or wrong:
        print(f"  {picture.name}: missed {missed}, wrong {wrong}")
    named = (found[hit, 5] == truths[chosen[hit], 4]).sum()
    return np.array([hit.sum(), named, len(found), len(truths)])


def main() -> None:
    """Print a line for each board."""
    cv2.setNumThreads(1)
    root, model = real_data.unpacked("hripcb"), golden.untrained(CLASSES)
    for board in ("05", "01", "11"):
        paths = sorted((root / "images").glob(f"*/{board}_*.jpg"))
        pictures, clean = [read(path) for path in paths], root / "PCB_USED" / f"{board}.JPG"
        reference = read(clean) if clean.is_file() else np.median(pictures, axis=0).astype(np.uint8)
        counts, started = np.zeros(4, np.int64), time.process_time()
        for path, pixels in zip(paths, pictures, strict=True):
            truths = labels(root / "Annotations" / path.parent.name / f"{path.stem}.xml")
            counts += judge(model, Picture(pixels, reference, path.name), truths)
        spent = (time.process_time() - started) / len(paths) * 1000
        right, named, calls, total = counts.tolist()
        print(
            f"board {board}: recall {right / total:.3f} ({right} of {total}),"
            f" precision {right / max(1, calls):.3f} ({right} of {calls}),"
            f" {named} of {right} rightly named, {spent:.0f} ms of one core each"
        )


if __name__ == "__main__":
    main()
