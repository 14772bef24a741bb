"""What the JavaScript does that needs no page, tried by Node's own test runner."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parent.glob("*.test.mjs"))


@pytest.mark.parametrize("file", FILES, ids=[file.name.removesuffix(".test.mjs") for file in FILES])
def test_the_module_passes_its_own_tests(file: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed.")
    ran = subprocess.run([node, "--test", str(file)], capture_output=True, check=False, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
