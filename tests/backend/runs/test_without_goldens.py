"""What compares with a golden is refused before it starts where there can be none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy.orm import Session

from backend.errors import Refused
from backend.runs import detection
from backend.storage.engine import Database

ASKED: dict[str, Callable[[Session, str, Path], object]] = {
    "try": lambda session, model, place: detection.try_one(session, None, model, place),
    "watch": lambda session, model, place: detection.watch(session, None, model, place),
}


@pytest.fixture
def stage(tmp_path: Path) -> str:
    """A file that says it is a second stage."""
    np.savez(tmp_path / "stage.npz", about=np.array(json.dumps({"family": "second_stage"})))
    return str(tmp_path / "stage.npz")


@pytest.mark.parametrize("asked", ASKED)
def test_each_is_refused_by_its_own_name(
    sqlite: Database, stage: str, tmp_path: Path, asked: str
) -> None:
    for model, who in (("golden", "The golden board"), (stage, "A second stage")):
        with (
            sqlite.write.begin() as session,
            pytest.raises(Refused, match=f"^{who} needs a project with golden pictures"),
        ):
            ASKED[asked](session, model, tmp_path)
