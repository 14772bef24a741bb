"""A model knows which code has trained it."""

from __future__ import annotations

import shutil
import subprocess
from importlib import metadata

import pytest

from backend import version


def test_the_code_names_its_release_and_commit() -> None:
    told = version.code()
    assert told.startswith(metadata.version("loupe"))
    if not (version.ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("This is no checkout.")
    command = ["git", "-C", str(version.ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert commit.startswith(told.partition("(")[2].rstrip(")").removesuffix("-dirty"))
