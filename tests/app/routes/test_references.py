"""No reference of any request leads into a shut project, nor out of the one it is sent to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.app.conftest import WRITE
from tests.app.routes import asking, references, referring
from tests.app.routes.references import Reference, Row
from tests.app.routes.referring import NOTHING, OTHER, OWN, SHUT, Site

TABLE = references.rows()
ROUTES = {one.name: one for one in asking.routes()}
REFERRING = sorted(name for name, row in TABLE.items() if row.references)
# People are in no project.
NOBODYS = ("person", "login")
# Names within a project may mean something in another one, too.
NAMES = ("version", "called", "idx", "person", "trial")
HELD = sorted(
    name
    for name, row in TABLE.items()
    if any(one.refused and one.kind not in NAMES for one in row.references[1:])
)
PROJECTS_OWN = sorted(name for name in REFERRING if TABLE[name].references[0].kind not in NOBODYS)


@dataclass(frozen=True)
class Sent:
    """A request that is right, in which single references are changed."""

    row: Row
    url: Mapping[str, Any]
    query: Mapping[str, Any]
    body: Any = None

    def naming(self, one: Reference, value: Any) -> Sent:
        if one.place.startswith("."):
            return replace(self, body=references.put(self.body, one.place, value))
        if f"{{{one.place}}}" in self.row.route:
            return replace(self, url={**self.url, one.place: value})
        return replace(self, query={**self.query, one.place: value})

    def send(self, site: Site, who: str) -> Any:
        method, path = self.row.route.split()
        url = re.sub(r"{(\w+)}", lambda found: str(self.url[found[1]]), path)
        headers = {**WRITE, "cookie": site.cookies[who]}
        given: dict[str, Any] = {"json": self.body or {}}
        if ROUTES[self.row.route].form:
            picture = site.premises.files.read(site.places[OWN].things.sha256)
            given = {"data": self.body, "files": {"picture": ("a.png", picture)}}
        return site.client.request(method, url, params=dict(self.query), headers=headers, **given)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with referring.opened(tmp_path_factory.mktemp("referring")) as opened:
        yield opened


def base(site: Site, name: str, where: str = OWN) -> Sent:
    """The route's request as somebody who means it sends it."""
    row, own = TABLE[name], site.values(where)
    kinds_of = {one.place: own[one.kind][0] for one in row.references if one.kind in own}
    path = {
        "name": "csv",
        "action": "cancel",
        "token": "c" * 32,
        "level": 0,
        "x": 0,
        "y": 0,
        "trial": 0,
    }
    query = {one: kinds_of[one] for one in _queries(name) & kinds_of.keys()}
    return Sent(row, {**path, **kinds_of}, query, referring.body(site.places[where], name))


def sender(site: Site, sent: Sent) -> tuple[str, Any]:
    """The labeler, or the admin where nobody else may."""
    site.again()
    answer = sent.send(site, "lars")
    return ("lars", answer) if answer.status_code != 403 else ("ada", sent.send(site, "ada"))


def test_every_field_of_every_route_is_known_as_a_reference_or_as_none() -> None:
    assert TABLE.keys() == ROUTES.keys()
    for name, route in ROUTES.items():
        row, there = TABLE[name], references.fields(route)
        assert not row.places & row.plain, name
        assert there - row.places - row.plain == set(), f"{name} takes more than the table has"
        assert (row.places | row.plain) - there <= {*asking.FILTERS}, f"{name} does not take that"


@pytest.mark.parametrize("name", REFERRING)
def test_references_are_held_to_what_one_may_see(site: Site, name: str) -> None:
    sent = base(site, name)
    who, answer = sender(site, sent)
    assert answer.status_code // 100 == 2, f"{answer.status_code}: {answer.text[:300]}"
    assert not _refused(answer), answer.text[:300]
    site.again()
    for at, one in enumerate(TABLE[name].references):
        _check(site, sent, one, who, anchor=not at)


@pytest.mark.parametrize("name", HELD)
def test_what_a_project_has_is_refused_where_another_one_is_spoken_of(
    site: Site, name: str
) -> None:
    sent, first = base(site, name), TABLE[name].references[0]
    for value in site.values(OTHER)[first.kind]:
        for who in ("lars", "ada"):
            assert _refused(_ask(site, sent, first, value, who)), (name, who)


@pytest.mark.parametrize("name", PROJECTS_OWN)
def test_nobody_gets_into_a_shut_project_by_its_own_names(site: Site, name: str) -> None:
    site.again()
    for who in ("lars", "vera"):
        answer = base(site, name, SHUT).send(site, who)
        assert answer.status_code in (403, 404), answer.text[:300]
        assert site.rows.stand(), answer.text[:300]
        assert not re.search(rf"{SHUT} (?!boards)", answer.text), answer.text[:300]


def test_a_name_of_nothing_is_answered_by_the_projects_that_one_may_enter(site: Site) -> None:
    site.again()
    sent = base(site, "GET /api/projects/{project}")
    seen = {"ada": (OTHER, OWN, SHUT), "lars": (OTHER, OWN), "vera": (OTHER, OWN)}
    for who, words in seen.items():
        answer = replace(sent, url={"project": "nowhere"}).send(site, who)
        there = ", ".join(f"{word} boards" for word in words)
        said = f"There is no project named 'nowhere'; there is {there}."
        assert (answer.status_code, answer.json()["error"]) == (404, said)


def _check(site: Site, sent: Sent, one: Reference, who: str, *, anchor: bool) -> None:
    """The shut is as nothing to everybody; another open project's is nothing here."""
    for at, nothing in enumerate(site.values(NOTHING)[one.kind]):
        shut = site.values(SHUT).get(one.kind, ())[at : at + 1]
        other = () if anchor else site.values(OTHER).get(one.kind, ())[at : at + 1]
        for name in dict.fromkeys((who, "lars", "vera")):
            plain = _ask(site, sent, one, nothing, name)
            assert name != who or _refused(plain) == one.refused, (one, plain.text[:300])
            for value in () if name == "ada" else shut:
                told = _ask(site, sent, one, value, name)
                assert _said(told, value) == _said(plain, nothing), (one, name)
                _keeps_secret(site, told, value)
        for name in dict.fromkeys((who, "ada")):
            for value in other:
                told = _ask(site, sent, one, value, name)
                assert _refused(told) == one.refused, (one, name, told.text[:300])


def _ask(site: Site, sent: Sent, one: Reference, value: Any, who: str) -> Any:
    answer = sent.naming(one, value).send(site, who)
    if not _refused(answer):
        site.again()
    assert site.rows.stand(), (one, value, who, answer.text[:300])
    return answer


def _refused(answer: Any) -> bool:
    if answer.status_code >= 400:
        return True
    told = answer.json() if "json" in answer.headers.get("content-type", "") else {}
    return isinstance(told, dict) and any(one["error"] for one in told.get("answers", ()))


def _said(answer: Any, value: Any) -> tuple[int, str]:
    """The status and the words, without the numbers and names that were asked for."""
    text = answer.text.replace(json.dumps(str(value))[1:-1], "#")
    return answer.status_code, re.sub(r"[\d#]+", "0", text)


def _keeps_secret(site: Site, answer: Any, value: Any) -> None:
    text, shut = answer.text.replace(str(value), "#"), site.places[SHUT]
    assert SHUT not in text, text[:300]
    assert shut.things.sha256 not in text, text[:300]


def _queries(name: str) -> set[str]:
    route = ROUTES[name]
    return {one.place for one in TABLE[name].references if one.place[0] != "."}.difference(
        route.parameters
    )
