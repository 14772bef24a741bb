"""`loupe doubts`: what a person is told of labels that are likely wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.jobs import queue
from backend.review.doubts.scoring import Kind
from backend.storage import engine
from tests.app.conftest import Said
from tests.backend.review.doubts import test_inbox


@pytest.fixture
def line(loupe: Said, home: Path) -> Said:
    loupe("projects")
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    with database.write.begin() as session:
        laid = test_inbox.lay(session)
        test_inbox.keep(session, laid, laid.raised(Kind.CLASS))
        queue.cancel(session, laid.job)
    database.close()
    return loupe


def test_what_was_found_the_last_time_is_listed(line: Said) -> None:
    told = line.json("doubts", "line", "--show")
    assert (told["doubts"], told["kinds"]) == (1, {"class": 1})
    (first,) = told["first"]
    assert (first["name"], first["kind"]) == ("a.png", "class")
    assert (first["label"]["class"], first["found"]["class"]) == ("open", "short")
    assert "1 label in doubt: class 1." in line("doubts", "line", "--show")[1]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--run", "77"), "There is no run 77"),
        (("--family", "second_stage"), "finds no boxes by itself"),
        (("--folds", "1"), "2 to 10 parts, not 1"),
        (("--predictions", "nowhere.json"), "There is no file nowhere.json"),
        (("--family", "golden"), "has a golden"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_starts(
    line: Said, options: tuple[str, ...], told: str
) -> None:
    code, _, said = line("doubts", "line", *options)
    assert code == 1
    assert told in said
