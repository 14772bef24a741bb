"""Tries in an account whether its registry takes a model, once."""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from backend.errors import Refused
from backend.warehouse.address import Address
from backend.warehouse.inside import versions

ORIGIN, JOB = "trial.json", 1


def log_model(address: Address) -> str:
    """Put the smallest model there; its version is refused the second time."""
    from snowflake.ml.model import custom_model

    from backend.warehouse.inside.echo import Echo

    # The library shows how far it is on both; what we print is ours.
    aside = io.StringIO()
    with (
        redirect_stdout(aside),
        redirect_stderr(aside),
        tempfile.TemporaryDirectory() as folder,
        versions.opened(address) as there,
    ):
        file = Path(folder) / ORIGIN
        file.write_text("{}", "utf-8")
        model = Echo(custom_model.ModelContext(artifacts={"origin": str(file)}))
        figures = {"tried": 1.0, "provenance": {"job": JOB}}
        (Path(folder) / "code").mkdir()
        version = versions.Version(
            "loupe_trial", "v1", model, ORIGIN, Path(folder) / "code", ["pandas"], figures, "tried"
        )
        full = there.log(version, JOB)
        there.refuse_known("loupe_trial", "v1", ORIGIN, JOB)
        try:
            there.refuse_known("loupe_trial", "v1", ORIGIN, JOB + 1)
        except Refused:
            return f"{full} has V1 with its figures; it is refused the second time"
    raise Refused("the version is not there, or without its figures")
