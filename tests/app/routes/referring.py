"""Two open projects and one that is shut, each with one of everything that requests may name."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app import server
from app.premises import Premises
from backend.domain import JobState, Role, Split
from backend.jobs import kinds, queue
from backend.labels import images, labelling, samples
from backend.labels.images import NewImage
from backend.models import registry
from backend.projects import classes, members, people
from backend.review.deciding import decisions
from backend.settings import Settings
from backend.storage.tables import JobRow
from tests.app.conftest import HERE, PASSWORD, WRITE, log_in
from tests.homes.everything import CLASS, Things, furnish

OWN, OTHER, SHUT, NOTHING = "meadow", "forest", "sealed", "nothing"
PEOPLE = {"ada": Role.ADMIN, "lars": Role.LABELER, "vera": Role.VIEWER}
MODELS = {OWN: 2, OTHER: 4, SHUT: 3}
AWAY = 987654
APART = ("setting", "worker")
# When a login or a token was last seen changes with requests.
KEPT = {"login": "id, person", "token": "id, ended"}
FOUND = b"name,label\n"
Values = Mapping[str, tuple[Any, ...]]


NUMBERS = (
    "image", "run", "model", "class", "job", "try", "glimpse", "export", "training", "search",
    "doubt",
)  # fmt: skip
NOWHERE: Values = {
    **{kind: (AWAY,) for kind in NUMBERS},
    "idx": (77,),
    "trial": (77,),
    "project": (AWAY, "no such boards"),
    "called": ("no such flaw",),
    "group": ("no such lot",),
    "filter": ("class=no such flaw",),
    "version": ("v987",),
    "file": ("e" * 64,),
    "box": ("e" * 32,),
    "subject": (f"{AWAY}:{AWAY}:0", f"{AWAY}:{'b' * 32}"),
    "token": ("e" * 32,),
    "key": ("key of nothing",),
    "person": ("nobody",),
    "login": ("e" * 64,),
}


@dataclass(frozen=True)
class Place:
    """A project with one of everything, and what names each kind of thing in it."""

    things: Things
    version: int
    classes: tuple[int, ...]
    jobs: Mapping[str, int]
    token: str
    word: str

    def values(self) -> Values:
        it, image = self.things, self.things.images[0]
        return {
            "project": (it.project, it.name),
            "image": (image,),
            "run": (it.run,),
            "model": (it.model,),
            "class": (it.class_,),
            "search": (it.search,),
            "doubt": (it.doubt,),
            "called": (f"{self.word} flaw",),
            "group": (f"{self.word} lot",),
            "filter": (f"class={self.word} flaw",),
            "version": (f"v{MODELS[self.word]}",),
            "file": (it.sha256,),
            "box": (it.box,),
            "subject": (f"{it.run}:{image}:0", f"{image}:{it.box}"),
            "token": (self.token,),
            "key": (f"key {self.word}",),
            **{name: (number,) for name, number in self.jobs.items()},
        }


class Rows:
    """The rows of a database, which can be put back to how they were kept."""

    def __init__(self, file: Path) -> None:
        self._now = sqlite3.connect(file)
        self._then = sqlite3.connect(":memory:")
        self._seen: tuple[int, str] = (-1, "")
        self._kept = ""

    def keep(self) -> None:
        """Remember them as they stand."""
        self._now.backup(self._then)
        self._kept = self.digest()

    def stand(self) -> bool:
        """Whether they are as they were kept."""
        return self.digest() == self._kept

    def back(self) -> None:
        """Put them back."""
        if not self.stand():
            self._then.backup(self._now)
            self._seen = (-1, "")

    def close(self) -> None:
        self._now.close()
        self._then.close()

    def digest(self) -> str:
        """A digest of all rows that requests may change; taken anew where somebody has written."""
        (version,) = self._now.execute("PRAGMA data_version").fetchone()
        if version != self._seen[0]:
            names = self._now.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            rows = [self._rows(name) for (name,) in names.fetchall() if name not in APART]
            self._seen = version, hashlib.sha256("\n".join(rows).encode()).hexdigest()
        return self._seen[1]

    def _rows(self, name: str) -> str:
        found = self._now.execute(f'SELECT {KEPT.get(name, "*")} FROM "{name}"').fetchall()
        return f"{name} {sorted(map(repr, found))}"


@dataclass
class Site:
    """Premises that are asked, and can be put back to where it was."""

    premises: Premises
    client: TestClient
    rows: Rows
    places: dict[str, Place] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    logins: dict[str, str] = field(default_factory=dict)

    def values(self, where: str) -> Values:
        if where == NOTHING:
            return NOWHERE
        apart = {"person": ("vera",), "login": (self.logins["lars"],)}
        if where == SHUT:
            apart = {"login": (self.logins["ada"],)}
        return {**self.places[where].values(), **(apart if where in (OWN, SHUT) else {})}

    def again(self) -> None:
        """Put rows and uploads back."""
        self.rows.back()
        for place in self.places.values():
            if not any(self.premises.settings.uploads.glob(f"*{place.token}/*")):
                url = f"/api/projects/{place.things.project}/uploads/{place.token}/found.csv"
                headers = {**WRITE, "cookie": self.cookies["ada"]}
                assert self.client.put(url, content=FOUND, headers=headers).status_code == 201


@contextmanager
def opened(home: Path) -> Iterator[Site]:
    """Premises of their own, in which nobody but admins may enter the shut project."""
    premises = server.open_premises(Settings(home=home), with_accounts=True)
    with TestClient(server.create(premises), base_url=HERE, follow_redirects=False) as client:
        site = Site(premises, client, Rows(home / "loupe.db"))
        _people(site)
        for at, word in enumerate((OWN, OTHER, SHUT)):
            pictures = [_renamed(one, word) for one in samples.draw(premises.files, "pcb", 3, at)]
            with premises.write() as session:
                project = samples.create(session, f"{word} boards", "pcb", pictures)
                site.places[word] = _lay(session, project.id, word)
            _finish(premises, site.places[word])
        site.rows.keep()
        site.again()
        yield site
        site.rows.close()
    premises.database.close()


def body(at: Place, name: str) -> Any:
    """What somebody who means it sends to a route."""
    it = at.things
    return {
        **_of_project(at),
        "PUT /api/images/{image}/boxes": _sheet(at),
        "PUT /api/runs/{run}/repeats/{image}": _sheet(at),
        "POST /api/images/{image}/restore": {"version": at.version, "revision": 1},
        "POST /api/runs/{run}/take": {"holder": "mine"},
        "POST /api/runs/{run}/renew": {"holder": "mine"},
        "POST /api/runs/{run}/give-back": {"holder": "mine"},
        "POST /api/runs/{run}/sweep": {"holder": "mine", "label": "spur"},
        "POST /api/runs/{run}/decide": {
            "items": [{"image": it.images[0], "idx": 0, "verdict": "accept"}]
        },
        "POST /api/searches/{search}/more": {"trials": 2},
        "POST /api/searches/{search}/trials/{trial}/train": {"epochs": 2},
        "POST /api/models/{model}/evaluate": {"against": "v2"},
        "PATCH /api/people/{person}": {"role": "labeler"},
        "PUT /api/doubts/{doubt}": {"answer": "dismissed"},
    }.get(name)


def _sheet(at: Place) -> dict[str, Any]:
    it, image = at.things, at.things.images[0]
    ref = {"run": it.run, "image": image, "idx": 0}
    box = {"x1": 4, "y1": 4, "x2": 20, "y2": 20, "label": CLASS, "class_id": it.class_}
    return {
        "version": at.version,
        "boxes": [{"id": "c" * 32, **box, "detection": ref}],
        "run": it.run,
        "rejected": [1],
        "accepted": [],
        "label": CLASS,
    }


def _of_project(at: Place) -> dict[str, Any]:
    it = at.things
    source = {"images": [it.images[1], it.images[0]]}
    training = {"seed": 1, "start": "v1"}
    told = {
        "PUT members": {"members": ["lars", "vera"]},
        "PUT classes": {"classes": [*reversed(at.classes)]},
        "PUT review-rule": {"thresholds": {CLASS: 0.5}},
        "PUT detect/tiles": {"wish": "off"},
        "PUT training/grow": {"on": True},
        "POST classes": {"name": "new"},
        "POST classes/{class_}/merge": {"into": at.classes[0]},
        "POST detect": {"model": "v1", "source": source},
        "POST detect/propose": {"source": source},
        "POST detect/recall": {"model": "v1", "source": source},
        "POST detect/try": {"model": "v1"},
        "POST doubts": {},
        "POST export": {"format": "yolo", **source},
        "POST images/change": {**source, "action": "group", "value": "new"},
        "POST import": {"token": at.token},
        "POST judge": {"token": at.token, "model": "v1"},
        "POST remove": {"name": it.name},
        "POST searches": {"family": "yolo", "trials": 3, **training},
        "POST training": {"family": "yolo", **training},
        "POST training/check": {"family": "golden", **training},
        "POST training/glimpse": {"family": "yolo"},
    }
    return {name.replace(" ", " /api/projects/{project}/"): sent for name, sent in told.items()}


def _people(site: Site) -> None:
    for name, role in PEOPLE.items():
        with site.premises.write() as session:
            people.add(session, name, role, PASSWORD)
        site.client.cookies.clear()
        log_in(site.client, name)
        jar = site.client.cookies.jar
        site.cookies[name] = "; ".join(f"{one.name}={one.value}" for one in jar)
        site.logins[name] = site.client.get("/api/logins").json()[0]["id"]
    site.client.cookies.clear()


def _renamed(one: NewImage, word: str) -> NewImage:
    golden = f"{word} {one.golden}" if one.golden else ""
    return replace(one, name=f"{word} {one.name}", golden=golden, group=f"{word} lot")


def _lay(session: Session, project: int, word: str) -> Place:
    hand = f"{word} hand"
    classes.add(session, project, f"{word} flaw")
    things = furnish(session, project, f"{word} boards", hand)
    for number in range(2, MODELS[word] + 1):
        made = registry.add(
            session, project, "yolo", classes=(CLASS,), snapshot_id=things.snapshot, parameters={}
        )
        registry.complete(session, made.id, f"{number}" * 64, {})
    images.set_split(session, [things.images[1]], Split.VAL)  # which a search needs
    if word == SHUT:
        members.choose(session, project, [])
    jobs = {
        kind: queue.enqueue(session, one, author="lars", key=f"key {word}").id
        for kind, one in _requests(things).items()
    }
    sheet = decisions.Sheet(labelling.version_of(session, things.images[1]), (), key=f"key {word}")
    decisions.save(session, things.images[1], sheet, hand)
    version = labelling.version_of(session, things.images[0])
    own = tuple(one.id for one in classes.of(session, project))
    return Place(
        things, version, own, {**jobs, "job": things.job}, word[0].encode().hex() * 16, word
    )


def _requests(it: Things) -> dict[str, kinds.Request]:
    """A job of each kind that a key may name."""
    return {
        "export": kinds.Export(it.project, "yolo"),
        "try": kinds.Try(it.project, "golden"),
        "glimpse": kinds.Glimpse(it.project, "yolo"),
        "detect": kinds.Detect(it.project, "golden", source={"images": [it.images[0]]}),
        "propose": kinds.Propose(it.project, "golden", source={"images": [it.images[0]]}),
        "training": kinds.Train(it.project, it.model, it.snapshot, "yolo"),
    }


def _finish(premises: Premises, place: Place) -> None:
    """The export has left its file, and no training waits."""
    premises.settings.exports.mkdir(parents=True, exist_ok=True)
    (premises.settings.exports / f"{place.jobs['export']}.zip").write_bytes(b"zip")
    with premises.write() as session:
        for kind in ("export", "training"):
            row = session.get_one(JobRow, place.jobs[kind])
            row.state, row.result = JobState.DONE, {"file": f"{place.word}.zip"}
