"""How a trained model is run fast, one row a runtime; may ask families and weights, and no room."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Protocol, cast

from backend.errors import Invalid, Unavailable
from backend.runtimes import PRECISIONS
from workers.families.base import LoadedModel


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model as it was trained, or as it was given; size 0 and no classes: as its file says."""

    family: str
    weights: Path | None
    classes: tuple[str, ...] = ()
    image_size: int = 0


@dataclass(frozen=True, slots=True)
class Runtime:
    """A way to run models: what it needs, which families and precisions it knows, best first."""

    name: str
    title: str
    module: str
    needs: tuple[str, ...]
    families: tuple[str, ...]

    @property
    def precisions(self) -> tuple[str, ...]:
        """The precisions in which it computes, the usual one first."""
        return PRECISIONS[self.name]

    def installed(self) -> bool:
        """Whether its libraries are here."""
        return all(util.find_spec(name) is not None for name in self.needs)


ON_CARDS = ("torch", "native")  # where PyTorch computes, so on a card if there is one
RUNTIMES = {
    runtime.name: runtime
    for runtime in (
        Runtime(
            "openvino",
            "OpenVINO: the quickest on processors",
            "workers.runtimes.openvino",
            ("openvino",),
            ("yolo", "faster_rcnn", "classifier"),
        ),
        Runtime(
            "onnxruntime",
            "ONNX Runtime, where it is installed",
            "workers.runtimes.onnxruntime",
            ("onnxruntime",),
            ("yolo", "faster_rcnn", "classifier"),
        ),
        Runtime(
            "torch",
            "PyTorch: on a graphics card, or plain on the processor",
            "workers.runtimes.torch",
            ("torch",),
            ("yolo",),
        ),
        Runtime(
            "native",
            "The family's own code",
            "workers.runtimes.native",
            (),
            ("golden", "faster_rcnn", "classifier", "second_stage"),
        ),
    )
}


class RuntimeModule(Protocol):
    """A module of this folder.

    `about` gives the classes and the image size. `prepare` fills a folder from a model, once;
    pictures are for calibration. `load` makes a model of the folder, in a process that may lack
    the libraries which prepared it.
    """

    about: Callable[[ModelSource], tuple[tuple[str, ...], int]]
    prepare: Callable[[ModelSource, str, Path, Sequence[Path]], None]
    load: Callable[[Path, ModelSource, str, float, int], LoadedModel]
    precision: Callable[[str, str], str]


def find(name: str) -> Runtime:
    """The runtime of that name, if it can run here."""
    if name not in RUNTIMES:
        raise Invalid(f"There is no runtime {name!r}; there are {', '.join(RUNTIMES)}.")
    runtime = RUNTIMES[name]
    if not runtime.installed():
        raise Unavailable(f"The runtime {name} needs {' and '.join(runtime.needs)}: not installed.")
    return runtime


def implementation(name: str) -> RuntimeModule:
    """The module that does it."""
    return cast("RuntimeModule", importlib.import_module(find(name).module))


def best(family: str) -> Runtime:
    """The quickest runtime of this machine for a family."""
    found = choices(family)
    if not found:
        raise Invalid(f"No installed runtime runs the family {family}.")
    carded = [row for row in found if row.name in ON_CARDS and has_card()]
    return (carded or found)[0]


def has_card() -> bool:
    """Whether this machine seems to have a graphics card, without importing torch."""
    return Path("/dev/nvidia0").exists() or Path("/dev/dxg").exists()


def choices(family: str) -> list[Runtime]:
    """The installed runtimes that know a family."""
    return [r for r in RUNTIMES.values() if family in r.families and r.installed()]
