"""The line that the tests of the overview look at."""

from __future__ import annotations

import pytest

from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import views
from backend.storage.engine import Database
from tests.backend.review.overview.lined import BOARDS, LABELS, SIDE, days, lay, people


@pytest.fixture
def line(database: Database) -> Database:
    """Boards of three lots and two days, of which some are labelled, judged, put away, broken."""
    with database.write.begin() as session:
        project = catalogue.create(session, "line").id
        kinds = {label: classes.ensure(session, project, label).id for label in LABELS}
        classes.edit(session, kinds["scratch"], severity=0)
        names = [f"{number:02}" for number in range(BOARDS)]
        new = [
            NewImage(name, name * 8, SIDE, SIDE, group=("", "A", "B")[int(name) % 3])
            for name in names
        ]
        images.add(session, project, new, "")
        days(session)
        rule = {"threshold": 0.5, "thresholds": {"short": 0.3}, "severity": 1, "repeats": 0.0}
        views.set_rule(session, project, rule, 0, "ana")
        lay(session, project)
        people(session)
    return database
