"""A view shows what its address says, also when the answer of a view that was left comes late."""

from __future__ import annotations

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

TURN = """address => {
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}"""

# A page that is covered and shown again between two frames is told of no change of its size.
DEAF = """window.ResizeObserver = class { observe() {} unobserve() {} disconnect() {} }"""


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


def test_an_answer_from_before_a_change_of_the_rule_takes_nothing_back(
    page: Page, site: Site
) -> None:
    boards.detect(site, boards.put(site, "late rule", 3), 1702)
    hands, held = Hands(page, site, "review"), list[tuple[Route, APIResponse]]()
    hands.open("late rule", run="1702")
    page.route("**/take*", lambda route: held.append((route, route.fetch())), times=1)
    while not held:  # what is being brought already was asked for before
        page.evaluate(f"void {hands.js}.extend()")
        page.evaluate("fetch('/health')")
    page.evaluate(f"{hands.js}.setRule({{ severity: 3 }})")
    page.wait_for_function(f"{hands.js}.rule.version > 0")
    with page.expect_response("**/take*"):
        held[0][0].fulfill(response=held[0][1])
    page.evaluate("fetch('/health')")
    assert hands.ask("rule.severity") == 3


def test_the_wall_stands_also_where_it_was_covered_for_less_than_a_frame(
    page: Page, site: Site
) -> None:
    project, held = site.project(images=3), list[Route]()
    page.add_init_script(DEAF)
    page.route("**/images?*limit=*", lambda route: held.append(route))
    page.goto(f"/?project={project.id}&tab=browse")
    expect(page.get_by_label("Loading …")).to_be_visible()
    while not held:
        page.evaluate("fetch('/health')")
    for route in held:
        route.continue_()
    expect(page.locator(".cell img")).to_have_count(3)
