"""Loupe started in a folder of somebody's: nothing that lies there is taken for a part of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.commands import finding

SPRUNG = "import pathlib\nwith pathlib.Path({where!r}).open('a') as out:\n    out.write({name!r})\n"
PACKAGES = ("app", "backend", "workers", "assets")
MODULES = (
    "cv2", "torch", "torchvision", "numpy", "PIL", "ray", "sqlalchemy", "alembic", "pydantic",
    "gradio", "ultralytics", "openvino", "sklearn", "yaml", "fsspec", "psutil", "rich", "colorsys",
    "sitecustomize", "usercustomize", "argparse", "multiprocessing", "json", "logging", "tempfile",
)  # fmt: skip
ON_RAY = """
import sys
from workers import cluster
ray = cluster.connect("local")
print(ray.get(ray.remote(lambda: [*__import__("sys").path, __import__("os").getcwd()]).remote()))
ray.shutdown()
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder of modules by the names of ours and of libraries, each of which tells if it ran."""
    folder = tmp_path / "hostile"
    for name in PACKAGES:
        (folder / name).mkdir(parents=True)
        for file in ("__init__", "__main__", "cli", "errors"):
            _lay(folder / name / f"{file}.py", tmp_path, f"{name}.{file}")
    for name in MODULES:
        _lay(folder / f"{name}.py", tmp_path, name)
    return folder


def _lay(path: Path, home: Path, name: str) -> None:
    path.write_text(SPRUNG.format(where=str(home / "sprung"), name=name))


def _environment(hostile: Path) -> dict[str, str]:
    leave = ("PYTHONPATH", "PYTHONSAFEPATH")
    kept = {name: value for name, value in os.environ.items() if name not in leave}
    return kept | {"LOUPE_HOME": str(hostile.parent / "home")}


def _told(hostile: Path, *command: str) -> str:
    """What a command says that is started there, as from a shell of a person."""
    done = subprocess.run(
        command, cwd=hostile, env=_environment(hostile), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_command_and_its_worker_run_nothing_of_the_folder(hostile: Path) -> None:
    loupe = str(Path(sys.executable).with_name("loupe"))
    _told(hostile, loupe, "sample", "boards", "--images", "3")
    told = _told(hostile, loupe, "detect", "boards", "--model", "golden", "--wait", "--json")
    assert json.loads(told)["images"] == 3
    assert not (hostile.parent / "sprung").exists()


def test_the_site_its_worker_and_its_sample_run_nothing_of_the_folder(hostile: Path) -> None:
    loupe = str(Path(sys.executable).with_name("loupe"))
    site = subprocess.Popen(
        [loupe, "serve", "--port", "0", "--no-browser"],
        cwd=hostile, env=_environment(hostile), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert site.stdout is not None
    with site:
        try:
            found = re.search(r"http://[\d.:]+", site.stdout.readline())
            assert found
            finding.until(lambda: _asked(found[0], "health").get("worker") == "ok", 300)
            finding.until(lambda: bool(_asked(found[0], "api/projects")), 300)
        finally:
            site.terminate()
    assert site.returncode == 0
    assert not (hostile.parent / "sprung").exists()


def _asked(address: str, what: str) -> Any:
    """What the site says; nothing while it does not answer yet."""
    try:
        return httpx.get(f"{address}/{what}", timeout=60).json()
    except httpx.TransportError:
        return {}


def test_processes_on_ray_look_for_no_module_in_the_folder(hostile: Path) -> None:
    told = _told(hostile, sys.executable, "-P", "-c", ON_RAY)
    assert "site-packages" in told
    assert str(hostile) not in told
    assert not (hostile.parent / "sprung").exists()


def test_processes_are_started_in_one_place_alone() -> None:
    root = Path(__file__).parents[3]
    starts = re.compile(r"get_context\(\"|sys\.executable|\"-m\"|ProcessPoolExecutor\([^)]*\)$")
    found = {
        str(path.relative_to(root))
        for room in ("app", "backend", "workers")
        for path in (root / room).rglob("*.py")
        if starts.search(path.read_text())
    }
    assert found == {"backend/apart.py"}
