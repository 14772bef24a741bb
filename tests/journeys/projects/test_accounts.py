"""Accounts: log in, see only what one's role may do, manage people, log out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from backend.domain import Role
from backend.projects import catalogue, people
from backend.settings import Settings
from backend.storage import engine, files, schema
from tests.journeys import boards, conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

PASSWORD = "correct horse"
EVIL = "<b>eve</b> ${1+1}"
# Each view with what stands there when all of it does.
VIEWS = {
    "tab=browse": ".cell img",
    "tab=annotate": ".lp-row",
    "tab=train": ".two table",
    "tab=detect": "tbody tr",
    "tab=review&run=940": ".lp-row",
    "tab=review&run=940&view=wall": ".lp-tile",
    "tab=models": ".empty",
    "tab=jobs": ".panel",
}
CHANGES = re.compile(
    "Set|Delete|Propose|Accept|Reject|✓|^×$|Skip|Done|Defect$|False|Missed|Pass|Fail|Retrain|Detect|"
    "Promote|Cancel|Restore|Train$|What to|Try"
)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that asks who is there."""
    conftest.chromium()
    home = tmp_path_factory.mktemp("guarded")
    settings = Settings(home=home)
    database = engine.connect(settings)
    schema.prepare(database)
    with database.write.begin() as session:
        people.add(session, "vera", Role.VIEWER, PASSWORD)
        people.add(session, "ada", Role.ADMIN, PASSWORD)
        people.add(session, EVIL, Role.LABELER, PASSWORD)
    url, process = conftest.start(home, "--no-worker", "--auth")
    site = Site(home, url, process, database, files.connect(settings))
    site.project(images=3, name="boards")
    looked_at = boards.put(site, "looked at", 4, labelled=2)
    boards.detect(site, looked_at, 940)
    yield site
    database.close()
    conftest.stop(process)


@pytest.fixture
def visitor(browser: Browser, guarded: Site) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=guarded.url)
    context.set_default_timeout(60_000)
    said: list[str] = []
    context.on("console", lambda message: said.append(message.text))
    yield context
    context.close()
    assert [one for one in said if "Content Security Policy" in one] == []


def log_in(context: BrowserContext, name: str, address: str = "/") -> Page:
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    return page


def test_a_login_leads_back_to_the_view_that_was_asked_for(visitor: BrowserContext) -> None:
    page = log_in(visitor, "vera", "/?project=1&tab=browse")
    expect(page.locator(".cell img")).to_have_count(3)
    assert "tab=browse" in page.url


def test_a_wrong_password_is_told_and_nothing_else(visitor: BrowserContext) -> None:
    page = visitor.new_page()
    page.goto("/")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("wrong password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")


