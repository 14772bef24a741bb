"""Every operation, asked by each role, over an own, a shut and an absent project."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from app.operations.table import OPERATIONS
from backend.domain import Role
from tests.app.conftest import WRITE
from tests.app.operations import desk as desks
from tests.app.operations.desk import NARROW, PEOPLE, PUBLIC, Desk
from tests.app.routes.referring import MODELS, NOTHING, OTHER, OWN, SHUT
from tests.homes.everything import CLASS

RANKS = [Role.VIEWER, Role.LABELER, Role.ADMIN]
EVERY = sorted(OPERATIONS)
OF_A_PROJECT = sorted(name for name, one in OPERATIONS.items() if one.parameters)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desks.opened(tmp_path_factory.mktemp("operations")) as opened:
        yield opened


def expected(name: str, who: str, where: str) -> set[int]:
    """The statuses that are right."""
    if RANKS.index(PEOPLE[who]) < RANKS.index(OPERATIONS[name].role):
        return {403}
    if not OPERATIONS[name].parameters or where == OWN or (where == SHUT and who == "ada"):
        return {200}
    return {404}


@pytest.mark.parametrize("name", EVERY)
def test_it_answers_who_may_ask_and_nobody_else(desk: Desk, name: str) -> None:
    one = OPERATIONS[name]
    for who, where in product(PEOPLE, (OWN, SHUT, NOTHING)):
        desk.site.again()
        before = desk.sent()
        answer = desk.ask(name, who, where)
        told = (who, where, answer.status_code, answer.text[:300])
        assert answer.status_code in expected(name, who, where), told
        assert desks.strange(desk, one, answer) == "", told
        if answer.status_code != 200 or not one.changes:
            assert desk.site.rows.stand(), told
            assert desk.sent() == before, told
        if where == SHUT and who != "ada":
            assert SHUT not in answer.text.replace(str(answer.url), ""), told


@pytest.mark.parametrize("name", OF_A_PROJECT)
def test_a_token_for_some_projects_enters_no_other(desk: Desk, name: str) -> None:
    desk.site.again()
    answer = desk.ask(name, NARROW, OWN)
    assert answer.status_code == 404, answer.text[:300]
    assert desk.site.rows.stand()
    assert desk.ask(name, NARROW, SHUT).status_code == 404


@pytest.mark.parametrize("where", [OTHER, SHUT])
def test_what_is_spoken_of_lies_in_the_project_that_is_asked(desk: Desk, where: str) -> None:
    own, there = desk.site.places[OWN], desk.site.places[where].things
    image, run, of = own.things.images[0], own.things.run, f"/projects/{own.things.project}"
    ref = {"run": there.run, "image": there.images[0], "idx": 0}
    box = {"x1": 4, "y1": 4, "x2": 20, "y2": 20, "label": CLASS, "detection": ref}
    foreign, model = there.images[0], f"v{MODELS[where]}"
    for method, path, sent in (
        ("PUT", f"/images/{image}/labels", {"version": own.version, "boxes": [box]}),
        ("POST", f"/runs/{run}/decide", {"images": [{"image": foreign, "board": "fail"}]}),
        ("POST", f"{of}/detect", {"model": "v1", "images": [foreign]}),
        ("POST", f"{of}/detect", {"model": model}),
        ("POST", f"{of}/propose", {"images": [foreign]}),
        ("POST", f"{of}/train", {"family": "yolo", "start": model}),
        ("GET", f"/runs/{run}/compare/{there.run}", None),
    ):
        for who in ("lars", "ada"):
            desk.site.again()
            headers = desk.headers(who)
            answer = desk.site.client.request(method, PUBLIC + path, json=sent, headers=headers)
            assert answer.status_code in (400, 404), (path, who, answer.text[:300])
            assert desk.site.rows.stand(), (path, who)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"extra": "mosaic"}, "There is no parameter 'extra'"),
        ({"mosaic": 2}, "The parameter mosaic must be from 0 to 1, not 2"),
        ({"mosiac": 0.5}, "There is no parameter 'mosiac'"),
    ],
)
def test_a_training_takes_what_its_family_has_and_no_more(
    desk: Desk, parameters: dict[str, object], said: str
) -> None:
    desk.site.again()
    url = f"{PUBLIC}/projects/{desk.site.places[OWN].things.project}/train"
    body = {"family": "yolo", "parameters": parameters}
    answer = desk.site.client.post(url, json=body, headers=desk.headers("lars"))
    assert (answer.status_code, said in answer.text) == (400, True), answer.text
    assert desk.site.rows.stand()


def test_a_token_for_some_projects_lists_those_alone_and_makes_none(desk: Desk) -> None:
    desk.site.again()
    [listed] = desk.ask("projects", NARROW).json()["items"]
    assert listed["id"] == desk.site.places[OTHER].things.project
    assert desk.ask("create_project", NARROW).status_code == 403


@pytest.mark.parametrize("name", EVERY)
def test_a_cookie_opens_nothing_and_a_token_nothing_else(desk: Desk, name: str) -> None:
    one = OPERATIONS[name]
    url = PUBLIC + one.path.replace("{", "").replace("}", "")
    for headers in (
        {},
        {**WRITE, "cookie": desk.site.cookies["ada"]},
        {"authorization": "Basic x"},
    ):
        answer = desk.site.client.request(one.method, url, headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert desks.strange(desk, one, answer) == ""
    headers = {**WRITE, **desk.headers("ada")}
    assert desk.site.client.get("/api/projects", headers=headers).status_code == 401


@pytest.mark.parametrize("name", [name for name in EVERY if OPERATIONS[name].changes])
def test_what_changes_something_is_written_down_and_counts_once_a_key(
    desk: Desk, name: str
) -> None:
    desk.site.again()
    before = desk.sent()
    asker = "ada" if OPERATIONS[name].role is Role.ADMIN else "lars"
    first = desk.ask(name, asker, **{"idempotency-key": "k 1"})
    assert first.status_code == 200, first.text
    rows = desk.site.rows.digest()
    again = desk.ask(name, asker, **{"idempotency-key": "k 1"})
    assert (again.status_code, again.text) == (200, first.text)
    assert again.headers["idempotency-replayed"] == "true"
    assert desk.site.rows.digest() == rows
    [use] = desk.uses()
    assert (use.token, use.person, use.operation) == (asker, asker, name)
    for value in OPERATIONS[name].parameters:
        assert value in use.subject
    assert len(desk.sent() - before) == (name == "import")


def test_what_is_written_down_calls_a_project_as_it_is_called(desk: Desk) -> None:
    desk.site.again()
    headers = desk.headers("ada")
    made = desk.site.client.post(f"{PUBLIC}/projects", json={"name": "lot 7 / a"}, headers=headers)
    assert made.status_code == 200, made.text
    url = f"{PUBLIC}/projects/lot%207%20%2F%20a/export"
    asked = desk.site.client.post(url, json={"format": "coco"}, headers=headers)
    assert asked.status_code == 200, asked.text
    assert [one.subject for one in desk.uses()] == ["project lot 7 / a", "name lot 7 / a"]


def test_a_key_means_one_thing(desk: Desk) -> None:
    desk.site.again()
    key = {"idempotency-key": "k 2"}
    assert desk.ask("export", "lars", **key).status_code == 200
    answer = desk.ask("propose", "lars", **key)
    assert (answer.status_code, "another key" in answer.json()["detail"]) == (400, True)
    assert desk.ask("export", "vera", OTHER, **key).status_code == 200


def test_the_description_tells_each_row(desk: Desk) -> None:
    told = desk.description
    assert told["openapi"].startswith("3.1")
    for one in OPERATIONS.values():
        said = told["paths"][PUBLIC + one.path][one.method.lower()]
        assert (said["operationId"], said["x-changes"]) == (one.name, one.changes)
        assert said["summary"]
        asked = {**one.example}
        named = {name: asked.pop(name) for name in one.parameters}
        assert len(named) == len(one.parameters)
        if one.asked is not None:
            one.asked.model_validate(asked)
        else:
            assert not asked, one.name
