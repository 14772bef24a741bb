"""How busy the machine is, with a graphics card's tool that tells what it is told to tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers import load


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        ("80, 2000, 8000\n40, 2000, 8000", {"gpu_percent": 60.0, "gpu_memory_percent": 25.0}),
        ("[N/A], [N/A], 8000", {}),
        ("", {}),
    ],
)
def test_graphics_cards_are_told_where_they_tell(
    told: str, seen: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nprintf '{told}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = load.now()
    assert 0.0 <= found.pop("cpu_percent") <= 100.0
    assert found == seen
