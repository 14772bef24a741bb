"""A model goes into Snowflake's registry once, by Snowflake's own library; nobody else is told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from backend.domain import Task
from backend.errors import Invalid, LoupeError, Refused
from backend.jobs import kinds, queue
from backend.models import registry
from backend.projects import catalogue
from backend.warehouse.address import Address
from backend.warehouse.inside import versions
from tests import overhearing, warehouses
from tests.warehouses import Place as Warehouse
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.packages import subjects

PATIENCE = 540.0  # seconds; twenty where nobody else works
CHILD = "tests.workers.packages.registering"
SENDER = "tests.workers.packages.sending"
HOSTILE = "$$; DROP MODEL boards; --"


@pytest.fixture
def place(tmp_path: Path, emulator: int) -> Warehouse:
    """A schema with no model in it."""
    return warehouses.place("snowflake", tmp_path, port=emulator)


def trained(home: Place, folder: Path, weights: Path) -> kinds.Register:
    """A project whose v1 is ready; asks for its registration, with a service."""
    subject = subjects.make("classifier", folder, weights)
    assert subject.source.weights is not None
    kept = home.files.put_file(subject.source.weights)
    with home.database.write.begin() as session:
        classes = [HOSTILE, *subject.classes[1:]]
        project = catalogue.create(session, HOSTILE, task=Task.CLASSIFY, classes=classes)
        made = registry.add(
            session, project.id, "classifier", classes=tuple(classes), snapshot_id=None,
            parameters={}, author=HOSTILE,
        )  # fmt: skip
        registry.complete(session, made.id, kept, {"accuracy": 0.75})
    return kinds.Register(project.id, made.id, "boards", "POOL1")


@pytest.mark.slow
def test_a_version_is_registered_once_and_told_to_nobody_else(
    place: Warehouse, tmp_path: Path, weights: Path
) -> None:
    request = trained(home := places.make(tmp_path / "home"), tmp_path, weights)
    home.database.close()
    asked = tmp_path / "asked"
    more = {"LOUPE_HOME": str(home.settings.home), "LOUPE_WAREHOUSE_URL": place.url}
    ran = subprocess.run(
        [sys.executable, "-m", CHILD, json.dumps(kinds.encode(request))],
        env={**overhearing.environment(asked), **place.environment, **more},
        capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    first, second, third = json.loads(ran.stdout.splitlines()[-1])
    result = json.loads(first)
    assert json.loads(third) == result
    assert result["registered"] == f"{place.database.upper()}.S1.BOARDS"
    assert "compute_pool: POOL1" in result["service"]
    assert "BOARDS V1 is in" in second
    ((name, comment, metadata, _, spec, _),) = place.ask(
        f"SHOW VERSIONS IN MODEL {result['registered']}"
    )
    told = json.loads(metadata)["metrics"]
    assert (name, told["accuracy"]) == ("V1", 0.75)
    assert HOSTILE.replace("$", "＄") in comment
    assert HOSTILE.replace("$", "＄") in [one["name"] for one in told["provenance"]["classes"]]
    assert "name: IMAGE" in spec
    assert overhearing.heard(asked) == []
    assert not list((home.settings.home / "jobs").rglob("graph.onnx"))
    assert not re.search(warehouses.SECRET.encode(), ran.stdout + ran.stderr)


@pytest.mark.slow
def test_who_is_killed_while_a_version_is_made_finds_it_and_completes_it(
    place: Warehouse, emulator_log: Path
) -> None:
    held, made = (emulator_log.with_name(one) for one in ("unanswered", "made"))
    made.unlink(missing_ok=True)
    held.write_text("KILLED")
    try:
        with start(place, "killed 7 pandas") as child:
            while not made.exists():
                assert child.poll() is None
                time.sleep(0.05)
            child.kill()
    finally:
        held.unlink()
    assert told_of(place, "KILLED") == ("", {})
    with start(place, "killed 7 pandas", "killed 8 pandas", "other 9 (no)requirement") as child:
        said, _ = child.communicate(timeout=PATIENCE)
    first, second, refused = json.loads(said.splitlines()[-1])
    assert first == f"{place.database.upper()}.S1.KILLED"
    assert second.startswith(f"KILLED V1 is in {place.database.upper()}.S1 already, and a version")
    assert told_of(place, "KILLED") == ("a comment", {"tried": 1.0, "provenance": {"job": 7}})
    assert refused.startswith("Snowflake does not take it: ")
    assert "loupe warehouse check tells more" in refused


def start(place: Warehouse, *said: str) -> subprocess.Popen[bytes]:
    """Put small versions there, in a process of its own; each a name, a job, a requirement."""
    home = {"LOUPE_WAREHOUSE_URL": place.url}
    environment = {**os.environ, **place.environment, **home}
    command = [sys.executable, "-W", "ignore", "-m", SENDER, *" ".join(said).split()]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)


def told_of(place: Warehouse, model: str) -> tuple[str, dict[str, Any]]:
    """The comment and the figures of its one version."""
    asked = f"SHOW VERSIONS IN MODEL {place.database}.S1.{model}"
    ((_, comment, metadata, *_),) = place.ask(asked)
    return comment, json.loads(metadata).get("metrics", {})


def test_what_cannot_be_registered_is_said_before_anything_starts(place: Warehouse) -> None:
    for name, pool in (("a b", ""), ("1a", ""), ("a;b", ""), ("a", "x y"), ("n" * 256, "")):
        with pytest.raises(Invalid):
            versions.check(place.address, name, pool)
    assert versions.check(place.address, "n" * 255).dialect == "snowflake"
    for other in (None, Address("sqlite", place.address.url)):
        with pytest.raises(Refused, match="LOUPE_WAREHOUSE_URL"):
            versions.check(other, "boards")


def test_a_service_whose_name_would_be_too_long_is_refused(place: Warehouse) -> None:
    assert versions.check(place.address, "n" * 252, "pool", "v1").dialect == "snowflake"
    assert versions.check(place.address, "n" * 253, "", "v1").dialect == "snowflake"
    with pytest.raises(Invalid, match="a name of 256 characters; Snowflake takes 255"):
        versions.check(place.address, "n" * 253, "pool", "v1")


def test_a_model_that_is_not_ready_is_not_registered(tmp_path: Path) -> None:
    home = places.make(tmp_path / "home")
    with home.database.write.begin() as session:
        project = catalogue.create(session, "boards", task=Task.CLASSIFY, classes=["a"])
        made = registry.add(
            session, project.id, "classifier", classes=("a",), snapshot_id=None,
            parameters={}, author="ana",
        )  # fmt: skip
        queue.enqueue(session, kinds.Register(project.id, made.id, "boards", ""))
    with pytest.raises(LoupeError, match="v1 is not ready"):
        home.carry_out(home.claim())
    home.database.close()


@dataclass
class Library:
    """What Snowflake's library shows of a registry in which somebody else is quicker."""

    quicker: tuple[str, str]
    there: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    location: str = "D.S"
    said: list[str] = field(default_factory=list)
    noted: str = '{"metrics": {"provenance": {"job": 1}}}'

    def version(self, name: str) -> Library:
        self.said.append(name)
        return self

    def create_service(self, *, service_name: str, service_compute_pool: str, **_: object) -> None:
        if service_compute_pool == "NONE":
            raise ValueError("There is no such pool.")
        self.said.append(f"made {service_name}")

    def run(self, rows: pd.DataFrame, *, service_name: str, **_: object) -> pd.DataFrame:
        if rows.empty:
            raise ValueError("It has nothing to look at.")
        return pd.DataFrame({"RESULT": [service_name]})

    def delete_service(self, name: str) -> None:
        if f"made {name}" not in self.said:
            raise ValueError("There is no such service.")
        self.said.append(f"gone {name}")

    def set_metric(self, name: str, _: object) -> None:
        self.said.append(name)

    def show_models(self) -> pd.DataFrame:
        return pd.DataFrame({"name": list(self.there)})

    def get_model(self, name: str) -> Library:
        return replace(self, there=self.there[name.upper()])  # type: ignore[arg-type]

    def show_versions(self) -> pd.DataFrame:
        return pd.DataFrame(list(self.there.values()))

    def log_model(self, model: object, *, model_name: str, version_name: str, **_: object) -> None:
        name, version = self.quicker
        if name not in self.there:
            told = {"name": version, "metadata": self.noted}
            self.there[name] = {version: {**told, "model_spec": "weights-other.json"}}
            raise ValueError(f"Object '{name}' already exists.")
        made = {"name": version_name.upper(), "metadata": "{}", "model_spec": str(model)}
        self.there[model_name.upper()][version_name.upper()] = made


