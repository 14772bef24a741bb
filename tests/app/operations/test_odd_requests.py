"""Whatever is sent to the public API: an answer of the shape that its description has."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.operations.operation import Operation
from app.operations.table import OPERATIONS
from tests.app.operations import desk as desks
from tests.app.operations.desk import PUBLIC, Desk
from tests.app.routes import asking, fuzzing
from tests.app.routes.fuzzing import PYTHON, Request
from tests.app.routes.referring import OWN

TIMES = 400
QUICK = settings(
    max_examples=TIMES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desks.opened(tmp_path_factory.mktemp("odd")) as opened:
        yield opened


@pytest.fixture(scope="module")
def requests(desk: Desk) -> st.SearchStrategy[Request]:
    routes = tuple(asked(one) for one in OPERATIONS.values())
    return fuzzing.requests(routes, desk.site.places[OWN].things)


def asked(one: Operation) -> asking.Asked:
    """An operation as the fuzz of routes knows one."""
    in_query = one.asked is not None and (one.method == "GET" or one.takes_file)
    query = tuple(one.asked.model_fields) if one.asked and in_query else ()
    body = None if in_query else one.asked
    return asking.Asked(one.method, PUBLIC + one.path, query, (), body)


@QUICK
@given(data=st.data())
def test_every_answer_fits_its_description(
    desk: Desk, requests: st.SearchStrategy[Request], data: st.DataObject
) -> None:
    request = data.draw(requests)
    headers = {**desk.headers(request.who), "content-type": "application/json"}
    answer = desk.site.client.request(
        request.method, request.url, content=request.body, headers=headers
    )
    told = (dataclasses.replace(request), answer.status_code, answer.text[:300])
    assert answer.status_code < 500, told
    (one,) = (
        one for one in OPERATIONS.values() if request.route == f"{one.method} {PUBLIC}{one.path}"
    )
    # An address with "." or "/" in a name may be that of something else.
    if str(answer.url.path).startswith(PUBLIC) and answer.status_code not in (404, 405):
        assert desks.strange(desk, one, answer) == "", told
    if answer.status_code >= 400 and answer.url.path.startswith(f"{PUBLIC}/"):
        said = re.sub(r"'[^']*'|\"[^\"]*\"", "", answer.json()["detail"])
        assert not PYTHON.search(said), told


def test_what_is_too_large_or_strange_is_refused_in_a_sentence(desk: Desk) -> None:
    own, before = desk.site.places[OWN].things.project, desk.sent()
    headers = desk.headers("ada")
    sent = {
        "empty.zip": (b"", 400),
        "..": (b"x", 400),
        "body": (b"x", 400),
        "a/b.zip": (b"x", 400),
        "a\\b.zip": (b"x", 400),
        "x" * 201: (b"x", 422),
    }
    for name, (body, status) in sent.items():
        answer = desk.site.client.post(
            f"{PUBLIC}/projects/{own}/import", params={"name": name}, content=body, headers=headers
        )
        assert answer.status_code == status, (name, answer.text)
    large = desk.site.client.post(f"{PUBLIC}/projects", content=b" " * 9_000_000, headers=headers)
    assert (large.status_code, large.json()["status"]) == (413, 413)
    for cursor in ("x", "-1", "²", "9" * 19):
        answer = desk.site.client.get(
            f"{PUBLIC}/projects", params={"after": cursor}, headers=headers
        )
        assert answer.status_code in (400, 422), (cursor, answer.text)
    assert desk.sent() == before
