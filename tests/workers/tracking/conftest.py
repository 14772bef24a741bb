"""What the tests of the tracking store share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient

from backend import settings
from backend.storage.engine import Database
from backend.storage.files import Files
from tests.workers.tracking import stores
from tests.workers.tracking.stores import Tracking


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store's file with all of mlflow's tables, to be copied: that is quicker than making it."""
    made = tmp_path_factory.mktemp("mlflow") / "empty.db"
    MlflowClient(tracking_uri=f"sqlite:///{made}").search_experiments()
    return made


@pytest.fixture
def tracking(database: Database, files: Files, tmp_path: Path, empty_store: Path) -> Tracking:
    """A home on each kind of database, with a store in a file."""
    return stores.beside(database, files, tmp_path, empty_store)


@pytest.fixture
def tracked(sqlite: Database, files: Files, tmp_path: Path, empty_store: Path) -> Tracking:
    """The same, where the kind of database does not matter."""
    return stores.beside(sqlite, files, tmp_path, empty_store)


@pytest.fixture(autouse=True)
def _told(mlflow_is_told: None) -> None:
    """Here mlflow is told."""


@pytest.fixture
def off(_told: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody is told of anything."""
    monkeypatch.setenv("LOUPE_MLFLOW_URI", "off")
    settings.current.cache_clear()
    yield
    settings.current.cache_clear()
