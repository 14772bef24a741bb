"""How busy this machine is: its cores, and its graphics cards where there are any."""

from __future__ import annotations

import shutil
import statistics
import subprocess

import psutil

ASKED = "utilization.gpu,memory.used,memory.total"


def now() -> dict[str, float]:
    """In percent: the cores since the last call, the graphics cards at this moment."""
    return {"cpu_percent": psutil.cpu_percent(), **_cards()}


def _cards() -> dict[str, float]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return {}
    command = [tool, f"--query-gpu={ASKED}", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout
        rows = [[float(value) for value in line.split(",")] for line in told.splitlines()]
        busy = statistics.fmean(row[0] for row in rows)
        used = sum(row[1] for row in rows) / sum(row[2] for row in rows)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError, ZeroDivisionError):
        return {}
    return {"gpu_percent": round(busy, 1), "gpu_memory_percent": round(100 * used, 1)}
