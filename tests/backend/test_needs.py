"""What a job may ask of a cluster, and how that is said."""

from __future__ import annotations

from typing import Any

import pytest

from backend.errors import Invalid
from backend.jobs import needs
from backend.jobs.needs import Need


@pytest.mark.parametrize(
    ("need", "said", "bundle"),
    [
        (Need("gpu", 2), "2 GPUs", {"CPU": 1.0, "GPU": 1.0}),
        (Need("cpu", 1), "1 core", {"CPU": 1.0}),
        (Need("cpu", 2, 1.5), "2 cores with 1.5 GB each", {"CPU": 1.0, "memory": 1.5e9}),
    ],
)
def test_a_need_is_said_and_counted(need: Need, said: str, bundle: dict[str, float]) -> None:
    assert (str(need), need.bundle) == (said, bundle)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"device": "tpu"}, "There is no device 'tpu'; there are auto, cpu, gpu."),
        ({"workers": 0}, "a whole number from 1 to 1024"),
        ({"workers": 1.5}, "a whole number from 1 to 1024"),
        ({"memory_gb": -1}, "from 0 to 4096 GB"),
        ({"memory_gb": "much"}, "from 0 to 4096 GB"),
    ],
)
def test_what_no_machine_could_be_asked_for_is_refused(
    asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Invalid, match=sentence):
        needs.check(asked)
