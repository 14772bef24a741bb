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
    ("need", "there", "times"),
    [
        (Need("cpu"), {"CPU": 3.0}, 3),
        (Need("cpu", cores=2), {"CPU": 3.0}, 1),
        (Need("cpu", memory_gb=1.5), {"CPU": 8.0, "memory": 4.4e9}, 2),
        (Need("gpu"), {"CPU": 8.0}, 0),
        (Need("gpu", share=0.2), {"CPU": 8.0, "GPU": 1.0}, 5),
        (Need("gpu", share=0.2), {"CPU": 8.0, "GPU": 1 - 0.2 - 0.2}, 3),
        (Need("gpu", share=0.1), {"CPU": 64.0, "GPU": 2.0}, 20),
        (Need("gpu", share=0.4), {"CPU": 8.0, "GPU": 1.0}, 2),
    ],
)
def test_as_many_fit_as_there_are_parts(need: Need, there: dict[str, float], times: int) -> None:
    assert need.times(there) == times


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
