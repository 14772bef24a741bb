"""The whole loop at the command line, from a clean clone and off the network: is it 15 minutes?

`python -m tests.benchmarks.site.whole_loop`: clones this repository, installs it from uv's cache,
and runs in it, in a network namespace without any way out where that may be made, what
`tests/journeys/site/test_shell.py` types: sample, detect, report, decide, train, evaluate, detect,
report, decide, train, export, import. Prints how long each part took.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
LOOP = ["tests/journeys/site/test_shell.py", "-q", "-k", "whole_loop"]
NOBODY = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
NOT_OURS = ("VIRTUAL_ENV", "PYTHONPATH", "LOUPE_HOME")


def main() -> None:
    """Clone, install, run."""
    with tempfile.TemporaryDirectory(prefix="loupe-loop-") as folder:
        clone = Path(folder) / "loupe"
        _timed("clone", ["git", "clone", "-q", f"file://{ROOT}", str(clone)], Path(folder))
        _timed("install from the cache", ["uv", "sync", "-q", "--offline"], clone)
        words = [str(clone / ".venv/bin/python"), "-m", "pytest", *LOOP]
        _timed("the whole loop", _without_network(words), clone, NOBODY)


def _without_network(words: list[str]) -> list[str]:
    """The command with nothing but the loopback, where this user may cut itself off."""
    cut = ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"]
    if not shutil.which("unshare") or not shutil.which("ip"):
        return words
    tried = subprocess.run([*cut, "true"], capture_output=True, check=False)
    print("off the network:", "yes" if tried.returncode == 0 else "only by dead proxies")
    return [*cut, *words] if tried.returncode == 0 else words


def _timed(what: str, words: list[str], folder: Path, more: dict[str, str] | None = None) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    start = time.monotonic()
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment | (more or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"{what}: {time.monotonic() - start:.0f} s", flush=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    main()
