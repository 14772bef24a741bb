"""The first minute of a stranger, on a small screen: the page itself says which key comes next."""

from __future__ import annotations

import itertools
import re

import pytest
from playwright.sync_api import Page, expect

from backend.domain import State
from backend.sample.boards import CLASSES
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands, near

RUNS = itertools.count(700_001)
# The line of the chosen box, which is the last of so many, stands whole in its list.
IN_SIGHT = """many => {
  const lines = [...document.querySelectorAll("#shell-annotate .lp-boxes:not(.lp-proposals) > .lp-row")];
  const chosen = lines.filter((one) => one.ariaCurrent === "true");
  if (lines.length !== many || chosen.length !== 1) return false;
  const [line, list] = [chosen[0], chosen[0].parentElement].map((one) => one.getBoundingClientRect());
  return line.top >= list.top - 1 && line.bottom <= list.bottom + 1;
}"""  # noqa: E501


@pytest.fixture
def hands(page: Page, site: Site) -> Hands:
    """A stranger at the first page, who follows the one coloured button."""
    run = next(RUNS)
    put = boards.put(site, f"minute of run {run}", 8, labelled=2)
    boards.detect(site, put, run)
    page.goto("/")
    card = page.get_by_role("article").filter(has_text=put.project.name)
    card.get_by_role("link", name=re.compile("^Label")).click()
    found = Hands(page, site)
    found.ready()
    return found


def test_a_board_is_labelled_by_the_keys_that_the_page_shows(hands: Hands) -> None:
    side, image = hands.page.get_by_label("Panel"), hands.image
    expect(side.get_by_text("None yet. Press D and drag over a defect.")).to_be_visible()
    expect(side.get_by_text("A accept R reject")).to_be_visible()
    hands.press("a", "d")
    hands.drag((100.5, 100.5), (160.25, 150.75))
    hands.press("3")
    taken, drawn = hands.stored().boxes
    assert taken.detection is not None
    assert (drawn.label, near(drawn, (100.5, 100.5, 160.25, 150.75))) == (CLASSES[2], True)
    expect(side.get_by_role("button", name="Enter Done, next")).to_be_visible()
    hands.press("Enter")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    assert hands.stored(image).state is State.DONE


def test_the_chosen_box_stands_in_sight_in_the_list(hands: Hands) -> None:
    hands.page.evaluate(f"{hands.js}.setThreshold(0)")
    hands.press("d")
    for number in range(12):
        hands.drag((20 + 45 * number, 20), (50 + 45 * number, 50))
        hands.page.wait_for_function(IN_SIGHT, arg=number + 1)
    assert len(hands.stored().boxes) == 12
