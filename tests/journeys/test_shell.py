"""The whole loop at the command line, from an empty home, as a stranger would type it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


class Shell:
    """A terminal with a home folder of its own."""

    def __init__(self, home: Path) -> None:
        self._environment = {**os.environ, "LOUPE_HOME": str(home)}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of ours to its end."""
        command = [sys.executable, "-m", "app.cli", *words]
        return subprocess.run(
            command, env=self._environment, capture_output=True, text=True, timeout=400, check=False
        )

    def json(self, *words: str) -> Any:
        """The document that a command prints; nothing else may stand on stdout."""
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "home")


def test_the_whole_loop_from_a_sample_to_a_measured_champion(shell: Shell, tmp_path: Path) -> None:
    shell.json("sample", "demo", "--images", "30")
    proposed = shell.json("detect", "demo", "--model", "golden", "--wait")
    assert (proposed["images"], proposed["failed"]) == (30, 0)
    trained = shell.json("train", "demo", "--family", "golden", "--seed", "1", "--wait")
    assert (trained["model"], trained["family"]) == ("v1", "golden")
    measured = shell.json("evaluate", "demo", "--model", "v1", "--iou", "0.33")
    assert measured["map50"] == pytest.approx(trained["metrics"]["map50"])
    assert measured["map"] > 0.5
    found = shell.json("detect", "demo", "--model", "champion", "--wait")
    again = shell.json("detect", "demo", "--model", "champion", "--wait")
    assert (found["known"], again["known"]) == (0, 30)
    assert found["detections"] == again["detections"] > 30
    assert [row["name"] for row in shell.json("models", "demo")] == ["v1"]
    assert {job["state"] for job in shell.json("jobs")} == {"done"}
    shell.run("export", "demo", str(tmp_path / "out"), "--format", "coco")
    back = shell.json("import", "copy", str(tmp_path / "out"))
    assert back["boxes"] == shell.json("projects")[1]["boxes"]


def test_what_makes_no_sense_is_refused_in_a_sentence(shell: Shell, tmp_path: Path) -> None:
    shell.json("sample", "demo", "--images", "6")
    done = shell.run("detect", "demo", "--model", "golden", "--source", str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert done.stderr == "The golden board compares images of a project with their golden.\n"
