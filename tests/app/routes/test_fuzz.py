"""Whatever is sent to whatever route: an answer, and where it is a refusal, a sentence.

`tests/benchmarks/site/fuzz_routes.py` does the same for as long as one likes.
"""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.premises import Premises
from tests.app.routes import fuzzing

TIMES = 1000
QUICK = settings(
    max_examples=TIMES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def fuzz(guarded: Premises, asking_guarded: TestClient) -> fuzzing.Fuzz:
    return fuzzing.prepare(guarded, asking_guarded)


@QUICK
@given(data=st.data())
def test_every_request_gets_an_answer_and_every_refusal_a_sentence(
    fuzz: fuzzing.Fuzz, data: st.DataObject
) -> None:
    request = data.draw(fuzz.requests)
    status, wrong = fuzz.send(request)
    assert not wrong, (request, status, wrong)
