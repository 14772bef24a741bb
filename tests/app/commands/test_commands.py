"""What holds for every command there is, and for each that will be added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from app import cli
from app.commands import tools
from backend.jobs import queue
from backend.models import registry
from backend.storage import engine
from tests.app.conftest import Said

# They say in a sentence what they have done, or go on until they are told to end.
SENTENCES = {
    "cancel", "serve", "token remove", "user add", "user password", "user remove", "user role",
    "worker",
}  # fmt: skip
MAKES_PROJECTS = {"import", "sample"}
GIVEN = {"project": "nowhere", "into": "test", "family": "golden", "format_": "coco"}


def commands(group: Any = None, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each command with the words that call it."""
    group = group or typer.main.get_command(cli.cli)
    for name, command in group.commands.items():
        words = f"{path} {name}".strip()
        if hasattr(command, "commands"):
            yield from commands(command, words)
        else:
            yield words, command


EVERY = dict(commands())


def options(command: Any) -> set[str]:
    return {option for one in command.params for option in one.opts}


@pytest.mark.parametrize("words", EVERY)
def test_every_command_that_tells_something_tells_programs_too(words: str) -> None:
    assert ("--json" in options(EVERY[words])) is (words not in SENTENCES)


@pytest.mark.parametrize("words", EVERY)
def test_every_parameter_has_a_word_of_help(words: str) -> None:
    assert [one.name for one in EVERY[words].params if not getattr(one, "help", "")] == []


@pytest.mark.parametrize("words", EVERY)
def test_wrong_usage_of_every_command_is_exit_2(loupe: Said, words: str) -> None:
    code, out, _ = loupe(*words.split(), "--no-such-option")
    assert (code, out) == (2, "")


def test_who_calls_a_long_command_may_wait_for_its_end() -> None:
    waiting = {words for words, command in EVERY.items() if "--wait" in options(command)}
    assert waiting >= {"detect", "evaluate", "export", "import", "propose", "train"}


def required(command: Any, folder: Path) -> list[str]:
    """Values for all that a command must be given; of the project, one that is not there."""
    values = {**GIVEN, "out": str(folder / "new.zip")}
    given: list[str] = []
    for one in command.params:
        if one.required:
            value = values.get(one.name, "x")
            given += [one.opts[0], value] if one.param_type_name == "option" else [value]
    return given


@pytest.mark.parametrize(
    "words",
    [
        words
        for words, command in EVERY.items()
        if any(one.name == "project" and one.required for one in command.params)
        and words not in MAKES_PROJECTS
    ],
)
def test_a_project_that_is_not_there_is_one_sentence_and_exit_1(
    loupe: Said,
    tmp_path: Path,
    words: str,
) -> None:
    code, out, err = loupe(*words.split(), *required(EVERY[words], tmp_path))
    assert (code, out, len(err.strip().splitlines())) == (1, "", 1)
    assert err.endswith(".\n")


def test_the_version_is_told(loupe: Said) -> None:
    code, out, _ = loupe("--version")
    assert (code, out.split()[0]) == (0, "Loupe")


def test_classes_are_added_renamed_merged_and_put_in_order(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "3")
    before = [one["name"] for one in loupe.json("classes", "list", "demo")]
    loupe.json("classes", "add", "demo", "scratch")
    loupe.json("classes", "rename", "demo", "scratch", "long scratch")
    loupe.json("classes", "merge", "demo", "long scratch", before[0])
    turned = loupe.json("classes", "reorder", "demo", *reversed(before))
    assert [one["name"] for one in turned] == before[::-1]
    code, _, err = loupe("classes", "rename", "demo", "dust", "dirt")
    assert (code, "no class named 'dust'; there are" in err) == (1, True)


def test_images_are_given_a_split_and_lose_it_again(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "6")
    done = loupe.json("split", "demo", "test", "--state", "done")["images"]
    assert len(loupe.json("images", "demo", "--split", "test")) == done > 0
    loupe.json("split", "demo", "none")
    assert loupe.json("images", "demo", "--split", "test") == []


def test_a_project_is_given_to_its_members_and_opened_again(
    loupe: Said,
) -> None:
    loupe.json("sample", "demo", "--images", "1")
    assert loupe("user", "add", "ana", "--password", "long enough")[0] == 0
    assert loupe.json("members", "demo")["members"] is None
    assert loupe.json("members", "demo", "ana")["members"] == ["ana"]
    assert loupe("members", "demo", "ben")[:2] == (1, "")
    assert loupe.json("members", "demo", "--everybody")["members"] is None


def test_a_model_is_made_the_champion(loupe: Said, home: Path) -> None:
    loupe.json("sample", "demo", "--images", "1")
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    with database.write.begin() as session:
        for _ in range(2):
            made = registry.add(session, 1, "yolo", classes=(), snapshot_id=None, parameters={})
            registry.complete(session, made.id, "a" * 64, {})
    database.close()
    assert loupe.json("promote", "demo", "v1") == {"project": "demo", "champion": "v1"}
    assert loupe("promote", "demo", "v7")[0] == 1


def test_proposals_are_queued_for_new_images(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "3")
    assert loupe.json("propose", "demo") == {"job": 1, "state": "queued"}
    with tools.open_tools() as at, at.database.read.begin() as session:
        assert queue.get(session, 1).request["source"] == {"states": ["new"]}


def test_a_model_is_never_written_over_a_file(loupe: Said, tmp_path: Path) -> None:
    (tmp_path / "model.zip").write_text("mine")
    code, _, err = loupe("publish", "demo", str(tmp_path / "model.zip"))
    assert (code, "is there already" in err) == (1, True)
    assert (tmp_path / "model.zip").read_text() == "mine"
