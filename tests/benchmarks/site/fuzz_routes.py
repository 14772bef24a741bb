"""Ask every route senseless things for a while: `python -m tests.benchmarks.site.fuzz_routes 3600`.

Says how many were sent and how they were answered, and each kind of wrong answer once.
"""

from __future__ import annotations

import logging
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from app import server
from backend.domain import Role
from backend.projects import people
from backend.settings import Settings
from tests.app.conftest import HERE, PASSWORD
from tests.app.routes import fuzzing

ROLES = {"ada": Role.ADMIN, "lars": Role.LABELER, "vera": Role.VIEWER}
ROUND = 2000


def main(seconds: float) -> None:
    """Rounds with premises of their own, until the time is over."""
    answers: Counter[int] = Counter()
    wrong: dict[str, str] = {}
    ends = time.monotonic() + seconds
    number = int(time.time())
    while time.monotonic() < ends:
        number += 1
        with tempfile.TemporaryDirectory() as home:
            _round(Path(home), number, ends, answers, wrong)
        print(
            f"{sum(answers.values()):,} requests, {dict(answers)}, {len(wrong)} wrong", flush=True
        )
    print("\n".join(wrong.values()))


def _round(
    home: Path, number: int, ends: float, answers: Counter[int], wrong: dict[str, str]
) -> None:
    premises = server.open_premises(Settings(home=home), with_accounts=True)
    with premises.write() as session:
        for name, role in ROLES.items():
            people.add(session, name, role, PASSWORD)
    with TestClient(server.create(premises), base_url=HERE, follow_redirects=False) as client:
        fuzz = fuzzing.prepare(premises, client)
        quick = settings(
            max_examples=ROUND,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )

        @quick
        @seed(number)
        @given(data=st.data())
        def ask(data: st.DataObject) -> None:
            request = data.draw(fuzz.requests)
            if time.monotonic() > ends:
                return
            status, said = fuzz.send(request)
            answers[status] += 1
            kind = f"{request.route} {re.sub('[0-9a-f]{6}', '#', said)[:80]}"
            if said and kind not in wrong:
                wrong[kind] = f"{said}\n    {request}"[:1500]
                print(wrong[kind], flush=True)

        ask()


if __name__ == "__main__":
    logging.getLogger().setLevel(logging.ERROR)
    logging.basicConfig()
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
