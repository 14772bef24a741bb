"""Requests that somebody might send, sensible and senseless, to any route there is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi.testclient import TestClient
from hypothesis import strategies as st

from app.premises import Premises
from tests.app.conftest import WRITE, drawn, log_in
from tests.app.routes import asking
from tests.homes.everything import Things, furnish

# What no sentence for a person may say.
PYTHON = re.compile(
    r"Traceback|Error\b|NoneType|dictionary|<class|object at 0x|\bstr\b|\bint\b|\bdict\b|\bbool\b"
    r"|isinstance|\.py\b|pydantic|sqlalchemy|psycopg"
)
ODD_TEXTS = (
    *("", " ", "v²", "v٣", "v0", "v" + "9" * 30, "²", "٣", "NaN", "1e999", "-1", "0x10", "1_0"),
    *("\x00", "a\x00b", "\ud800", "\u202e", "🧪" * 60, "a" * 260, "a" * 5000, "%2e", "None"),
    *("../../etc/passwd", "C:\\x", "~nobody-here", "a/b", ".", "..", "{}", "[]", "1:2", "1:2:3:4"),
    *("2026-13-45", "9999999999999999999999", "null", "=1+1", "champion", "golden", "scratch"),
)  # fmt: skip
ODD_NUMBERS = (0, -1, 1, 2, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**40)
ODD_FRACTIONS = (float("nan"), float("inf"), float("-inf"), 1e308, -0.0, 1e-320, 0.5, 2.0)
ODD: tuple[Any, ...] = (None, True, [], {}, [[]], {"a": None}, "x", 0.5, *ODD_FRACTIONS[:3])
ENDS = re.compile("log|password|people|session")
RARELY = (True, *[False] * 15)
PEOPLE = ("ada", "lars", "vera")
OURS = ("/api/", "/files/", "/assets/", "/guide", "/login", "/logout", "/health")
DEEP = "[" * 100_000
BYTES = (b"", b"{", b"\xff\xfe", b'"\xed\xa0\x80"', b"null", b"[]", b'"x"', b"1", DEEP.encode())


@dataclass(frozen=True)
class Request:
    """One request as it goes out."""

    route: str
    method: str
    url: str
    body: bytes | None
    form: Mapping[str, Any] | None
    who: str


@dataclass(frozen=True)
class Fuzz:
    """Premises that are asked by an admin, a labeler and a viewer."""

    client: TestClient
    cookies: Mapping[str, str]
    requests: st.SearchStrategy[Request]

    def send(self, request: Request) -> tuple[int, str]:
        """The status of the answer, and what is wrong with it."""
        return send(self.client, request, self.cookies)


def prepare(premises: Premises, client: TestClient) -> Fuzz:
    """A project with one of everything in premises that has accounts."""
    project = drawn(premises)
    with premises.write() as session:
        things = furnish(session, project.id, project.name)
    cookies = {}
    for name in PEOPLE:
        client.cookies.clear()
        log_in(client, name)
        cookies[name] = "; ".join(f"{one.name}={one.value}" for one in client.cookies.jar)
    client.cookies.clear()
    # Whoever ends a login would be asked for it in all that follows.
    stay = tuple(one for one in asking.routes() if not ENDS.search(one.path))
    return Fuzz(client, cookies, requests(stay, things))


@st.composite
def requests(draw: st.DrawFn, routes: tuple[asking.Asked, ...], things: Things) -> Request:
    """Any request to any route; most of it is sensible, so that it gets beyond the first check."""
    route = draw(st.sampled_from(routes))
    url = route.path
    for name in route.parameters:
        url = url.replace(f"{{{name}}}", quote(draw(_part(name, things)), safe=""))
    names = draw(st.lists(st.sampled_from((*route.query, *asking.FILTERS)), max_size=4))
    pairs = [f"{name}={quote(draw(_part(name, things)), safe='')}" for name in names]
    who = draw(st.sampled_from(("ada", *PEOPLE)))
    body = draw(_body(route, things)) if route.writes and not route.form else None
    form = {name: draw(_part(name, things)) for name in route.form} if route.form else None
    return Request(route.name, route.method, "?".join([url, "&".join(pairs)]), body, form, who)


def send(client: TestClient, request: Request, cookies: Mapping[str, str]) -> tuple[int, str]:
    """The status, and what is wrong with the answer; nothing if it is as answers should be."""
    headers = {**WRITE, "cookie": cookies[request.who]}
    files = data = None
    if request.form is not None:
        data = {name: value for name, value in request.form.items() if name != "picture"}
        named = request.form.get("picture", "x")
        files = {"picture": (named or "x", b"\x89PNG")} if "picture" in request.form else None
    elif request.body is not None:
        headers["content-type"] = "application/json"
    answer = client.request(
        request.method, request.url, content=request.body, data=data, files=files, headers=headers
    )
    return answer.status_code, "" if answer.status_code < 400 else _wrong(answer)


def _wrong(answer: Any) -> str:
    path = answer.request.url.path
    version, _, name = path.removeprefix("/assets/").partition("/")
    unversioned = path.startswith("/assets/") and not (version and name)
    if not path.startswith(OURS) or unversioned:
        return ""  # An address with "." or ".." left what is ours for what is Gradio's.
    if answer.status_code >= 500:
        return f"{answer.status_code}: {answer.text[:200]}"
    if answer.headers["content-type"].startswith("text/html"):
        return "" if answer.url.path == "/login" else "a page in place of a sentence"
    said = answer.json().get("error", "")
    if not isinstance(said, str) or not 8 <= len(said) <= 2000 or said.startswith("Refused ("):
        return f"no sentence: {answer.text[:200]}"
    return f"Python's words: {said[:200]}" if PYTHON.search(_unquoted(said)) else ""


def _unquoted(said: str) -> str:
    """Without what the person wrote, which a sentence may repeat."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", said)


