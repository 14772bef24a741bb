"""Puts the smallest model into the registry several times; prints what came of each.

`python -m tests.workers.packages.sending NAME JOB REQUIREMENT …`, in a process of its own, as
Snowflake's connector reads its connections when it is imported.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from snowflake.ml.model import custom_model

from backend import settings
from backend.errors import LoupeError
from backend.warehouse import address as addresses
from backend.warehouse.inside import trial, versions
from backend.warehouse.inside.echo import Echo

ORIGIN = "weights-a.json"


def sent(folder: Path, name: str, job: int, requirement: str) -> str:
    """Its full name, or why it was refused."""
    address = addresses.needed(settings.current())
    model = Echo(custom_model.ModelContext(artifacts={"origin": str(folder / ORIGIN)}))
    figures = {"tried": 1.0, "provenance": {"job": job}}
    version = versions.Version(
        name, trial.VERSION, model, ORIGIN, folder / "code", [requirement], figures, "a comment"
    )
    try:
        with versions.opened(address) as there:
            return there.log(version, job)
    except LoupeError as error:
        return str(error)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / ORIGIN).write_text("{}", "utf-8")
        (folder / "code").mkdir()
        said = iter(sys.argv[1:])
        found = [
            sent(folder, name, int(job), requirement)
            for name, job, requirement in zip(said, said, said, strict=True)
        ]
    sys.stdout.write("\n" + json.dumps(found))
