"""A site with an open and a shut project, asked by tokens of each role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest

from app.operations.operation import Operation
from app.operations.table import OPERATIONS
from backend.domain import Role
from backend.jobs import queue
from backend.projects import tokens
from tests.app.routes import referring
from tests.app.routes.referring import OTHER, OWN, Site
from tests.homes.everything import CLASS

PUBLIC = "/api/v1"
PEOPLE = {"ada": Role.ADMIN, "lars": Role.LABELER, "vera": Role.VIEWER}
NARROW = "narrow"  # ada's, for the other project alone
ZIP = b"PK\x05\x06" + bytes(18)  # an archive of nothing
UNLIMITED = str(10**9)


@dataclass
class Desk:
    """Asks operations, each as somebody who means it does."""

    site: Site
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def description(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.site.client.get(f"{PUBLIC}/openapi.json").json()
        return found

    def headers(self, who: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.secrets[who]}"}

    def ask(self, name: str, who: str, where: str = OWN, **headers: str) -> Any:
        """The operation over the things of a project."""
        one, told = OPERATIONS[name], given(self.site, name, where)
        url = re.sub(r"{(\w+)}", lambda found: quote(str(told.pop(found[1])), safe=""), one.path)
        sent: dict[str, Any] = {"headers": {**self.headers(who), **headers}}
        if one.takes_file:
            sent |= {"content": self._file(name), "params": told}
        else:
            sent["params" if one.method == "GET" else "json"] = told
        return self.site.client.request(one.method, PUBLIC + url, **sent)

    def sent(self) -> set[str]:
        """The files that came with requests and are kept."""
        return {path.name for path in self.site.premises.settings.uploads.glob("sent-*")}

    def uses(self) -> list[tokens.Use]:
        """What tokens changed."""
        with self.site.premises.database.read.begin() as session:
            return tokens.uses(session)

    def _file(self, name: str) -> bytes:
        own = self.site.places[OWN].things.sha256
        return ZIP if name == "import" else self.site.premises.files.read(own)


@contextmanager
def opened(home: Path) -> Iterator[Desk]:
    """The site, and a token of each person."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOUPE_TOKEN_RATE", UNLIMITED)
        with referring.opened(home) as site:
            desk = Desk(site)
            other = site.places[OTHER].things.project
            with site.premises.write() as session:
                for place in site.places.values():
                    queue.cancel(session, place.jobs["propose"])  # or no other one may wait
                for name in PEOPLE:
                    desk.secrets[name] = tokens.add(session, name, name)[1]
                desk.secrets[NARROW] = tokens.add(session, NARROW, "ada", projects=[other])[1]
            site.rows.keep()
            yield desk


def given(site: Site, name: str, where: str) -> dict[str, Any]:
    """What an operation is told that speaks of a project's things."""
    values = {kind: found[0] for kind, found in site.values(where).items()}
    values |= {"before": values["run"]}
    if name == "file":
        values["job"] = values["export"]
    one = OPERATIONS[name]
    return {**{part: values[part] for part in one.parameters}, **_told(site, name, values)}


def _told(site: Site, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    box = {"x1": 4, "y1": 4, "x2": 20, "y2": 20, "label": CLASS}
    said = {"image": values["image"], "detections": [{"idx": 0, "verdict": "accept"}]}
    told: dict[str, dict[str, Any]] = {
        "create_project": {"name": "new boards", "classes": ["open"]},
        "save_labels": {"version": site.places[OWN].version, "boxes": [box]},
        "decide": {"images": [{**said, "missed": [{**box, "x2": 9}], "board": "fail"}]},
        "export": {"format": "coco"},
        "train": {"family": "yolo", "start": values["version"], "seed": 1},
        "detect": {"model": values["version"], "images": [values["image"]]},
        "detect_file": {"name": "a.png", "model": values["version"]},
        "propose": {"images": [values["image"]]},
    }
    return told.get(name, {})


def strange(desk: Desk, one: Operation, answer: Any) -> str:
    """What is wrong with an answer beside its own description; nothing where it fits."""
    told = desk.description
    (path,) = (path for path in told["paths"] if path == PUBLIC + one.path)
    responses = told["paths"][path][one.method.lower()]["responses"]
    said = responses.get(str(answer.status_code)) or responses[f"{answer.status_code // 100}XX"]
    media = answer.headers["content-type"].partition(";")[0]
    if one.sends and answer.status_code == 200:
        return ""
    if media not in said["content"]:
        return f"{media}: {answer.text[:200]}"
    schema = {**said["content"][media]["schema"], "components": told["components"]}
    checked = jsonschema.Draft202012Validator(schema)
    return next(
        (f"{one.json_path}: {one.message}" for one in checked.iter_errors(answer.json())), ""
    )
