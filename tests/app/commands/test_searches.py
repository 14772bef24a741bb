"""Searches at the command line: begun, refused in a sentence, told in few lines or one document."""

from __future__ import annotations

import pytest

from app import terminal
from backend import settings
from backend.domain import TrialState
from backend.jobs import drivers
from backend.models import searches, trials
from backend.storage import engine
from tests.app.conftest import Said


def begin(loupe: Said, *more: str) -> dict[str, object]:
    loupe.json("sample", "demo", "--images", "12")
    begun: dict[str, object] = loupe.json(
        "tune", "demo", "--family", "golden", "--trials", "50", "--seed", "1", *more
    )
    return begun


def tried(count: int) -> None:
    """Trials as a worker would have left them; every fifth has failed."""
    database = engine.connect(settings.current())
    with database.write.begin() as session:
        search = searches.get(session, 1)
        for number in range(count):
            found = trials.draw(session, search, trials.of_search(session, 1))
            assert found is not None
            trials.epoch(session, found, 1, {"map50": number / count}, 1.0)
            if number % 5 == 4:
                trials.end(session, found, TrialState.FAILED, error="There was no room. " * 5)
            else:
                trials.end(session, found, TrialState.DONE, value=number / count)
    database.close()


def test_a_search_is_begun_and_its_trials_are_one_document(loupe: Said) -> None:
    begun = begin(loupe)
    assert (begun["state"], begun["trials"]) == ("queued", [])
    tried(5)
    told = loupe.json("trials", "demo", "--search", "1")
    assert [one["state"] for one in told["trials"]] == ["done"] * 4 + ["failed"]
    assert told["trials"][0]["parameters"] == {}
    assert told["trials"][1]["epochs"] == [{"epoch": 1, "map50": 0.2}]


def test_fifty_trials_are_told_in_at_most_sixty_lines(loupe: Said) -> None:
    begin(loupe)
    tried(50)
    code, out, _ = loupe("trials", "demo")
    assert (code, len(out.splitlines()) <= 60) == (0, True)
    assert "10 trials failed, 4: There was no room." in out
    assert "0.960" in out


def test_a_search_is_made_longer_and_stopped(loupe: Said) -> None:
    begin(loupe)
    assert loupe("trials", "demo", "--more", "10")[0] == 0
    database = engine.connect(settings.current())
    with database.read() as session:
        assert searches.get(session, 1).trials == 60
    assert loupe("trials", "demo", "--stop")[0] == 0
    with database.read() as session:
        assert searches.get(session, 1).stopping
    database.close()
    assert "has no trial 7" in loupe("trials", "demo", "--stop-trial", "7")[2]
    assert "add trials" in loupe("trials", "demo", "--more-hours", "1")[2]


def test_a_search_that_makes_no_sense_is_one_sentence(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "12")
    wrong = ("tune", "demo", "--family", "golden")
    assert "needs a budget" in loupe(*wrong)[2]
    assert "no device 'tpu'" in loupe(*wrong, "--trials", "3", "--device", "tpu")[2]
    assert "memory_gb must be" in loupe(*wrong, "--trials", "3", "--memory", "9999")[2]
    assert "is reversed" in loupe(*wrong, "--trials", "3", "--space", "tolerance=3..1")[2]
    assert "no parameter 'lr" in loupe(*wrong, "--trials", "3", "--space", "lrr=1..3")[2]
    assert "has no search yet" in loupe("trials", "demo")[2]
    assert {loupe(*wrong)[0], loupe("trials", "demo")[0]} == {1}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--space", "tolerance=3..3"), "empty"),
        (("--space", "tolerance=3..1"), "reversed"),
        (("--space", "mosaic=0..1"), "golden has no parameter 'mosaic'"),
        (("--trials", "0"), "needs a budget"),
        (("--device", "gpu"), "no machine here has one: ask for the device cpu"),
        (("--share", "0.5", "--device", "cpu"), "a part of a card, and the device is cpu"),
        (("--method", "brave"), "There is no method 'brave'"),
    ],
)
def test_nonsense_is_one_sentence_before_anything_begins(
    loupe: Said, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr(drivers, "DRIVERS", ())
    loupe.json("sample", "demo", "--images", "12")
    code, out, told = loupe("tune", "demo", "--family", "golden", "--trials", "3", *more)
    assert (code, out) == (1, "")
    assert sentence in " ".join(told.split())
    assert (loupe.json("jobs"), loupe.json("models", "demo")) == ([], [])


def test_who_waits_for_a_search_sees_one_line_whatever_comes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with terminal.share("Search (job 1)", quiet=False) as told:
        for number in range(500):
            told(number / 500, f"Trial {number // 10} of 50: Epoch {number % 10}")
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines()) <= 2) == ("", True)
