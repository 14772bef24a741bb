"""The command line: one document with --json, 0 on success, 1 with a sentence, 2 on wrong usage."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer.main

from app import cli
from app.commands import tools
from backend import settings
from backend.domain import Run
from backend.models import registry
from backend.storage import engine, findings
from tests.app.commands import finding
from tests.app.conftest import Said
from tests.backend.labels import drawn
from tests.homes import many


def test_a_sample_is_drawn_listed_and_counted(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "9")
    (row,) = loupe.json("projects")
    assert set(row) == {"name", "task", "images", "goldens", "boxes", "classes"}
    assert (row["images"], row["goldens"], row["boxes"]) == (9, 3, sum(row["classes"].values()))


def test_images_are_listed_by_state_and_class(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "9")
    done = loupe.json("images", "demo", "--state", "done")
    assert (len(done), {row["state"] for row in done}) == (6, {"done"})
    assert len(loupe.json("images", "demo", "--goldens")) == 3


def test_an_export_imports_again_with_the_same_counts(loupe: Said, tmp_path: Path) -> None:
    loupe.json("sample", "demo", "--images", "6")
    out = str(tmp_path / "out")
    written = loupe.json("export", "demo", out, "--format", "coco")
    read = loupe.json("import", "again", out)
    assert (read["images"], read["goldens"], read["boxes"]) == (
        written["images"], written["goldens"], written["boxes"],
    )  # fmt: skip
    assert loupe.json("import", "again", out)["images"] == 0


def test_boxes_that_an_export_leaves_out_are_told(loupe: Said, tmp_path: Path) -> None:
    loupe.json("sample", "demo", "--images", "6")
    code, _, err = loupe("export", "demo", str(tmp_path / "out"), "--format", "folders")
    assert (code, "folders carries no boxes (left out: " in err) == (1, True)


def test_an_export_says_what_stays_and_shares_out_what_leaves(loupe: Said, tmp_path: Path) -> None:
    loupe.json("sample", "demo", "--images", "9")
    code, out, err = loupe("export", "demo", str(tmp_path / "out"), "--format", "yolo")
    assert (code, err.strip()) == (0, "")
    assert "/out: 6 images " in out
    assert "Left out by their state: 3 new; --state all takes them too." in out
    asked = ("--format", "yolo", "--state", "all", "--shares", "2,1", "--seed", "3")
    written = loupe.json("export", "demo", str(tmp_path / "all"), *asked)
    assert (written["images"], written["left_out"]) == (9, {})
    assert sum(written["splits"].values()) == 9
    assert "none" not in written["splits"]
    assert loupe("export", "demo", "x", "--format", "yolo", "--shares", "most")[2] == (
        "'most' are no shares; write them as 80,10,10.\n"
    )


def test_labels_that_are_not_read_end_with_exit_1(loupe: Said, tmp_path: Path) -> None:
    xml = '<annotations><image name="a.png"/></annotations>'
    laid: dict[str, bytes | str] = {"a.png": drawn.picture(), "annotations.xml": xml}
    code, out, err = loupe("import", "demo", str(drawn.lay(tmp_path / "in", laid)))
    assert (code, out.startswith("demo: 1 image, ")) == (1, True)
    assert "it is CVAT XML, which is not read here. The pictures that came in stay." in err
    assert err.endswith("1 file or line could not be used; everything else is done.\n")


def test_a_bad_file_is_named_and_the_exit_says_so(loupe: Said, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "broken.jpg").write_bytes(b"\xff\xd8\xff no picture")
    code, out, err = loupe("import", "demo", str(tmp_path / "in"), "--json")
    assert (code, "everything else is done" in err) == (1, True)
    assert json.loads(out)["problems"][0]["file"].endswith("broken.jpg")


def test_a_failure_is_one_sentence_and_exit_1(loupe: Said) -> None:
    code, out, err = loupe("images", "nowhere", "--json")
    assert (code, out) == (1, "")
    assert err.strip() == "There is no project named 'nowhere'."


def test_wrong_usage_is_exit_2(loupe: Said) -> None:
    for arguments in (["images"], ["fly"], ["sample", "x", "--images", "none"]):
        assert loupe(*arguments)[0] == 2


def test_a_person_is_added_and_given_another_role(loupe: Said) -> None:
    assert loupe("user", "add", "ana", "--role", "admin", "--password", "long enough")[0] == 0
    assert loupe.json("user", "list") == [{"name": "ana", "role": "admin"}]
    code, _, err = loupe("user", "role", "ana", "viewer")
    assert (code, "only admin" in err) == (1, True)


def test_a_person_is_removed_but_not_the_last_admin(loupe: Said) -> None:
    for name, role in (("ana", "admin"), ("ben", "labeler")):
        assert loupe("user", "add", name, "--role", role, "--password", "long enough")[0] == 0
    assert loupe.json("user", "logins", "ben") == []
    assert loupe("user", "logins", "ben", "--end")[0] == 0
    assert loupe("user", "remove", "ben")[:2] == (0, "ben may no longer log in.\n")
    code, _, err = loupe("user", "remove", "ana")
    assert (code, "only admin" in err) == (1, True)
    assert loupe.json("user", "list") == [{"name": "ana", "role": "admin"}]


def test_settings_are_listed_and_secrets_masked(
    loupe: Said, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOUPE_DATABASE_URL", "postgresql://ana:hunter2@127.0.0.1:1/db")
    settings.current.cache_clear()
    code, out, _ = loupe("settings", "--json")
    assert (code, "hunter2" in out) == (0, False)
    assert json.loads(out)["LOUPE_HOME"] == str(home)


def test_jobs_and_cluster_are_documents_too(loupe: Said) -> None:
    assert (loupe.json("jobs"), loupe.json("cluster")) == ([], [])
    assert loupe.json("jobs", "--kind", "try") == []
    code, _, err = loupe("jobs", "--kind", "tries")
    assert (code, "There is no kind of job 'tries'" in err) == (1, True)


def test_a_wrong_setting_is_named(loupe: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOUPE_CACHE_GB", "-3")
    settings.current.cache_clear()
    code, _, err = loupe("projects")
    assert (code, "LOUPE_CACHE_GB" in err) == (1, True)


def _commands(group: Any, path: str = "loupe") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, command in group.commands.items():
        here = f"{path} {name}"
        found += _commands(command, here) if hasattr(command, "commands") else [(here, command)]
    return found


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("LOUPE_DATABASE_URL", "mysql://nobody@127.0.0.1/x", "starts with sqlite:///"),
        ("LOUPE_DATABASE_URL", "postgresql://me:secret@127.0.0.1:1/x", "me:***@127.0.0.1:1/x"),
        ("LOUPE_DATABASE_URL", f"sqlite:///{__file__}", "is LOUPE_DATABASE_URL right?"),
        ("LOUPE_DATABASE_URL", "sqlite:////proc/x/y.db", "is LOUPE_DATABASE_URL right?"),
        ("LOUPE_DATABASE_URL", "snowflake://ana@account/db", "starts with sqlite:///"),
        ("LOUPE_HOME", "/proc/nowhere", "The home folder /proc/nowhere cannot be made"),
    ],
)
def test_what_cannot_be_opened_is_said_in_one_line(
    loupe: Said, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    settings.current.cache_clear()
    code, _, err = loupe("projects")
    settings.current.cache_clear()
    assert (code, err.count("\n")) == (1, 1)
    assert said.lower() in err.lower()


def test_a_table_that_decides_nothing_by_mistake_is_refused(loupe: Said, tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    table.write_text("image,idx,verdict\n1,0,accept\n")
    code, _, wrong = loupe("decide", "1", str(table))
    assert (code, "r.csv has no column decision or board" in wrong) == (1, True)
    table.write_bytes("image,decision\n1,\u00e4\n".encode("latin-1"))
    code, _, wrong = loupe("decide", "1", str(table))
    assert (code, "r.csv is not UTF-8 text" in wrong) == (1, True)


def test_a_report_that_fails_leaves_no_file(loupe: Said, tmp_path: Path) -> None:
    _, _, absent = loupe("report", "99", str(tmp_path / "run.csv"))
    _, _, nowhere = loupe("report", "99", str(tmp_path / "nowhere" / "run.csv"))
    assert absent.strip() == "There is no run 99."
    assert nowhere.strip().endswith("run.csv cannot be written: No such file or directory.")
    assert list(tmp_path.glob("run*")) == []


@pytest.mark.parametrize(
    ("name", "start"), [("run.csv", b"run,model,"), ("run.parquet", b"PAR1"), ("run.JSON", b"[")]
)
def test_the_suffix_says_what_a_report_is(loupe: Said, home: Path, name: str, start: bytes) -> None:
    loupe("projects")
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    with database.write.begin() as session:
        findings.start(session, Run(5, "v1", "yolo", datetime.now(UTC)))
    database.close()
    out = home / name
    assert loupe("report", "5", str(out))[0] == 0
    assert out.read_bytes().startswith(start)
    code, _, wrong = loupe("report", "5", str(home / "run.xlsx"))
    assert (code, "use .csv, .parquet, .json, .html, .pdf, or --format" in wrong) == (1, True)


def test_results_that_can_have_no_folder_are_refused_before_the_run(
    loupe: Said, tmp_path: Path
) -> None:
    many.photo(tmp_path / "one.png", 1)
    (tmp_path / "taken").write_text("a file")
    asked = ("detect", str(tmp_path / "one.png"), "--model", str(finding.WEIGHTS))
    code, _, err = loupe(*asked, "--out", str(tmp_path / "taken" / "found"))
    assert code == 1
    assert err.strip() == f"The folder {tmp_path}/taken/found cannot be made: Not a directory."
    assert loupe.json("jobs") == []


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--state", "xx", "There is no state 'xx'; there are new,"),
        ("--split", "zz", "There is no split 'zz'; there are train, val, test."),
        ("--runtime", "foo", "There is no runtime 'foo'; there are openvino,"),
        ("--precision", "f8", "There is no precision 'f8'; there are bf16,"),
    ],
)
def test_a_detection_that_can_only_fail_is_not_queued(
    loupe: Said, option: str, value: str, reason: str
) -> None:
    loupe.json("sample", "demo", "--images", "3")
    code, _, err = loupe("detect", "demo", "--model", "golden", option, value)
    assert (code, reason in err) == (1, True)
    assert loupe.json("jobs") == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["cancel", "{}"], "There is no job {}."),
        (["report", "{}", "run.csv"], "There is no run {}."),
        (["why", "{}:1:0"], "There is no detection or label '{}:1:0'."),
        (["why", "{}:abc"], "There is no detection or label '{}:abc'."),
    ],
)
def test_a_number_that_no_row_can_have_names_nothing(
    loupe: Said, command: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = loupe(*(part.format(2**63) for part in command))
    assert (code, err.strip()) == (1, said.format(2**63))


def test_a_measurement_that_nobody_waits_for_is_a_document_too(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "9")
    loupe.json("train", "demo", "--family", "golden")
    with tools.open_tools() as at, at.database.write.begin() as session:
        registry.complete(session, 1, "0" * 64, {})
    assert loupe.json("evaluate", "demo", "--no-wait") == {"job": 2, "model": "v1"}


def test_a_project_that_is_not_there_is_answered_with_those_that_are(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "3")
    _, _, err = loupe("images", "dmeo")
    assert err.strip() == "There is no project named 'dmeo'; there is demo."


def test_help_shows_an_example_of_every_command() -> None:
    for path, command in _commands(typer.main.get_command(cli.cli)):
        assert re.search(rf"Example: .*{path}", command.help or ""), path
