"""A house whose warehouse is Snowflake, and the pictures that lie there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tests import warehouses
from tests.warehouses import Place


@dataclass(frozen=True)
class House:
    """A home folder beside Snowflake's emulator."""

    home: Path
    place: Place
    log: Path

    def import_(self, *arguments: str) -> dict[str, Any]:
        """Import in a process of its own; what it says of it."""
        child = self.start(*arguments)
        said, _ = child.communicate()
        assert child.returncode == 0
        found: dict[str, Any] = json.loads(said)
        return found

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Begin an import in a process of its own."""
        command = [sys.executable, "-m", "tests.snowflake.fetcher", *arguments]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE)

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this house is started with."""
        ours = {"LOUPE_HOME": str(self.home), "LOUPE_WAREHOUSE_URL": self.place.url}
        return {**os.environ, **self.place.environment, **ours}

    def handed_out(self) -> list[str]:
        """The files that Snowflake has handed out, in order."""
        return self.log.read_text().splitlines() if self.log.exists() else []


def house(folder: Path, emulator: int, log: Path) -> House:
    """A new one."""
    return House(folder / "home", warehouses.place("snowflake", folder, port=emulator), log)


def draw(folder: Path, folders: int, each: int) -> dict[str, bytes]:
    """Pictures of equal names in several folders, no two alike; their bytes by their names."""
    dice = np.random.default_rng(5)
    drawn = {}
    for number in range(folders):
        for one in range(each):
            name = f"line {number}/board'{one}.png"
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(path), dice.integers(0, 255, (16, 16, 3), dtype=np.uint8))
            drawn[name] = path.read_bytes()
    return drawn
