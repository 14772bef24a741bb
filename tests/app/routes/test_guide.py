"""The guide as the site shows it: whole, in step with the repository, and for who may come in."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from app import guide
from tests.app.conftest import log_in
from tests.guide import paper

NAMES = guide.names()
LINK = re.compile(r'href="([^"]+)"')
ANCHOR = re.compile(r' id="([^"]+)"')


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_shown_with_all_its_headings(client: TestClient, name: str) -> None:
    answer = client.get(guide.address(name))
    assert answer.status_code == 200
    found = ANCHOR.findall(answer.text)
    assert len(found) == len(set(found))
    prose = re.sub(r"^```.*?^```", "", paper.page(name), flags=re.DOTALL | re.MULTILINE)
    assert set(found) == {*paper.anchors(prose), "contents"}


@pytest.mark.parametrize("name", NAMES)
def test_every_link_of_a_page_leads_somewhere(client: TestClient, name: str) -> None:
    shown = client.get(guide.address(name)).text
    links = LINK.findall(shown)
    assert {guide.address(one) for one in NAMES} <= set(links)
    for link in links:
        there, _, place = link.partition("#")
        answer = client.get(there) if there else None
        assert answer is None or answer.status_code == 200, link
        assert f'id="{place}"' in (answer.text if answer else shown) or not place, link


def test_the_contents_say_where_one_is(client: TestClient) -> None:
    (here,) = re.findall(r"<a [^>]*aria-current[^>]*>", client.get("/guide/words").text)
    assert 'href="/guide/words"' in here


def test_a_page_needs_nothing_that_its_policy_forbids(client: TestClient) -> None:
    for name in NAMES:
        shown = client.get(guide.address(name)).text
        assert not re.search(r"\sstyle=|<script(?! type=\"module\" src=)|\son\w+=", shown), name


def test_what_only_the_repository_has_stays_as_words() -> None:
    assert guide.shown("See [how we work](../../CONTRIBUTING.md).") == ("<p>See how we work.</p>\n")
    assert 'href="/guide/words#words"' in guide.shown("[a word](words.md#words)")


def test_html_in_a_page_is_text() -> None:
    shown = guide.shown('<script>x</script>\n\n[a](javascript:alert(1)) <b onclick="x">b</b>')
    assert "<script" not in shown
    assert "<b" not in shown
    assert "href" not in shown


def test_figures_stand_at_the_right() -> None:
    shown = guide.shown("| what | ms |\n|---|---:|\n| a save | 5 |")
    assert '<td class="number">5</td>' in shown
    assert '<div class="wide">' in shown


@pytest.mark.parametrize("address", ["/guide/nothing", "/guide/", "/guide/README.md", "/guide/a/b"])
def test_an_unknown_page_is_said(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


def test_the_guide_is_for_those_who_may_come_in(stranger: TestClient) -> None:
    shut = stranger.get("/guide/words", headers={"accept": "text/html"})
    assert (shut.status_code, shut.headers["location"]) == (303, "/login?next=%2Fguide%2Fwords")
    log_in(stranger, "vera")
    assert stranger.get("/guide/words").status_code == 200
