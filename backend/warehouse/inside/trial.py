"""Tries in an account whether its registry takes a model, once."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from backend.errors import Refused
from backend.warehouse.address import Address
from backend.warehouse.inside import versions

ORIGIN, JOB = "trial.json", 1
NAME, VERSION = "loupe_trial", "v1"
PICTURE = b"picture"


def log_model(address: Address) -> str:
    """Put the smallest model there; its version is refused the second time."""
    from snowflake.ml.model import custom_model

    from backend.warehouse.inside.echo import Echo

    with tempfile.TemporaryDirectory() as folder, _quietly(address) as there:
        file = Path(folder) / ORIGIN
        file.write_text("{}", "utf-8")
        model = Echo(custom_model.ModelContext(artifacts={"origin": str(file)}))
        figures = {"tried": 1.0, "provenance": {"job": JOB}}
        (Path(folder) / "code").mkdir()
        version = versions.Version(
            NAME, VERSION, model, ORIGIN, Path(folder) / "code", ["pandas"], figures, "tried"
        )
        full = there.log(version, JOB)
        there.refuse_known(NAME, VERSION, ORIGIN, JOB)
        try:
            there.refuse_known(NAME, VERSION, ORIGIN, JOB + 1)
        except Refused:
            return f"{full} has V1 with its figures; it is refused the second time"
    raise Refused("the version is not there, or without its figures")


def service(address: Address, pool: str) -> str:
    """Start a service of that model on a compute pool, and ask it once; it goes again."""
    import pandas as pd

    with _quietly(address) as there:
        found = there.serve(NAME, VERSION, pool, pd.DataFrame({"IMAGE": [PICTURE]}))
    told = [str(one) for one in found["RESULT"]]
    if told != [str(len(PICTURE))]:
        raise Refused(f"the service said {', '.join(told)[:80]} of {len(PICTURE)} bytes")
    return f"{pool} ran it, and it has answered"


@contextmanager
def _quietly(address: Address) -> Iterator[versions.Registry]:
    """The registry; its library shows how far it is on both, and what we print is ours."""
    aside = io.StringIO()
    with redirect_stdout(aside), redirect_stderr(aside), versions.opened(address) as there:
        yield there
