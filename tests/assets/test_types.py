"""The JavaScript keeps to the types that its comments name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.assets import ASSETS

CONFIG = ASSETS.parent / ".ci" / "deno.json"
FAULT = re.compile(r"^TS\d+ \[ERROR\].*?at file://(\S+?):\d+:\d+$", re.MULTILINE | re.DOTALL)

# Files and folders of assets/ in which every type is known.
CLEAN = (
    "boot.js",
    "canvas",
    "desk",
    "header",
    "outbox",
    "pages",
    "plots",
    "common",
)


@pytest.fixture(scope="module")
def faults() -> list[tuple[Path, str]]:
    """What the checker says, each with the file in which it says it."""
    deno = shutil.which("deno", path=sysconfig.get_path("scripts"))
    assert deno is not None, "Deno is not installed."
    command = [deno, "check", "-q", "--config", str(CONFIG), str(ASSETS)]
    plain = {**os.environ, "NO_COLOR": "1"}
    asked = subprocess.run(command, capture_output=True, check=False, text=True, env=plain)
    found = [(Path(one[1]), one[0]) for one in FAULT.finditer(asked.stderr)]
    assert found or asked.returncode == 0, asked.stderr
    return found


@pytest.mark.parametrize("name", CLEAN)
def test_what_is_typed_stays_typed(faults: list[tuple[Path, str]], name: str) -> None:
    there = ASSETS / name
    assert there.exists()
    told = [said for path, said in faults if path.is_relative_to(there)]
    assert not told, "\n\n".join(told)
