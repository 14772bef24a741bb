"""Start weights: where a training begins when it is given none; nothing is downloaded here."""

from __future__ import annotations

from pathlib import Path

from backend import settings
from backend.errors import NotFound, Refused

ASSETS = Path(__file__).parents[2] / "assets"
# The beginnings of the file names under which weights of a variant are known, ours and others'.
NAMES: dict[tuple[str, str], tuple[str, ...]] = {
    **{("yolo", size): (f"start_yolo11{size}", f"yolo11{size}") for size in "nsmlx"},
    ("faster_rcnn", "mobilenet"): ("mobilenet_v2",),
    ("faster_rcnn", "resnet50"): ("fasterrcnn_resnet50_fpn_coco", "resnet50"),
    ("faster_rcnn", "resnet50_v2"): ("fasterrcnn_resnet50_fpn_v2", "resnet50"),
    ("classifier", "mobilenet"): ("mobilenet_v2",),
    ("classifier", "resnet18"): ("resnet18",),
    ("classifier", "resnet50"): ("resnet50",),
}
SUFFIXES = (".safetensors", ".pt", ".pth")


def find(family: str, variant: str) -> Path | None:
    """The start weights of a variant: in LOUPE_WEIGHTS_DIR, else the ones that Loupe brings."""
    folders = [folder for folder in (settings.current().weights_dir, ASSETS) if folder is not None]
    for folder in folders:
        for name in NAMES.get((family, variant), ()):
            if found := _in_folder(folder, name):
                return found
    return None


def choose(family: str, variant: str, given: Path | None, from_scratch: bool) -> Path | None:
    """The weights to start from, None for none; without any, a person must have asked for that."""
    if given is not None:
        if not given.is_file():
            raise NotFound(f"There is no weights file {given}.")
        return given
    found = None if from_scratch else find(family, variant)
    if found is None and not from_scratch:
        raise Refused(
            f"There are no start weights for {family} {variant} on this machine: name a file, put "
            "one into LOUPE_WEIGHTS_DIR, or choose training from scratch, which takes many more "
            "images and epochs."
        )
    return found


def _in_folder(folder: Path, name: str) -> Path | None:
    """The file of exactly that name, else the only one that begins with it."""
    for suffix in SUFFIXES:
        if (folder / f"{name}{suffix}").is_file():
            return folder / f"{name}{suffix}"
    found = [f for f in sorted(folder.glob(f"{name}[-_]*")) if f.suffix in SUFFIXES]
    if len(found) > 1:
        listed = ", ".join(file.name for file in found)
        raise Refused(f"Several files in {folder} may be the start weights: {listed}. Name one.")
    return found[0] if found else None
