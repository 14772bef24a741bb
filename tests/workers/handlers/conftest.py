"""What the tests of handlers share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all houses, so that a model is prepared once."""
    return tmp_path_factory.mktemp("cache")
