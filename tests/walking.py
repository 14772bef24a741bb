"""Ten people who do at random, over HTTP, what a project allows, while the server is killed."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx

from backend.domain import Detection, Run, RunImage
from backend.labels import gallery, samples
from backend.storage import findings, types
from backend.storage.engine import Database
from backend.storage.files import Files

PEOPLE = 10
PROJECT = "boards"
RUN = 1_000_000  # no job of the walk comes so far
Said = dict[str, Any]


@dataclass
class Walker:
    """One person, whose every step is drawn by dice of their own."""

    number: int
    seed: int
    url: str
    runs: Sequence[int]
    stopping: threading.Event
    work: bool = False
    said: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def walk(self) -> None:
        """Take steps until told to stop."""
        self.dice = random.Random(self.seed * 1000 + self.number)
        steps = dict(self.steps())
        with httpx.Client(base_url=f"{self.url}/api", timeout=60, headers={"X-Loupe": "1"}) as asks:
            self.asks = asks
            while not self.stopping.wait(self.dice.uniform(0, 0.1)):
                [step] = self.dice.choices(list(steps), list(steps.values()))
                try:
                    step()
                except httpx.HTTPError:  # killed just now; the browser would say so and wait
                    self.said["no answer"] += 1
                    time.sleep(0.2)

    def steps(self) -> Sequence[tuple[Callable[[], object], float]]:
        """What a person does, and how often."""
        label = [(self.save, 20), (self.restore, 8), (self.undo, 6), (self.review, 20)]
        many = [(self.sweep, 8), (self.put_away, 3), (self.bring_back, 3), (self.mark, 3)]
        rare = [(self.rename, 2), (self.merge, 0.5), (self.add_class, 0.7), (self.reorder, 0.5)]
        ask = partial(self._post, "purge", f"/projects/{PROJECT}/purge")
        work: list[tuple[Callable[[], object], float]] = [(ask, 0.5)]
        work += [(self.retrain, 0.4), (self.detect, 0.4), (self.promote, 0.5)]
        return [*label, *many, *rare, *(work if self.work else ())]

    def save(self) -> None:
        """Draw, drop or move a box."""
        item = self._item()
        if item is None:
            return
        boxes = [one for one in item["boxes"] if self.dice.random() < 0.8]
        x, y = self.dice.uniform(0, 500), self.dice.uniform(0, 500)
        new = {"id": "", "x1": x, "y1": y, "x2": x + 30, "y2": y + 20, "label": self._label()}
        state = self.dice.choice((None, "done", "started", "skipped"))
        body = {"version": item["version"], "boxes": [*boxes, new], "state": state}
        self._tell("save", "PUT", f"/images/{item['id']}/boxes", body)

    def restore(self) -> None:
        """Bring an earlier revision back."""
        item = self._item()
        if item and item["version"] > 1:
            body = {"version": item["version"], "revision": self.dice.randint(1, item["version"])}
            self._post("restore", f"/images/{item['id']}/restore", body)

    def undo(self) -> None:
        """Take the last decision of a run back, as Z does."""
        run = self.dice.choice(self.runs)
        past = self._get(f"/runs/{run}/undo")
        if past and past.get("past"):
            image, sheet = past["image"], past["past"][-1]
            now = self._get(f"/runs/{run}/images/{image}")
            if now:
                body = {**sheet, "version": now["items"][0]["version"], "run": run}
                body |= {"review": True, "action": "undo", "verdict": sheet.get("verdict") or ""}
                self._tell("undo", "PUT", f"/images/{image}/boxes", body)

    def review(self) -> None:
        """Take the next image of a run, and judge its detections and the board."""
        run = self.dice.choice(self.runs)
        taken = self._post("take", f"/runs/{run}/take", {"holder": f"tab {self.number}"})
        for item in (taken or {"items": []})["items"][:2]:
            found = item["proposals"]
            kept = [one for one in found if self.dice.random() < 0.5]
            boxes = [*item["boxes"], *(self._taken(run, item["id"], one) for one in kept)]
            refused = [one["idx"] for one in found if one not in kept]
            body = {
                "version": item["version"], "boxes": boxes, "run": run, "rejected": refused,
                "accepted": [], "review": True, "state": "done", "seconds": 1.5,
                "verdict": self.dice.choice(("pass", "fail", "")),
            }  # fmt: skip
            self._tell("review", "PUT", f"/images/{item['id']}/boxes", body)

    def sweep(self) -> None:
        """Judge a stretch of the wall."""
        run = self.dice.choice(self.runs)
        wall = self._get(f"/runs/{run}/wall?label={self._label()}&limit=24")
        verdict = self.dice.choice(("accept", "false_call", ""))
        items = [
            {"image": one["image"], "idx": one["idx"], "verdict": verdict}
            for one in (wall or {"tiles": []})["tiles"]
        ]
        if items:
            key = f"{self.number}-{self.dice.random()}"
            self._post("sweep", f"/runs/{run}/decide", {"items": items, "key": key})

    def put_away(self) -> None:
        self._change("delete", images=self._some())

    def bring_back(self) -> None:
        if self.dice.random() < 0.5:
            self._post("bring back all", f"/projects/{PROJECT}/bring-back")
        else:
            self._change("restore", images=self._some())

    def mark(self) -> None:
        """Change state, split or lot of many images."""
        action, values = self.dice.choice(
            [("state", ("done", "new", "skipped")), ("split", ("train", "val", "test", ""))]
        )
        self._change(action, self.dice.choice(values), self._some())

    def rename(self) -> None:
        chosen = self.dice.choice(self._classes())
        name = f"class {self.dice.randrange(10**6)}"
        path = f"/projects/{PROJECT}/classes/{chosen['id']}"
        self._tell("rename", "PATCH", path, {"name": name})

    def merge(self) -> None:
        found = self._classes()
        if len(found) > 3:
            one, other = self.dice.sample(found, 2)
            path = f"/projects/{PROJECT}/classes/{one['id']}/merge"
            self._post("merge", path, {"into": other["id"]})

    def add_class(self) -> None:
        body = {"name": f"new {self.dice.randrange(10**6)}"}
        self._post("add class", f"/projects/{PROJECT}/classes", body)

    def reorder(self) -> None:
        found = [one["id"] for one in self._classes()]
        self.dice.shuffle(found)
        self._tell("reorder", "PUT", f"/projects/{PROJECT}/classes", {"classes": found})

    def retrain(self) -> None:
        self._post("retrain", f"/projects/{PROJECT}/training", {"family": "golden"})

    def detect(self) -> None:
        self._post("detect", f"/projects/{PROJECT}/detect", {"model": "golden"})

    def promote(self) -> None:
        """Make any model the champion."""
        ready = [one for one in self._list("/models") if one["state"] == "ready"]
        if ready:
            chosen = self.dice.choice(ready)
            self._post("promote", f"/models/{chosen['id']}/promote")

    def _taken(self, run: int, image: int, found: Said) -> Said:
        corners = {name: found[name] for name in ("x1", "y1", "x2", "y2", "label")}
        return {**corners, "id": "", "detection": {"run": run, "image": image, "idx": found["idx"]}}

    def _item(self) -> Said | None:
        page = self._get(f"/projects/{PROJECT}/images?limit=100")
        return self.dice.choice(page["items"]) if page and page["items"] else None

    def _some(self) -> list[int]:
        page = self._get(f"/projects/{PROJECT}/images?limit=100")
        ids = [one["id"] for one in (page or {"items": []})["items"]]
        return self.dice.sample(ids, min(len(ids), self.dice.randint(1, 4)))

    def _classes(self) -> list[Said]:
        project = self._get(f"/projects/{PROJECT}")
        return project["classes"] if project else [{"id": 0, "name": "none"}]

    def _label(self) -> str:
        return str(self.dice.choice(self._classes())["name"])

    def _list(self, what: str) -> list[Said]:
        found: Any = self._get(f"/projects/{PROJECT}{what}")
        return list(found or [])

    def _change(self, action: str, value: str = "", images: Sequence[int] = ()) -> None:
        if images:
            body = {"images": list(images), "action": action, "value": value}
            self._post(action, f"/projects/{PROJECT}/images/change", body)

    def _get(self, path: str) -> Said | None:
        return self._tell("look", "GET", path, None)

    def _post(self, what: str, path: str, body: Said | None = None) -> Said | None:
        return self._tell(what, "POST", path, body or {})

    def _tell(self, what: str, how: str, path: str, body: Said | None) -> Said | None:
        answer = self.asks.request(how, path, json=body)
        self.said[f"{what} {answer.status_code}"] += 1
        if answer.status_code >= 500:
            self.failures.append(f"{how} {path}: {answer.status_code} {answer.text[:300]}")
        return answer.json() if answer.is_success else None


def fill(database: Database, files: Files, images: int = 12) -> list[int]:
    """A project of drawn boards, and a run over them; gives the run."""
    drawn = samples.draw(files, "pcb", images, seed=3)
    with database.write.begin() as session:
        project = samples.create(session, PROJECT, "pcb", drawn)
        findings.start(session, Run(RUN, "v1", "yolo", types.now(), project.id))
        names = [one.name for one in project.classes]
        seen = [
            RunImage(id_, str(id_), detections=tuple(_found(random.Random(id_), names)))
            for id_ in gallery.ids(session, project.id, gallery.Filter())
        ]
        findings.record(session, RUN, seen)
        findings.finish(session, RUN, 1.0, {})
    return [RUN]


def _found(dice: random.Random, names: list[str]) -> list[Detection]:
    places = [(dice.uniform(0, 550), dice.uniform(0, 550)) for _ in range(6)]
    return [
        Detection(x, y, x + 40, y + 30, dice.choice(names), round(0.95 - idx / 8, 3), idx)
        for idx, (x, y) in enumerate(places)
    ]


def walk(
    url: str, runs: Sequence[int], seed: int, seconds: float, kill: Callable[[], None], kills: int,
    work: bool = False,
) -> list[Walker]:  # fmt: skip
    """Let ten people walk for so long, while the server is killed so often."""
    stopping = threading.Event()
    people = [Walker(n, seed, url, runs, stopping, work) for n in range(PEOPLE)]
    threads = [threading.Thread(target=one.walk) for one in people]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(seconds / (kills + 1))
        kill()
    time.sleep(seconds / (kills + 1))
    stopping.set()
    for thread in threads:
        thread.join()
    return people


def tell(people: Sequence[Walker]) -> None:
    """Say what was done, and what the server answered."""
    total: Counter[str] = sum((one.said for one in people), Counter())
    lines = "\n".join(f"{count:7,} {what}" for what, count in sorted(total.items()))
    failures = [one for person in people for one in person.failures]
    sys.stdout.write(f"{lines}\nfailures: {len(failures)} {failures[:3]}\n")
