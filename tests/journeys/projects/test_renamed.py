"""A page that stands open while somebody renames classes, or changes the rule, beside it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from backend.domain import Verdict
from backend.labels import labelling
from backend.projects import classes
from backend.review import views
from backend.review.deciding import decisions
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands


@pytest.fixture
def hands(page: Page, site: Site) -> Hands:
    return Hands(page, site, "review")


def opened(hands: Hands, site: Site, run: int) -> boards.Boards:
    made = boards.put(site, f"renamed {run}", 2)
    boards.detect(site, made, run)
    hands.open(made.project.name, run=str(run))
    return made


def swap(site: Site, project: int, name: str) -> tuple[int, str]:
    """Swap the name of a class with that of another; gives the class and what it is called now."""
    with site.database.write.begin() as session:
        kinds = classes.of(session, project)
        one = next(kind for kind in kinds if kind.name == name)
        other = next(kind for kind in kinds if kind.name != name)
        for id_, to in ((one.id, "third"), (other.id, one.name), (one.id, other.name)):
            classes.edit(session, id_, name=to)
    return one.id, other.name


def test_what_is_accepted_is_of_the_class_that_was_seen(hands: Hands, site: Site) -> None:
    made = opened(hands, site, 981)
    chosen = hands.ask("desk.chosenProposals[0]")
    class_id, now = swap(site, made.project.id, chosen["label"])
    hands.press("a")
    hands.saved()
    with site.database.read.begin() as session:
        [box] = labelling.boxes_of(session, [hands.image])[hands.image]
        said = decisions.standing(session, [hands.image], [981])[hands.image]
    assert (box.class_id, box.label) == (class_id, now)
    assert [one.verdict for one in said.values()] == [Verdict.ACCEPT]


def test_a_rule_that_somebody_else_changed_is_shown(
    hands: Hands, site: Site, complaints: list[str]
) -> None:
    made = opened(hands, site, 982)
    with site.database.write.begin() as session:
        views.set_rule(session, made.project.id, {"threshold": 0.7, "severity": 2}, 0, "ana")
    hands.page.get_by_text("Rule and thresholds").click()
    hands.page.get_by_label("A board fails from").select_option("3")
    expect(hands.page.get_by_text("ana has changed the rule in the meantime")).to_be_visible()
    expect(hands.page.get_by_label("A board fails from")).to_have_value("2")
    with site.database.read.begin() as session:
        assert views.rule(session, made.project.id)["severity"] == 2
    assert len(complaints) == 1  # Chromium itself notes the refusal
    assert "409" in complaints.pop()
