"""The graph of a YOLO as a file describes it, let through only where it is one.

Ultralytics builds whatever a description names, and evaluates parts of it as code: what it is
given holds names from the lists below and numbers, nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.weights.weight_files import Strange

LAYERS = frozenset((
    "A2C2f", "AConv", "ADown", "Bottleneck", "BottleneckCSP", "C1", "C2", "C2PSA", "C2f", "C2fCIB",
    "C2fPSA", "C3", "C3Ghost", "C3k2", "C3x", "CBFuse", "CBLinear", "Concat", "Conv",
    "ConvTranspose", "DWConv", "Detect", "ELAN1", "Focus", "GhostBottleneck", "GhostConv", "PSA",
    "RepC3", "RepNCSPELAN4", "SCDown", "SPP", "SPPELAN", "SPPF", "nn.BatchNorm2d",
    "nn.ConvTranspose2d", "nn.Identity", "nn.MaxPool2d", "nn.Upsample", "nn.ZeroPad2d", "v10Detect",
))  # fmt: skip
HEADS = ("Detect", "v10Detect")
ACTIVATIONS = tuple(
    f"{start}{name}()"
    for start in ("nn.", "torch.nn.")
    for name in ("ReLU", "ReLU6", "LeakyReLU", "SiLU", "GELU", "Hardswish", "Mish", "ELU")
)
WORDS = ("None", "nearest", "nc", "True", "False")
MOST_LAYERS, MOST_REPEATS, LARGEST = 300, 100, 4096
_FACTORS = ("depth_multiple", "width_multiple")
_NUMBERS = ("nc", "reg_max", "channels", "ch")


def checked(told: Any) -> dict[str, Any]:
    """The description, made anew of what is allowed; Strange says what is not."""
    if not isinstance(told, Mapping):
        raise Strange("it describes no graph")
    made: dict[str, Any] = {name: _count(told[name]) for name in _NUMBERS if name in told}
    made |= {name: _factor(told[name]) for name in _FACTORS if name in told}
    for name, known in (("end2end", (True, False, None)), ("activation", (*ACTIVATIONS, None))):
        if name in told:
            made[name] = _one_of(told[name], known)
    if "scales" in told:
        made["scales"] = {_letter(name): _scale(given) for name, given in told["scales"].items()}
    if "scale" in told:
        made["scale"] = _letter(told["scale"])
    if made.get("scale") and "scales" in made and made["scale"] not in made["scales"]:
        raise Strange(f"there is no scale {made['scale']!r}")
    made |= {
        name: [_layer(each) for each in _listed(told.get(name))] for name in ("backbone", "head")
    }
    if not made["head"] or made["head"][-1][2] not in HEADS:
        raise Strange("its last layer finds no boxes")
    return made


def _layer(told: Any) -> list[Any]:
    if not isinstance(told, list | tuple) or len(told) != 4:
        raise Strange("a layer has four parts")
    begin, repeats, name, given = told
    return [_from(begin), _count(repeats, MOST_REPEATS), _one_of(name, LAYERS), _arguments(given)]


def _from(told: Any) -> int | list[int]:
    found = [_whole(each) for each in (told if isinstance(told, list | tuple) else [told])]
    if any(abs(each) > 2 * MOST_LAYERS for each in found):
        raise Strange("a layer stands on none of the graph")
    return found if isinstance(told, list | tuple) else found[0]


def _arguments(told: Any, deep: int = 0) -> list[Any]:
    return [_argument(each, deep) for each in _listed(told)]


def _argument(told: Any, deep: int) -> Any:
    if told is None or isinstance(told, bool):
        return told
    if isinstance(told, str):
        return _one_of(told, WORDS)
    if isinstance(told, int | float) and abs(told) <= LARGEST:  # which NaN is not
        return told
    if isinstance(told, list | tuple) and deep < 2:
        return _arguments(told, deep + 1)
    raise Strange(f"{str(told)[:40]!r} is nothing that a layer takes")


def _listed(told: Any) -> list[Any]:
    if not isinstance(told, list | tuple) or len(told) > MOST_LAYERS:
        raise Strange(f"it has no list of at most {MOST_LAYERS} layers")
    return list(told)


def _scale(told: Any) -> list[float]:
    depth, width, most = _listed(told)
    return [_factor(depth), _factor(width), _count(most)]


def _letter(told: Any) -> str:
    if not isinstance(told, str) or len(told) > 1:
        raise Strange(f"{str(told)[:40]!r} is no scale")
    return told


def _one_of(told: Any, known: Any) -> Any:
    if isinstance(told, list | dict) or told not in known:
        raise Strange(f"{str(told)[:40]!r} is nothing that a YOLO is made of")
    return told


def _factor(told: Any) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float) or not 0 < told <= 8:
        raise Strange(f"{str(told)[:40]!r} is no factor")
    return float(told) if isinstance(told, float) else int(told)


def _count(told: Any, most: int = 100_000) -> int:
    if not 1 <= _whole(told) <= most:
        raise Strange(f"{str(told)[:40]!r} is no number from 1 to {most}")
    return int(told)


def _whole(told: Any) -> int:
    if isinstance(told, bool) or not isinstance(told, int):
        raise Strange(f"{str(told)[:40]!r} is no whole number")
    return int(told)
