"""Start weights that lie on this machine: in LOUPE_WEIGHTS_DIR, or brought by Loupe."""

from __future__ import annotations

from pathlib import Path

from backend import settings
from backend.errors import Refused

ASSETS = Path(__file__).parents[2] / "assets"
SUFFIXES = (".safetensors", ".pt", ".pth")
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


def find(family: str, variant: str) -> Path | None:
    """The file that a training of this variant starts from when it is given none."""
    folders = [folder for folder in (settings.current().weights_dir, ASSETS) if folder is not None]
    for folder in folders:
        for name in NAMES.get((family, variant), ()):
            if found := _in_folder(folder, name):
                return found
    return None


def missing(family: str, variant: str) -> str:
    """What to say where there are none."""
    return (
        f"There are no start weights for {family} {variant} on this machine: name a file, put "
        "one into LOUPE_WEIGHTS_DIR, allow the download, or choose training from scratch, "
        "which takes many more images and epochs."
    )


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
