"""An inspector goes through a run by keys alone, and every decision is in the database."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from backend.domain import Run, RunImage, State, Verdict
from backend.labels import labelling
from backend.models import snapshots
from backend.review import views
from backend.review.deciding import decisions
from backend.review.deciding.decisions import BOARD, Subject
from backend.runs import comparison
from backend.sample.boards import CLASSES
from backend.settings import Settings
from backend.storage import engine, files, findings
from backend.storage.tables import DecisionRow
from tests.journeys import boards, conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands, near

RUNS = {"keys": 901, "undo": 902, "two": 903, "wall": 904, "wrong": 905}


def put(site: Site, name: str, count: int) -> boards.Boards:
    made = boards.put(site, f"review {name}", count)
    boards.detect(site, made, RUNS[name])
    return made


@pytest.fixture
def hands(page: Page, site: Site) -> Hands:
    return Hands(page, site, "review")


def standing(site: Site, name: str, image: int) -> dict[Subject, Verdict]:
    with site.database.read.begin() as session:
        found = decisions.standing(session, [image], [RUNS[name]])[image]
    return {subject: one.verdict for subject, one in found.items()}


def stands(site: Site, name: str, image: int) -> dict[int | None, Verdict]:
    """What was said of each detection, by number."""
    found = standing(site, name, image)
    return {s.idx: verdict for s, verdict in found.items() if s.idx is not None}


def judge_all(hands: Hands) -> tuple[int, int]:
    """Accept every detection but the false call; returns the image and how many were accepted."""
    image = hands.image
    count = len(hands.ask("desk.item.proposals"))
    hands.press(*"a" * (count - 1), "r")
    return image, count - 1


def test_fifty_images_are_reviewed_in_order_by_keys_alone(hands: Hands, site: Site) -> None:
    made = put(site, "keys", 50)
    hands.open(made.project.name, run=str(RUNS["keys"]))
    accepted: dict[int, int] = {}
    for _ in made.ids:
        image, count = judge_all(hands)
        accepted[image] = count
        hands.press("Enter")
        if len(accepted) < len(made.ids):
            hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.page.get_by_text("This queue is done").wait_for()
    hands.saved()
    with site.database.read.begin() as session:
        assert views.runs(session, made.project.id)[0].reviewed == 50
        seen = list(
            session.scalars(
                select(DecisionRow.image_id)
                .where(DecisionRow.run_id == RUNS["keys"], DecisionRow.idx.is_(None))
                .order_by(DecisionRow.id)
            )
        )
    assert seen == list(accepted)
    for image, count in accepted.items():
        said = Counter(stands(site, "keys", image).values())
        assert (said[Verdict.ACCEPT], said[Verdict.FALSE_CALL]) == (count, 1)
        assert hands.stored(image).state is State.DONE
    with site.database.write.begin() as session:
        frozen = snapshots.freeze(session, made.project.id, 0, "ana")
        held = {image.id: len(image.boxes) for image in snapshots.images(session, frozen.id)}
    assert held == accepted


def test_decisions_are_taken_back_by_z_also_after_a_reload(hands: Hands, site: Site) -> None:
    made = put(site, "undo", 3)
    hands.open(made.project.name, run=str(RUNS["undo"]))
    first = hands.image
    for key in ("a", "r", "Enter"):
        hands.press(key)
        hands.saved()
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {first}")
    second = hands.image
    hands.press("r")
    hands.saved()
    hands.page.wait_for_url(f"**image={second}**")
    hands.page.reload()
    hands.ready()
    assert hands.image == second
    hands.press("z")
    hands.page.wait_for_function(f"{hands.js}.desk.refused.length === 0")
    hands.saved()
    assert stands(site, "undo", second) == {}
    hands.page.reload()
    hands.ready()
    hands.press("z")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id === {first}")
    hands.page.wait_for_function(f"{hands.js}.desk.sheet.verdict === ''")
    hands.saved()
    both = {Verdict.ACCEPT: 1, Verdict.FALSE_CALL: 1}
    assert Counter(standing(site, "undo", first).values()) == both
    hands.press("z", "z")
    hands.page.wait_for_function(f"{hands.js}.desk.sheet.boxes.length === 0")
    hands.saved()
    assert standing(site, "undo", first) == {}
    assert hands.stored(first).boxes == ()


def test_a_wrong_class_a_loose_box_and_a_missed_defect(hands: Hands, site: Site) -> None:
    made = put(site, "wrong", 3)
    hands.open(made.project.name, run=str(RUNS["wrong"]))
    image = hands.image
    first, second = hands.ask("desk.item.proposals")[:2]
    digit = 1 + next(i for i, label in enumerate(CLASSES) if label != first["label"])
    hands.press(str(digit))
    hands.press("Escape")
    middle = ((second["x1"] + second["x2"]) / 2, (second["y1"] + second["y2"]) / 2)
    hands.drag(middle, (middle[0] + 5, middle[1] + 4))
    hands.press("Escape", "d")
    hands.drag((5, 600), (35, 630))
    hands.press("Escape")
    stored = hands.stored(image)
    said = standing(site, "wrong", image)
    assert said[Subject(RUNS["wrong"], first["idx"])] is Verdict.CORRECT
    assert said[Subject(RUNS["wrong"], second["idx"])] is Verdict.CORRECT
    (missed,) = [box for box in stored.boxes if box.detection is None]
    assert said[Subject(RUNS["wrong"], None, missed.id)] is Verdict.MISSED
    assert near(missed, (5, 600, 35, 630))
    hands.press("p")
    hands.saved()
    assert standing(site, "wrong", image)[Subject(RUNS["wrong"], None, BOARD)] is Verdict.PASS


def test_two_inspectors_never_see_the_same_image(browser: Browser, site: Site) -> None:
    made = put(site, "two", 14)
    contexts = [browser.new_context(bypass_csp=True, base_url=site.url) for _ in range(2)]
    people = [Hands(context.new_page(), site, "review") for context in contexts]
    seen: list[int] = []
    for person in people:
        person.open(made.project.name, run=str(RUNS["two"]))
    for _ in range(len(made.ids)):
        for person in people:
            if person.page.get_by_text("Others have what is left").count():
                continue
            if person.page.get_by_text("This queue is done").count():
                continue
            image = person.image
            if image not in seen or seen[-1] != image:
                seen.append(image)
            person.press("Enter")
            moved = f"{person.js}.desk.item.id !== {image} || !{person.js}.place.hidden"
            person.page.wait_for_function(moved)
            person.saved()
    assert sorted(seen) == sorted(set(seen))
    assert len(seen) >= len(made.ids) - 1
    for context in contexts:
        context.close()


def test_the_wall_is_swept_and_undone(hands: Hands, site: Site) -> None:
    made = put(site, "wall", 6)
    query = {"project": made.project.name, "tab": "review", "run": RUNS["wall"], "view": "wall"}
    address = "&".join(f"{name}={value}" for name, value in query.items())
    hands.page.goto(f"{site.url}/?{address}&class={CLASSES[0]}")
    with site.database.read.begin() as session:
        total, tiles = views.wall(session, RUNS["wall"], CLASSES[0])
    expect(hands.page.locator(".lp-tile")).to_have_count(total)
    first, third = (hands.page.locator(".lp-tile").nth(at).bounding_box() for at in (0, 2))
    assert first
    assert third
    hands.page.mouse.move(first["x"] + 30, first["y"] + 30)
    hands.page.mouse.down()
    hands.page.mouse.move(third["x"] + 30, third["y"] + 30, steps=8)
    hands.page.mouse.up()
    hands.press("r", "a")
    hands.page.locator(".lp-wall-status", has_text="Saved").wait_for()
    said = [stands(site, "wall", tile.image_id).get(tile.detection.idx) for tile in tiles[:5]]
    assert said == [Verdict.FALSE_CALL] * 3 + [Verdict.ACCEPT, None]
    hands.press("z")
    hands.saved()
    assert stands(site, "wall", tiles[3].image_id) == {}
    hands.page.reload()
    expect(hands.page.locator(".lp-tile.false_call")).to_have_count(3)
    hands.press("z")
    expect(hands.page.locator(".lp-tile.false_call")).to_have_count(0)
    hands.saved()
    assert not any(stands(site, "wall", tile.image_id) for tile in tiles[:5])
    with site.database.read.begin() as session:
        assert labelling.boxes_of(session, [tiles[3].image_id])[tiles[3].image_id] == ()


def test_the_view_stands_in_the_address(hands: Hands, site: Site) -> None:
    made = boards.put(site, "review address", 4)
    boards.detect(site, made, 906)
    hands.open(made.project.name, run="906")
    hands.page.get_by_label("Order").select_option("name")
    hands.page.wait_for_url("**sort=name**")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id === {made.ids[0]}")
    hands.page.reload()
    hands.ready()
    expect(hands.page.get_by_label("Order")).to_have_value("name")
    assert hands.ask("filters.get('sort')") == "name"


def test_decisions_by_key_survive_a_killed_server(browser: Browser, tmp_path: Path) -> None:
    url, process = conftest.start(tmp_path, "--no-worker")
    settings = Settings(home=tmp_path)
    site = Site(tmp_path, url, process, engine.connect(settings), files.connect(settings))
    made = boards.put(site, "review pace", 12)
    boards.detect(site, made, 1)
    context = browser.new_context(bypass_csp=True, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(60_000)
    hands = Hands(context.new_page(), site, "review")
    hands.open(made.project.name, run="1")
    accepted: dict[int, int] = {}
    for turn in range(5):
        if turn == 2:
            process.kill()
            process.wait()
        image, accepted_here = judge_all(hands)
        accepted[image] = accepted_here
        hands.press("Enter")
        hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.says("offline")
    port = url.rsplit(":", 1)[1]
    site.url, process = conftest.start(tmp_path, "--no-worker", "--port", port)
    hands.saved()
    with site.database.read.begin() as session:
        for image, count in accepted.items():
            said = decisions.standing(session, [image], [1])[image].values()
            assert Counter(one.verdict for one in said)[Verdict.ACCEPT] == count
            assert Verdict.FALSE_CALL in {one.verdict for one in said}
    context.close()
    site.database.close()
    conftest.stop(process)


def test_two_runs_are_compared_and_taken_out(page: Page, site: Site) -> None:
    made = boards.put(site, "review compared", 4)
    boards.detect(site, made, 910)
    with site.database.write.begin() as session:
        findings.start(session, Run(911, "v1", "yolo", datetime.now(UTC), made.project.id))
        findings.record(session, 911, [RunImage(id_, str(id_)) for id_ in made.ids])
    page.goto(f"/?project={made.project.id}&tab=review")
    page.get_by_role("link", name="Compare with 910").click()
    expect(page.get_by_role("heading", name="Run 911 against run 910")).to_be_visible()
    lost = sum(bool(made.defects[id_]) for id_ in made.ids)
    expect(page.locator(".lp-cover tbody tr")).to_have_count(lost)
    with site.database.read.begin() as session:
        drawn = sum(len(one.lost) for one in comparison.compare(session, 910, 911).changes)
    expect(page.locator(".lp-cover tbody rect[stroke-dasharray]")).to_have_count(drawn)
    page.get_by_role("link", name="All runs").click()
    with page.expect_download() as download:
        page.get_by_role("row").filter(has_text="Run 910").get_by_role("link", name="CSV").click()
    rows = Path(download.value.path()).read_text().splitlines()
    assert len(rows) == 1 + sum(len(made.defects[id_]) + 1 for id_ in made.ids)
