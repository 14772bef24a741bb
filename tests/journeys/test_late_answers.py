"""A view shows what its address says, also when the answer of a view that was left comes late."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route

from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

TURN = """address => {
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}"""


@pytest.fixture
def hands(page: Page, site: Site) -> Hands:
    return Hands(page, site)


def test_an_older_filter_never_replaces_the_list_of_the_newer(hands: Hands, site: Site) -> None:
    boards.put(site, "late answers", 20, labelled=8)
    page, held = hands.page, list[Route]()
    hands.open("late answers", sort="name")
    page.route("**/around?*state=new*", lambda route: held.append(route))
    address = f"/?project=late+answers&tab={hands.name}"
    with page.expect_request("**/around?*state=new*"):
        page.evaluate(TURN, f"{address}&state=new")
    page.evaluate(TURN, f"{address}&sort=newest")
    page.wait_for_function(f"{hands.js}.loadedFor.includes('newest')")
    before = hands.ask("total"), hands.ask("list.map(i => i.id)")
    with page.expect_response("**/around?*state=new*"):
        held[0].continue_()
    # Whatever the page does with that answer is done before it hears another.
    page.evaluate("fetch('/health')")
    page.wait_for_url(f"**image={before[1][0]}**")
    assert (hands.ask("total"), hands.ask("list.map(i => i.id)")) == before
