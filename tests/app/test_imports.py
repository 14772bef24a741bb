"""The web process stays small: it never imports what only the worker needs."""

from __future__ import annotations

import subprocess
import sys

LATER = ("gradio", "alembic")
HEAVY = ("torch", "ray", "ultralytics", "openvino", "torchvision", "sklearn", "scipy.stats")
ROUTES = """
import importlib, sys, app.server
for room in app.server.ROOMS:
    importlib.import_module(f"app.routes.{room}")
"""


def found_after(code: str, names: tuple[str, ...]) -> str:
    """Which of these modules are there after that code."""
    asked = f"{code}\nimport sys; print([m for m in {names!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_web_process_never_imports_ray_or_torch() -> None:
    assert found_after(ROUTES, HEAVY) == "[]"


def test_a_command_does_not_wait_for_gradio() -> None:
    assert found_after("import app.cli", LATER + HEAVY) == "[]"
