"""Start weights: where a training begins when it is given none.

Nothing is downloaded unless a person asks for it (`extra` of the parameters: `download`), and then
before the training begins.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib import request

from backend import settings
from backend.errors import NotFound, Refused, Unavailable
from backend.weights import start_weights

_TORCH = "https://download.pytorch.org/models"
_YOLO = "https://github.com/ultralytics/assets/releases/download/v8.4.0"
PUBLISHED: dict[tuple[str, str], str] = {
    **{("yolo", size): f"{_YOLO}/yolo11{size}.pt" for size in "nsmlx"},
    ("faster_rcnn", "mobilenet"): f"{_TORCH}/mobilenet_v2-7ebf99e0.pth",
    ("faster_rcnn", "resnet50"): f"{_TORCH}/fasterrcnn_resnet50_fpn_coco-258fb6c6.pth",
    ("faster_rcnn", "resnet50_v2"): f"{_TORCH}/fasterrcnn_resnet50_fpn_v2_coco-dd69338a.pth",
    ("classifier", "mobilenet"): f"{_TORCH}/mobilenet_v2-7ebf99e0.pth",
    ("classifier", "resnet18"): f"{_TORCH}/resnet18-f37072fd.pth",
    ("classifier", "resnet50"): f"{_TORCH}/resnet50-11ad3fa6.pth",
}


def choose(family: str, variant: str, given: Path | None, extra: Mapping[str, Any]) -> Path | None:
    """The weights to start from, None for none; without any, a person must have asked for that."""
    if given is not None:
        if not given.is_file():
            raise NotFound(f"There is no weights file {given}.")
        return given
    if extra.get("from_scratch"):
        return None
    found = start_weights.find(family, variant)
    if found is None and extra.get("download"):
        return download(family, variant)
    if found is None:
        raise Refused(start_weights.missing(family, variant))
    return found


def find(family: str, variant: str, extra: Mapping[str, Any]) -> Path | None:
    """The start weights of a family that can do without."""
    if extra.get("download") and start_weights.find(family, variant) is None:
        return download(family, variant)
    return None if extra.get("from_scratch") else start_weights.find(family, variant)


def download(family: str, variant: str) -> Path:
    """The weights that the library's authors publish, kept in the cache folder."""
    if (family, variant) not in PUBLISHED:
        raise Refused(f"Nobody publishes start weights for {family} {variant}.")
    return fetch(PUBLISHED[family, variant], settings.current().cache / "weights")


def fetch(url: str, folder: Path) -> Path:
    """A file of the network, whole or not at all; one that is here already is taken."""
    target = folder / url.rsplit("/", 1)[1]
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    try:
        with request.urlopen(url, timeout=20) as source, part.open("wb") as file:
            shutil.copyfileobj(source, file)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Unavailable(f"The start weights could not be had from {url}: {error}.") from error
    return target