def test_a_viewer_is_not_shown_what_she_may_not_do(visitor: BrowserContext) -> None:
    page = log_in(visitor, "vera")
    expect(page.get_by_role("link", name="boards", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Export").first).to_be_visible()
    for name in ("New project", "Classes", "Import", "People"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


@pytest.mark.parametrize("view", VIEWS)
def test_a_viewer_looks_at_every_page_and_is_offered_no_change(
    visitor: BrowserContext, guarded: Site, view: str
) -> None:
    with guarded.database.read.begin() as session:
        project = catalogue.find(session, "looked at").id
    page = log_in(visitor, "vera", f"/?project={project}&{view}")
    page.locator(VIEWS[view]).first.wait_for()
    if view == "tab=browse":
        page.locator(".cell").first.click(modifiers=["Control"])
        expect(page.locator(".bulk b")).to_have_text("1")
    panel = page.get_by_role("tabpanel").filter(visible=True)
    names = panel.get_by_role("button").all_inner_texts()
    # The forms that start something are not there either.
    names += panel.locator(".panel > header").filter(visible=True).all_inner_texts()
    offered = [name for name in names if CHANGES.search(name)]
    assert offered == []


def test_an_admin_gives_a_person_another_role_by_keys(
    visitor: BrowserContext, guarded: Site
) -> None:
    page = log_in(visitor, "ada")
    hands = Hands(page, guarded)
    expect(page.get_by_role("button", name="People")).to_be_visible()
    hands.reach("button", "People")
    hands.press("Enter")
    role = page.get_by_label(f"Role of {EVIL}")
    expect(role).to_be_visible()
    hands.reach("select", f"Role of {EVIL}")
    hands.press("ArrowUp")
    expect(page.get_by_text(f"{EVIL} is a viewer now.")).to_be_visible()
    expect(role).to_be_focused()
    with guarded.database.read.begin() as session:
        found = people.find(session, EVIL)
    assert found is not None
    assert found.role == Role.VIEWER


def test_logging_out_forgets_the_cookie(visitor: BrowserContext) -> None:
    page = log_in(visitor, "ada")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    page.goto("/?tab=jobs")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    assert visitor.request.get("/api/projects").status == 401


def test_a_project_is_given_to_its_members(
    browser: Browser, visitor: BrowserContext, guarded: Site
) -> None:
    guarded.project(images=2, name="for ada alone")
    page = log_in(visitor, "ada")
    card = page.locator("article", has_text="for ada alone")
    card.get_by_role("button", name="Members").press("Enter")
    expect(page.get_by_label("vera")).to_be_disabled()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Only these people, and admins")).to_be_checked()
    expect(page.get_by_label("vera")).not_to_be_checked()
    Hands(page, guarded).reach("button", "Save")
    page.keyboard.press("Enter")
    expect(page.get_by_text("for ada alone is for its members now.")).to_be_visible()
    other = browser.new_context(base_url=guarded.url)
    found = log_in(other, "vera")
    expect(found.get_by_role("link", name="boards", exact=True)).to_be_visible()
    expect(found.get_by_text("for ada alone")).to_have_count(0)
    other.close()


def test_a_person_changes_the_password_and_ends_other_logins(
    visitor: BrowserContext, guarded: Site, browser: Browser
) -> None:
    with guarded.database.write.begin() as session:
        people.add(session, "mia", Role.LABELER, PASSWORD)
    other = browser.new_context(base_url=guarded.url)
    log_in(other, "mia")
    page = log_in(visitor, "mia")
    page.get_by_role("button", name="mia").click()
    expect(page.get_by_role("button", name="End all others")).to_be_visible()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_label("New password").fill("another password")
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_text("all your other logins have ended")).to_be_visible()
    assert other.request.get("/api/me").status == 401
    assert visitor.request.get("/api/me").status == 200
    other.close()


def test_an_admin_ends_logins_and_closes_an_account(
    visitor: BrowserContext, guarded: Site, browser: Browser
) -> None:
    with guarded.database.write.begin() as session:
        people.add(session, "rex", Role.LABELER, PASSWORD)
    other = browser.new_context(base_url=guarded.url)
    expect(log_in(other, "rex").get_by_role("button", name="rex")).to_be_visible()
    page = log_in(visitor, "ada")
    page.get_by_role("button", name="People").click()
    page.get_by_label("Logins of rex").click()
    page.get_by_role("button", name="End all").click()
    expect(page.get_by_text("Nowhere.")).to_be_visible()
    assert other.request.get("/api/me").status == 401
    page.get_by_role("dialog", name="Where rex").get_by_role("button", name="Close").click()
    page.get_by_label("Remove rex").click()
    page.get_by_role("button", name="Remove", exact=True).last.click()
    expect(page.get_by_text("rex may no longer log in.")).to_be_visible()
    expect(page.get_by_label("Logins of rex")).to_have_count(0)
    other.close()


def test_a_site_with_a_token_lets_in_who_opens_the_printed_address(
    browser: Browser, tmp_path: Path
) -> None:
    with conftest.served(tmp_path / "home", "--no-worker", "--token") as site:
        said = (site.home / "serve.log").read_text("utf-8")
        printed = next(word for word in said.split() if "?token=" in word)
        owner, stranger = (browser.new_context(base_url=site.url) for _ in range(2))
        page, other = owner.new_page(), stranger.new_page()
        page.goto(printed)
        expect(page.get_by_role("button", name="New project").first).to_be_visible()
        assert "token" not in page.url
        other.goto("/")
        expect(other.get_by_text("Open the address that it printed")).to_be_visible()
        owner.close()
        stranger.close()
