"""A package finds what a run of Loupe finds, with nothing of Loupe but what it carries."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import cv2
import numpy as np
import pytest

from backend.errors import Refused
from tests import warehouses
from tests.warehouses import Place
from tests.workers.families import drawn
from tests.workers.packages import subjects
from workers.packages import packing

FAMILIES = ("yolo", "faster_rcnn", "classifier")


def test_a_package_finds_our_boxes_with_what_it_carries_and_no_more(
    cocoval: Path, weights: Path, tmp_path: Path
) -> None:
    subject = subjects.make("yolo", tmp_path, weights)
    subject.lay(tmp_path / "package", tmp_path / "cache")
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff no picture")
    shown = sorted(cocoval.glob("*.jpg"))[:4]
    code, model = tmp_path / "package" / packing.CODE, tmp_path / "package" / packing.MODEL
    answer = subjects.look("laid", [code, model], [*shown, broken])
    *found, told = answer["found"]
    assert subjects.hold(found, subject.seen(shown, tmp_path / "cache"), subject) > 10
    assert "Picture 5" in told["error"]
    assert answer["heavy"] == []
    carried = {Path(one).relative_to(code).as_posix() for one in answer["files"]}
    assert carried == set(packing.MODULES)


def test_the_golden_board_is_refused_as_it_has_no_graph() -> None:
    with pytest.raises(Refused, match="compares each picture with its golden"):
        packing.check("golden")


@pytest.mark.siege
# Snowflake's library leaves its temporary folder to whoever collects it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_registered_version_finds_our_boxes_in_a_fresh_environment(
    family: str, cocoval: Path, weights: Path, tmp_path: Path
) -> None:
    subject = subjects.make(family, tmp_path, weights)
    subject.lay(tmp_path / "package", tmp_path / "cache")
    with warehouses.emulator(tmp_path / "emulator") as port:
        place = warehouses.place("snowflake", tmp_path, port=port)
        folder = registered(place, tmp_path / "package", tmp_path / "registered")
    python = fresh(folder, tmp_path)
    shown = sorted(cocoval.glob("*.jpg"))[:20] if family == "yolo" else shapes(tmp_path)
    answer = subjects.look("registered", [folder], shown, str(python))
    seen = subject.seen(shown, tmp_path / "cache")
    assert subjects.hold(answer["found"], seen, subject) >= len(shown)


def registered(place: Place, package: Path, kept: Path) -> Path:
    """The files of a version that Snowflake's own library has put into the registry."""
    from backend.warehouse.inside import versions

    (origin,) = package.glob("weights-*.json")
    version = versions.Version(
        "boards", "v3", versions.packaged(package / packing.MODEL, origin), origin.name,
        package / packing.CODE, packing.requirements(), {"map50": 0.5}, "of a test",
    )  # fmt: skip
    with closing(warehouses.connector(place.port, place.database)):
        pass  # which makes the database
    with versions.opened(place.address) as there:
        there.log(version, 1)
    buckets = Path(tempfile.gettempdir())
    found = f"fakesnow_bucket_*/{place.database.upper()}/**/model.yaml"
    (spec,) = buckets.glob(found)
    shutil.copytree(spec.parent, kept)
    return kept


def fresh(folder: Path, home: Path) -> Path:
    """An environment with what the version itself names, and nothing else."""
    uv, venv = shutil.which("uv") or "uv", home / "fresh"
    needs = folder / "env" / "requirements.txt"
    subprocess.run([uv, "venv", "-q", str(venv)], check=True)
    python = venv / "bin" / "python"
    install = [uv, "pip", "install", "-q", "--python", str(python), "-r", str(needs)]
    subprocess.run(install, check=True)
    return python


def shapes(folder: Path) -> list[Path]:
    """Twenty drawn pictures, some larger than the model looks at."""
    paths = [one.path for one in drawn.shapes(folder, 20).examples]
    for path in paths[::4]:
        pixels = cv2.imread(str(path))
        assert pixels is not None
        cv2.imwrite(str(path), np.repeat(np.repeat(pixels, 3, 0), 2, 1))
    return paths
