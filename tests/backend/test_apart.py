"""How processes of ours are started."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from backend import apart


def test_a_process_does_not_import_the_program_that_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = ModuleType("__main__")
    program.__file__ = str(tmp_path / "program.py")
    Path(program.__file__).write_text("raise SystemExit('imported')\n")
    monkeypatch.setitem(sys.modules, "__main__", program)
    with ProcessPoolExecutor(1, apart.context("spawn")) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
    assert sys.modules["__main__"] is program
