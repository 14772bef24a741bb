"""Modules of assets/ that need no page, read by Node as the browser reads them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ASSETS = Path(__file__).parents[2] / "assets"


def value(module: str, expression: str) -> Any:
    """What an expression over a module, named `it`, gives."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed.")
    script = f"import * as it from {json.dumps((ASSETS / module).as_uri())};"
    script += f"console.log(JSON.stringify({expression}));"
    command = [node, "--input-type=module", "-e", script]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
