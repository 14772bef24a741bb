"""Threads that compute together sleep while they wait: the others on the machine can work."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("said", "kept"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "active"}, "ACTIVE")]
)
def test_the_threads_of_torch_sleep_while_they_wait_where_nobody_says_otherwise(
    said: dict[str, str], kept: str
) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    told = subprocess.run(
        [sys.executable, "-c", "import workers, torch"],
        env=clean | said | {"OMP_DISPLAY_ENV": "true"},
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert f"OMP_WAIT_POLICY = '{kept}'" in told