def test_of_two_that_register_at_once_each_version_is_made_once(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    asked = versions.Version("boards", "v2", "it", "weights-a.json", tmp_path / "code", (), {}, "")
    library = Library(("BOARDS", "V1"))
    assert versions.Registry(library).log(asked, 7) == "D.S.BOARDS"
    assert set(library.there["BOARDS"]) == {"V1", "V2"}
    library = Library(("BOARDS", "V2"))
    with pytest.raises(Refused, match=r"BOARDS V2 is in D\.S already"):
        versions.Registry(library).log(asked, 7)


def test_a_version_that_was_made_before_something_went_wrong_is_completed(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    figures = {"provenance": {"job": 7}}
    origin, code = "weights-other.json", tmp_path / "code"
    asked = versions.Version("boards", "v2", "it", origin, code, (), figures, "")
    library = Library(("BOARDS", "V2"), noted="{}")
    assert versions.Registry(library).log(asked, 7) == "D.S.BOARDS"
    assert library.said == ["v2", "provenance"]


def test_a_service_that_is_tried_goes_again_whatever_comes_of_it() -> None:
    library = Library(("", ""), {"BOARDS": {}})
    there = versions.Registry(library)
    found = there.serve("boards", "v1", "POOL", pd.DataFrame({"IMAGE": [b"x"]}))
    assert list(found["RESULT"]) == ["boards_v1"]
    with pytest.raises(ValueError, match="nothing to look at"):
        there.serve("boards", "v1", "POOL", pd.DataFrame({"IMAGE": []}))
    assert library.said == ["v1", "made boards_v1", "gone boards_v1"] * 2
    there = versions.Registry(Library(("", ""), {"BOARDS": {}}))
    with pytest.raises(ValueError, match="no such pool"):
        there.serve("boards", "v1", "NONE", pd.DataFrame({"IMAGE": [b"x"]}))
