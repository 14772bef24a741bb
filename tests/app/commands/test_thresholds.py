"""`loupe threshold`: what a person is told of thresholds, and what becomes the project's rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from backend.domain import Detection, RunImage, Split
from backend.labels import images
from backend.labels.images import NewImage
from backend.review import views
from backend.storage import engine, findings
from tests.app.conftest import Said
from tests.backend.review import measured

CHEAP = ("threshold", "line", "--model", "v1", "--escape-cost", "40")


@pytest.fixture
def line(loupe: Said, home: Path) -> Said:
    loupe("projects")
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    with database.write.begin() as session:
        measured.lay(session)
    database.close()
    return loupe


def test_thresholds_are_chosen_on_validation_and_told_of_test(line: Said) -> None:
    told = line.json(*CHEAP)
    assert told["thresholds"] == {"spur": pytest.approx(0.5)}
    assert (told["validation"]["boards"], told["validation"]["escapes"]) == (4, 1)
    assert (told["test"]["boards"], told["test"]["escapes"]) == (2, 1)
    assert told["applied"] is False


def test_a_class_without_a_defect_in_validation_keeps_what_the_rule_says(
    line: Said, home: Path
) -> None:
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    with database.write.begin() as session:
        views.set_rule(session, 1, {"thresholds": {"short": 0.25}}, 0, "ana")
        seen = Detection(*measured.ELSEWHERE, "short", 0.2)
        findings.record(session, measured.RUN, [_more(session, Split.VAL, seen)])
        findings.record(session, measured.RUN, [_more(session, Split.TEST, seen)])
    database.close()
    told = line.json(*CHEAP, "--apply")
    assert told["thresholds"] == {"spur": pytest.approx(0.5)}
    assert told["kept"] == {"short": 0.25}
    assert (told["validation"]["false_calls"], told["test"]["false_calls"]) == (0, 1)
    with engine.open_url(f"sqlite:///{home / 'loupe.db'}").read.begin() as session:
        assert views.rule(session, 1)["thresholds"]["short"] == 0.25


def _more(session: Session, split: Split, seen: Detection) -> RunImage:
    """A good board of a split, on which the model has found this."""
    new = [NewImage(f"more {split}", "1" * 64, 99, 99, labelled=True, split=split)]
    images.add(session, 1, new, "ana")
    image = images.find(session, 1, new[0].name)
    return RunImage(image.id, image.name, detections=(seen,))


def test_a_threshold_that_is_applied_is_the_rule(line: Said, home: Path) -> None:
    code, said, _ = line(*CHEAP, "--apply")
    assert code == 0
    assert "1 of 4 defects escape" in said
    assert "It is the project's rule now." in said
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    with database.read.begin() as session:
        rule = views.rule(session, 1)
    database.close()
    assert rule["thresholds"] == {"spur": pytest.approx(0.5)}
    assert rule["version"] == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--escapes", "1%"), "at least 299 defects must be seen in validation"),
        (("--escapes", "all"), "--escapes all is no share: use 1% or .01."),
        (("--escape-cost", "dear"), "--escape-cost dear is no sum"),
        (("--escape-cost", "nan"), "--escape-cost nan is no sum"),
        (("--review-seconds", "inf"), "--review-seconds inf is no sum"),
        (("--escape-cost", "hole=3"), "names 'hole'; the classes are spur, short."),
    ],
)
def test_what_cannot_be_promised_or_read_is_a_sentence(
    line: Said, options: tuple[str, ...], sentence: str
) -> None:
    code, out, error = line("threshold", "line", "--model", "v1", *options, "--apply")
    assert (code, out) == (1, "")
    assert sentence in error.replace("\n", " ")
