"""Fixtures that every room's tests may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import real_data


def _or_skip(name: str) -> Path:
    try:
        return real_data.weights() if name == "weights" else real_data.unpacked(name)
    except real_data.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def deeppcb() -> Path:
    """DeepPCB: `PCBData/`, with trainval.txt and test.txt."""
    return _or_skip("deeppcb")


@pytest.fixture(scope="session")
def facemask() -> Path:
    """Face masks: `annotations/`, `images_jpg/` and the split lists."""
    return _or_skip("facemask")


@pytest.fixture(scope="session")
def hripcb() -> Path:
    """HRIPCB sample: `images/`, `Annotations/` and `PCB_USED/`."""
    return _or_skip("hripcb")


@pytest.fixture(scope="session")
def photos() -> Path:
    """General photos: `coco/` with YOLO labels and `voc2012/`."""
    return _or_skip("photos")


@pytest.fixture(scope="session")
def cocoval() -> Path:
    """COCO photos; their boxes stand in `cocoval.json` beside this folder."""
    return _or_skip("cocoval")


@pytest.fixture(scope="session")
def weights() -> Path:
    """The folder of start weights."""
    return _or_skip("weights")
