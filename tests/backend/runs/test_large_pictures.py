"""A project keeps how its large pictures are looked at."""

from __future__ import annotations

import pytest

from backend.domain import Project, Task
from backend.errors import Invalid
from backend.projects import catalogue, large_pictures
from backend.runs import detection
from backend.storage.engine import Database


@pytest.fixture
def project(database: Database) -> Project:
    with database.write.begin() as session:
        return catalogue.create(session, "boards", Task.DETECT, ("open",))


def test_what_a_project_wants_is_kept(database: Database, project: Project) -> None:
    with database.write.begin() as session:
        assert large_pictures.wish(session, project.id) == "auto"
        large_pictures.choose(session, project.id, "on")
    with database.read() as session:
        assert large_pictures.wish(session, project.id) == "on"


def test_an_unknown_way_is_refused_with_those_there_are(
    database: Database, project: Project
) -> None:
    with database.write.begin() as session:
        with pytest.raises(Invalid, match=r"'often'; there are auto \(in tiles .*; off .*; on"):
            large_pictures.choose(session, project.id, "often")
        with pytest.raises(Invalid, match="'often'"):
            detection.ask(session, project.id, "golden", options={"tiles": "often"})
