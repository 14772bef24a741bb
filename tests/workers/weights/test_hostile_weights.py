"""Weights made to harm: whatever family reads them, they end in a sentence."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save

from backend import families
from backend.errors import LoupeError
from tests import peak
from workers.families import base, golden
from workers.families.golden import golden_file as golden_weights
from workers.families.yolo import safe_graph
from workers.weights import weight_files

EVERY = list(families.FAMILIES)
START = Path("assets/start_yolo11n.safetensors").resolve()
TOLD: dict[str, Any] = {"variant": "n", "classes": ["dent"], "image_size": 96, "extra": {}}
VARIANTS = {
    "yolo": "n",
    "classifier": "resnet18",
    "faster_rcnn": "mobilenet",
    "golden": "",
    "second_stage": "",
}
Make = Callable[[str], bytes]


class _Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("sprung", "w")


def _told(family: str, **other: Any) -> dict[str, str]:
    told = TOLD | {"family": family, "variant": VARIANTS[family]} | other
    return {
        name: value if isinstance(value, str) and name == "raw" else json.dumps(value)
        for name, value in told.items()
    }


def _saying(**other: Any) -> Make:
    return lambda family: save({"a": torch.zeros(3)}, _told(family, **other))


def _nan(family: str) -> bytes:
    return save({"a": torch.tensor([1.0, float("nan")])}, _told(family))


def _deep(family: str) -> bytes:
    told = _told(family) | {"extra": "[" * 100_000}
    return save({"a": torch.zeros(3)}, told)


def _silent(_: str) -> bytes:
    return save({"a": torch.zeros(3)}, {})


def _header(length: int, text: bytes) -> bytes:
    return length.to_bytes(8, "little") + text


def _overlong(family: str) -> bytes:
    where = {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}
    text = json.dumps({"__metadata__": _told(family), "a": where}).encode()
    return _header(len(text), text) + bytes(64)


def _torch(content: Any) -> bytes:
    out = io.BytesIO()
    torch.save(content, out)
    return out.getvalue()


HOSTILE: dict[str, Make] = {
    "nothing": lambda _: b"",
    "noise": lambda _: bytes(range(256)) * 40,
    "a header without end": lambda _: _header(1 << 62, b"{"),
    "a header of 99 MB": lambda _: _header(99_000_000, b"{" + b" " * 99_000_000),
    "a header that says nothing": _silent,
    "numbers that are not there": _overlong,
    "a million classes": _saying(classes=[str(n) for n in range(200_000)]),
    "classes that are no names": _saying(classes=[["dent"]]),
    "classes that are no list": _saying(classes=7),
    "pictures of no size": _saying(image_size="x"),
    "pictures of any size": _saying(image_size=10**9),
    "a variant that there is not": _saying(variant="../x"),
    "another family": lambda _: save({"a": torch.zeros(3)}, _told("yolo") | {"family": '"os"'}),
    "extra that is no object": _saying(extra=[]),
    "a description without end": _deep,
    "NaN": _nan,
    "other tensors": _saying(),
    "a pickle": lambda _: pickle.dumps(_Trap()),
    "a torch file with code": lambda _: _torch({"model": _Trap()}),
    "a torch file with numbers": lambda _: _torch({"model": 3}),
}


@pytest.mark.parametrize("family", EVERY)
@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_ends_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, make: Make
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"m{'.npz' if families.find(family).needs_golden else '.safetensors'}"
    path.write_bytes(make(family))
    with pytest.raises(LoupeError, match=r"\.$"):
        base.implementation(family).load(path, "cpu")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def _graph(**other: Any) -> dict[str, Any]:
    told = dict(weight_files.peek(START).extra["architecture"])
    return {**told, **other}


EVIL = "__import__('pathlib').Path('sprung').touch()"
GRAPHS = {
    "an activation that is code": {"activation": EVIL},
    "an activation with code inside": {"activation": f"nn.ReLU({EVIL})"},
    "a layer that is a function": {"head": [[-1, 1, "torch_safe_load", ["x.pt"]]]},
    "a layer of another library": {"head": [[-1, 1, "torchvision.ops.nms", []]]},
    "a layer that loads a network": {"head": [[-1, 1, "TorchVision", [9, "resnet18"]]]},
    "an argument that is code": {"backbone": [[-1, 1, "Conv", [EVIL, 3, 2]]]},
    "a local of the parser": {"backbone": [[-1, 1, "Conv", ["d", 3, 2]]]},
    "endless layers": {"backbone": [[-1, 1, "Conv", [64, 3, 2]]] * 1000},
    "endless repeats": {"backbone": [[-1, 10**9, "C2f", [64]]]},
    "an endless layer": {"backbone": [[-1, 1, "Conv", [10**9, 3, 2]]]},
    "a width that is no number": {"width_multiple": float("nan")},
    "a scale that is not there": {"scale": "q"},
    "no head": {"head": []},
    "no layers": {"backbone": "Conv"},
    "a layer of nothing": {"backbone": [[]]},
}


@pytest.mark.parametrize("other", GRAPHS.values(), ids=GRAPHS)
def test_a_hostile_graph_is_never_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    told = _told("yolo", extra={"architecture": _graph(**other)})
    (tmp_path / "m.safetensors").write_bytes(save({"a": torch.zeros(3)}, told))
    with pytest.raises(LoupeError, match=r"do not fit: .*\.$"):
        base.implementation("yolo").load(tmp_path / "m.safetensors", "cpu")
    assert not (tmp_path / "sprung").exists()


def test_the_graph_of_the_start_model_is_let_through_as_it_is() -> None:
    assert safe_graph.checked(_graph()) == _graph()


def _npz(**other: Any) -> Make:
    """A golden model of which some arrays are others."""

    def make(folder: str) -> bytes:
        path = Path(folder) / "good.npz"
        golden_weights.write(golden.untrained(("dent",)), path)
        with np.load(path) as arrays:
            found = dict(arrays)
        out = io.BytesIO()
        np.savez_compressed(out, **(found | {k: np.asarray(v) for k, v in other.items()}))
        return out.getvalue()

    return make


def _about(**other: Any) -> Make:
    def make(folder: str) -> bytes:
        path = Path(folder) / "good.npz"
        golden_weights.write(golden.untrained(("dent",)), path)
        with np.load(path) as arrays:
            told = json.loads(str(arrays["about"]))
        return _npz(about=json.dumps(told | other))(folder)

    return make


def _members(*members: tuple[str, bytes]) -> Make:
    def make(_: str) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            for name, content in members:
                packed.writestr(name, content)
        return out.getvalue()

    return make


def _array(shape: str, size: int = 64) -> bytes:
    told = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    told += b" " * (-(len(told) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(told).to_bytes(2, "little") + told + bytes(size)


FOREST = {
    "forest_roots": np.zeros(1, np.int32), "forest_feature": np.zeros(1, np.int32),
    "forest_threshold": np.zeros(1), "forest_left": np.zeros(1, np.int32),
    "forest_right": np.zeros(1, np.int32), "forest_value": np.zeros((1, 2), np.float32),
    "forest_depth": np.array(3),
}  # fmt: skip
GOLDENS: dict[str, Make] = {
    "a bomb": _members(*((f"{n}.npy", bytes(90_000_000)) for n in range(7))),
    "an array that is not there": _members(("about.npy", _array("(1099511627776,)"))),
    "pickled objects": _npz(kinds=np.array([_Trap()], object)),
    "another format": _about(format=99),
    "a million classes": _about(classes=["a"] * 200_000),
    "other classes": _about(classes=["a", "b", "c"]),
    "settings that are no numbers": _about(settings={"most": "x"}),
    "a list": _npz(about=json.dumps([])),
    "NaN": _npz(kinds=np.full((6, 1), np.nan)),
    "a forest that leads nowhere": _npz(**(FOREST | {"forest_left": np.array([9], np.int32)})),
    "a forest without end": _npz(**(FOREST | {"forest_depth": np.array(10**9)})),
    "a forest of nothing": _npz(**(FOREST | {"forest_value": np.zeros((0, 2))})),
    "a detector of no family": _about(partner={"name": "v1", "family": "os"}),
}


@pytest.mark.parametrize("family", ["golden", "second_stage"])
@pytest.mark.parametrize("make", GOLDENS.values(), ids=GOLDENS)
def test_a_hostile_golden_model_ends_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Make, family: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.npz").write_bytes(make(str(tmp_path)))
    with pytest.raises(LoupeError, match=r"\.$"):
        base.implementation(family).load(tmp_path / "m.npz", "cpu")
    assert not (tmp_path / "sprung").exists()


def test_a_golden_bomb_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    (tmp_path / "m.npz").write_bytes(GOLDENS["a bomb"](str(tmp_path)))
    said, peaked = peak.megabytes(
        "from workers.families.golden import golden_file; from pathlib import Path; "
        "golden_file.read(Path(sys.argv[1]))",
        tmp_path / "m.npz",
    )
    assert said == "m.npz is not a golden model that this version can read."
    assert peaked < 600  # torch and cv2 are imported within
