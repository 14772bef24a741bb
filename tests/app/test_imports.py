"""The web process stays small: it never imports what only the worker needs."""

from __future__ import annotations

import subprocess
import sys

LATER = ("gradio", "alembic")
HEAVY = ("torch", "ray", "ultralytics", "openvino", "torchvision", "sklearn")


def test_the_web_process_never_imports_ray_or_torch() -> None:
    code = f"import sys, app.server; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_does_not_wait_for_gradio() -> None:
    code = f"import sys, app.cli; print([m for m in {LATER + HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
