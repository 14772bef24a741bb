"""Projects and their classes, made and changed by hand."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from playwright.sync_api import Page, Route, expect

from backend.domain import Class, Task
from backend.labels import gallery, images
from backend.projects import catalogue, classes
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands, hit


def test_a_project_is_made_with_its_classes(page: Page, site: Site) -> None:
    page.goto("/")
    page.get_by_role("button", name="New project").first.click()
    page.get_by_label("Name").fill("line 3")
    page.get_by_label("Classes, one a line").fill("scratch\n dent \n\n")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("combobox", name="Project")).to_contain_text("line 3")
    with site.database.read.begin() as session:
        made = catalogue.find(session, "line 3")
    assert [one.name for one in made.classes] == ["scratch", "dent"]


def test_a_taken_name_is_refused_and_nothing_typed_is_lost(
    page: Page, site: Site, complaints: list[str]
) -> None:
    site.project(images=3, name="taken")
    page.goto("/")
    page.get_by_role("button", name="New project").first.click()
    asked = page.get_by_role("dialog", name="New project")
    asked.get_by_label("Name").fill("taken")
    asked.get_by_label("What is labelled").select_option("classify")
    asked.get_by_label("Classes, one a line").fill("good\nbad")
    asked.get_by_role("button", name="Create").click()
    told = page.get_by_role("alert")
    expect(told).to_contain_text("There is already a project named 'taken'")
    assert "400 (Bad Request)" in complaints.pop()
    assert hit(told)
    assert asked.get_by_label("Name").input_value() == "taken"
    asked.get_by_label("Name").fill("not yet taken")
    asked.get_by_role("button", name="Create").click()
    expect(page.get_by_role("combobox", name="Project")).to_contain_text("not yet taken")
    with site.database.read.begin() as session:
        made = catalogue.find(session, "not yet taken")
    assert (made.task, [one.name for one in made.classes]) == (Task.CLASSIFY, ["good", "bad"])


def test_a_renamed_class_keeps_its_labels(page: Page, site: Site) -> None:
    project = site.project(images=6)
    before = _boxes(site, project.id, project.classes[0].name)
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Classes").click()
    name = page.get_by_label("Name", exact=True).first
    name.fill("gap")
    name.press("Tab")
    expect(page.get_by_label("Colour of gap")).to_be_visible()
    assert _boxes(site, project.id, "gap") == before > 0


def test_two_classes_become_one_by_keys_alone(page: Page, site: Site) -> None:
    project, hands = site.project(images=6), Hands(page, site)
    first, _, third = (one.name for one in project.classes[:3])
    total = sum(_boxes(site, project.id, name) for name in (first, third))
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Classes").press("Enter")
    expect(page.get_by_role("button", name=f"Merge {first} …")).to_be_visible()
    hands.reach("button", f"Merge {first} …")
    hands.press("Enter", "ArrowDown")
    expect(page.get_by_label(f"Merge {first} into").locator(":checked")).to_have_text(third)
    hands.reach("button.danger", "Merge")
    hands.press("Enter")
    expect(page.get_by_text(f"{first} is now part of {third}.")).to_be_visible()
    # The focus is still in the list, where the class was.
    expect(page.locator(".class-list :focus")).to_have_count(1)
    assert _boxes(site, project.id, third) == total
    assert first not in site.classes(project)


def test_classes_change_places_by_keyboard(page: Page, site: Site) -> None:
    project = site.project(images=3)
    names = [one.name for one in project.classes]
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Classes").press("Enter")
    page.get_by_role("button", name=f"Move {names[0]} down").press("Enter")
    expect(page.get_by_role("button", name=f"Move {names[1]} up")).to_be_disabled()
    assert site.classes(project)[:2] == [names[1], names[0]]


def _boxes(site: Site, project: int, name: str) -> int:
    with site.database.read.begin() as session:
        found = gallery.every(session, project, gallery.Filter())
        return sum(box.label == name for item in found for box in item.boxes)


def test_a_class_gets_a_colour_a_key_and_a_severity(
    page: Page, site: Site, complaints: list[str]
) -> None:
    project = site.project(images=3)
    name = project.classes[1].name
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Classes").press("Enter")
    # A letter that does something else is refused, and the key stays as it was.
    key = page.get_by_label(f"Key of {name}")
    before = key.input_value()
    for what, value in (("Colour", "#123456"), ("Severity", "7"), ("Key", "a")):
        with page.expect_response("**/classes/*"):
            page.get_by_label(f"{what} of {name}").fill(value)
            page.get_by_label(f"{what} of {name}").press("Tab")
    expect(key).to_have_value(before)
    with page.expect_response("**/classes/*"):
        key.fill("q")
        key.press("Tab")
    made = _class(site, project.id, name)
    assert (made.color, made.severity, made.hotkey) == ("#123456", 7, "q")
    assert "400 (Bad Request)" in complaints.pop()


def test_a_refusal_inside_a_dialog_is_seen_and_closed_there(
    page: Page, site: Site, complaints: list[str]
) -> None:
    project = site.project(images=3)
    taken, name = (one.name for one in project.classes[:2])
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Classes").click()
    field = page.locator(f"input[data-kept='{name}']")
    field.fill(taken)
    field.press("Tab")
    told = page.get_by_role("alert")
    expect(told).to_contain_text(taken)
    assert "400 (Bad Request)" in complaints.pop()
    assert hit(told)
    told.get_by_role("button", name="×").click()
    expect(told).to_have_count(0)
    expect(page.get_by_role("dialog", name=f"Classes of {project.name}")).to_be_visible()


def test_a_slow_answer_does_not_take_what_is_typed_next(page: Page, site: Site) -> None:
    project, hands = site.project(images=3), Hands(page, site)
    name = project.classes[1].name
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Classes").press("Enter")
    key, severity = page.get_by_label(f"Key of {name}"), page.get_by_label(f"Severity of {name}")
    late: list[Route] = []
    page.route(
        project_now := f"**/api/projects/{quote(project.name)}", lambda route: late.append(route)
    )
    with page.expect_request(project_now):
        key.fill("q")
        key.press("Tab")
    hands.press("1")
    with page.expect_response(project_now):
        late.pop().continue_()
    page.unroute(project_now)
    expect(key).to_have_attribute("data-kept", "q")
    expect(severity).to_be_focused()
    hands.press("0")
    with page.expect_response("**/classes/*"):
        hands.press("Tab")
    made = _class(site, project.id, name)
    assert (made.hotkey, made.severity) == ("q", 10)


def test_a_class_is_added_by_keys(page: Page, site: Site) -> None:
    project = site.project(images=3)
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Classes").press("Enter")
    page.get_by_label("Name of a new class").press("x")
    page.keyboard.type("-ray spot")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Colour of x-ray spot")).to_be_visible()
    assert site.classes(project)[-1] == "x-ray spot"


def test_a_project_with_a_slash_is_opened_by_its_name(page: Page, site: Site) -> None:
    project = site.project(images=3, name="line 3/left & right?")
    for tab, there in (("browse", ".cell img"), ("annotate", ".lp-place")):
        page.goto(f"/?{urlencode({'project': project.name, 'tab': tab})}")
        expect(page.locator(f"#shell-{tab} {there}").first).to_be_visible()
    expect(page.locator("#shell-annotate .lp-place")).to_have_text("1 / 3")


def test_a_project_named_as_the_number_of_another_is_opened_as_itself(
    page: Page, site: Site
) -> None:
    other = site.project(images=3)
    named = site.project(images=5, name=str(other.id))
    for opened, count in ((other, 3), (named, 5)):
        page.goto("/")
        page.get_by_role("link", name=opened.name, exact=True).click()
        page.get_by_role("tab", name="Browse").click()
        expect(page.locator("#shell-browse .cell img")).to_have_count(count)
    page.goto(f"/?project={named.name}&tab=browse")
    expect(page.locator("#shell-browse .cell img")).to_have_count(5)
    expect(page.get_by_role("combobox", name="Project")).to_have_value(named.name)


def test_the_classes_of_a_project_are_those_of_its_name(page: Page, site: Site) -> None:
    other = site.project(images=3)
    named = site.project(images=3, name=f"{other.id}")
    page.goto("/")
    card = page.locator(".project").filter(has_text=other.name)
    card.get_by_role("button", name="Classes").click()
    page.get_by_label("Name", exact=True).first.fill("gap")
    page.get_by_label("Name", exact=True).first.press("Tab")
    expect(page.get_by_label("Colour of gap")).to_be_visible()
    assert "gap" in site.classes(other)
    assert "gap" not in site.classes(named)


def _class(site: Site, project: int, name: str) -> Class:
    with site.database.read.begin() as session:
        return next(one for one in classes.of(session, project) if one.name == name)


def test_a_link_to_a_tab_that_there_is_not_opens_one_that_there_is(page: Page, site: Site) -> None:
    project = site.project(images=3)
    page.goto("/?tab=nowhere")
    expect(page.locator(".project").filter(has_text=project.name)).to_be_visible()
    page.goto(f"/?project={project.id}&tab=nowhere")
    expect(page.get_by_role("heading", name=project.name)).to_be_visible()


def test_a_refused_upload_is_told_to_whoever_has_closed_its_dialog(
    page: Page, site: Site, complaints: list[str]
) -> None:
    project, held = site.project(images=3), list[Route]()
    page.route("**/uploads/**", lambda route: held.append(route))
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Import").click()
    asked = page.get_by_role("dialog", name=f"Import into {project.name}")
    asked.get_by_label("Pictures, label files or an archive").set_input_files(
        {"name": "board.png", "mimeType": "image/png", "buffer": b"not a picture"}
    )
    with page.expect_request("**/uploads/**"):
        asked.get_by_role("button", name="Import").click()
    asked.get_by_role("button", name="Close").click()
    expect(asked).to_have_count(0)
    held.pop().fulfill(status=400, json={"error": "The disk is full."})
    expect(page.get_by_role("alert")).to_contain_text(
        f"The import into {project.name} failed: The disk is full."
    )
    assert "400 (Bad Request)" in complaints.pop()


def test_a_project_is_removed_once_its_name_is_typed(
    page: Page, site: Site, complaints: list[str]
) -> None:
    project = site.project(images=3)
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Remove").click()
    asked = page.get_by_role("dialog", name=f"Remove {project.name}")
    expect(asked).to_contain_text("4 pictures and ")
    name = asked.get_by_label(f"Type {project.name} to remove it")
    name.fill("something else")
    asked.get_by_role("button", name="Remove the project").click()
    expect(page.get_by_role("alert")).to_contain_text("give its name exactly")
    assert "400 (Bad Request)" in complaints.pop()
    name.fill(project.name)
    asked.get_by_role("button", name="Remove the project").click()
    expect(card).to_have_count(0)


def test_images_that_were_put_away_are_brought_back(page: Page, site: Site) -> None:
    project = site.project(images=4)
    with site.database.write.begin() as session:
        images.put_away(session, gallery.ids(session, project.id, gallery.Filter())[:2])
    page.goto("/")
    card = page.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Remove").click()
    asked = page.get_by_role("dialog", name=f"Remove {project.name}")
    expect(asked).to_contain_text("2 images are put away")
    asked.get_by_role("button", name="Bring them back").click()
    expect(asked).to_contain_text("They are back in Browse")
    with site.database.read.begin() as session:
        assert len(gallery.ids(session, project.id, gallery.Filter())) == 4