@st.composite
def _mostly(draw: st.DrawFn, usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> Any:
    """The usual, and the odd once in a while: one odd value hides the faults behind all others."""
    return draw(odd if draw(st.sampled_from(RARELY)) else usual)


def _part(name: str, things: Things) -> st.SearchStrategy[str]:
    """A value of an address or a form."""
    known = [str(one) for one in _known(name, things)]
    odd = st.sampled_from((*ODD_TEXTS, *map(str, ODD_NUMBERS)))
    text = st.text(max_size=20)
    strange = st.one_of(odd, text).map(_sendable)
    return _mostly(st.sampled_from(known), strange) if known else strange


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _known(name: str, things: Things) -> tuple[Any, ...]:
    """Values that mean something under this name."""
    numbers = (things.job, things.images[0], things.model, things.class_)
    return {
        "project": (things.project, things.name),
        "image": things.images,
        "images": things.images,
        "wanted": things.images,
        "after": things.images,
        "ids": things.images,
        "run": (things.run,),
        "before": (things.run, 1),
        "job": (things.job,),
        "number": (things.job,),
        "model": (things.model, "v1", "champion", "golden"),
        "against": ("v1", "champion"),
        "start": ("v1", "champion", "scratch"),
        "class_": (things.class_,),
        "classes": (things.class_,),
        "into": (things.class_, *numbers),
        "class": ("nick",),
        "label": ("nick",),
        "subject": (f"{things.run}:{things.images[0]}:0", f"{things.images[0]}:{things.box}"),
        "file": (things.sha256,),
        "name": ("csv", "coco", "golden", "v1", "a.png", "styles/style.css"),
        "action": ("cancel", "pause", "resume", "retry", "split", "state", "group", "delete"),
        "page": ("words", "labelling"),
        "person": ("nobody",),
        "token": ("0" * 32,),
        "format": ("yolo", "coco", "auto"),
        "family": ("yolo", "golden", "faster_rcnn"),
        "parameters": ({"epochs": 3}, {"epochs": "x"}, {"epoch": 3}, {"image_size": 1e300}),
        "split": ("test", "val"),
        "state": ("done", "new"),
        "states": ("done",),
        "splits": ("test",),
        "sort": ("doubt", "newest"),
        "score": ("0.5",),
        "level": (0, 1),
        "x": (0,),
        "y": (0,),
        "holder": ("tab",),
        "key": ("k1", "k2"),
        "id": (things.box, "c" * 32),
        "idx": (0, 1),
    }.get(name, ())


def _body(route: asking.Asked, things: Things) -> st.SearchStrategy[bytes]:
    if route.body is None:
        return st.one_of(st.sampled_from(BYTES), st.binary(max_size=40))
    schema = route.body.model_json_schema()
    sensible = _value(schema, schema.get("$defs", {}), "", things)
    whole = sensible.map(lambda value: json.dumps(value).encode())
    return _mostly(whole, st.sampled_from(BYTES))


def _value(
    schema: Mapping[str, Any], known: Mapping[str, Any], name: str, things: Things
) -> st.SearchStrategy[Any]:
    """A value that mostly fits a JSON schema."""
    if "$ref" in schema:
        return _value(known[schema["$ref"].rpartition("/")[2]], known, name, things)
    fits = _fitting(schema, known, name, things)
    meant = _known(name, things)
    if meant and schema.get("type") != "array":
        return _mostly(st.sampled_from(meant), st.one_of(fits, st.sampled_from(ODD)))
    return _mostly(fits, st.sampled_from(ODD))


def _fitting(
    schema: Mapping[str, Any], known: Mapping[str, Any], name: str, things: Things
) -> st.SearchStrategy[Any]:
    if "anyOf" in schema:
        return st.one_of(*(_value(one, known, name, things) for one in schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        return _object(schema, known, things)
    if kind == "object":
        inner = schema.get("additionalProperties")
        values = _value(inner if isinstance(inner, dict) else {}, known, "", things)
        return st.dictionaries(st.one_of(st.text(max_size=8), st.just("nick")), values, max_size=3)
    if kind == "array":
        return st.lists(_value(schema.get("items", {}), known, name, things), max_size=4)
    if kind == "integer":
        return _mostly(st.integers(0, 5), st.one_of(st.sampled_from(ODD_NUMBERS), st.integers()))
    if kind == "number":
        return _mostly(st.floats(0, 60), st.one_of(st.sampled_from(ODD_FRACTIONS), st.floats()))
    if kind == "boolean":
        return st.booleans()
    return st.one_of(st.sampled_from(ODD_TEXTS), st.text(max_size=20), st.just("nick"))


def _object(
    schema: Mapping[str, Any], known: Mapping[str, Any], things: Things
) -> st.SearchStrategy[Any]:
    fields = {name: _value(one, known, name, things) for name, one in schema["properties"].items()}
    needed = {name: fields.pop(name) for name in schema.get("required", ())}
    strange = {"no_such_field": st.just(1)}
    usual = st.fixed_dictionaries(needed, optional=fields)
    return _mostly(usual, st.fixed_dictionaries({**needed, **strange}, optional=fields))
