"""`loupe warehouse` and `loupe publish`: what people are told of the warehouse."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import delete

from backend import settings
from backend.domain import Run
from backend.projects import catalogue
from backend.storage import engine, findings, types
from backend.storage.tables import RunRow
from backend.warehouse import ledger, outbox
from tests import fronts
from tests.app.conftest import Said


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file as the warehouse."""
    path = tmp_path / "results.db"
    choose(monkeypatch, f"sqlite:///{path}")
    return path


def choose(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("LOUPE_WAREHOUSE_URL", url)
    settings.current.cache_clear()


def test_without_a_warehouse_its_commands_name_the_setting(loupe: Said) -> None:
    assert loupe("sample", "demo", "--images", "2")[0] == 0
    for words in (("warehouse",), ("warehouse", "check"), ("publish", "demo")):
        code, _, err = loupe(*words)
        assert (code, "LOUPE_WAREHOUSE_URL" in err) == (1, True)


def test_options_of_the_check_are_refused_without_it(loupe: Said, file: Path) -> None:
    for words in (("--apply",), ("ask", "--account"), ("check", "--admin", "ana")):
        code, _, err = loupe("warehouse", *words)
        assert (code, "--a" in err) == (1, True)
    assert not file.exists()


def test_what_is_published_is_told(loupe: Said, file: Path) -> None:
    assert loupe("sample", "demo", "--images", "3")[0] == 0
    code, out, _ = loupe("publish", "demo", "--json")
    assert (code, json.loads(out)["state"]) == (0, "published")
    with closing(sqlite3.connect(file)) as lite:
        (images,) = lite.execute("SELECT count(*) FROM loupe_image_now").fetchone()
    _, out, _ = loupe("warehouse", "--json")
    told = json.loads(out)
    assert told["rows"]["image"] == images > 2
    assert (told["waiting"], told["error"]) == (0, "")
    _, out, _ = loupe("warehouse")
    assert "Nothing waits." in out
    assert loupe("publish", "nothing")[0] == 1


def test_pictures_are_published_where_they_are_asked_for(loupe: Said, file: Path) -> None:
    assert loupe("sample", "demo", "--images", "3")[0] == 0
    code, out, _ = loupe("publish", "demo", "--images", "--json")
    told = json.loads(out)
    assert (code, told["pictures"], told["new"], told["left_out"]) == (0, 4, 4, [])
    with closing(sqlite3.connect(file)) as lite:
        (found,) = lite.execute("SELECT count(image_bytes) FROM pcb_labeled_data").fetchone()
    assert found == 4
    code, _, err = loupe("publish", "demo", "out.zip", "--images")
    assert (code, "leave out OUT" in err) == (1, True)


def test_what_went_while_nothing_was_noted_goes_there_too_and_no_picture_twice(
    loupe: Said, file: Path
) -> None:
    assert loupe("sample", "demo", "--images", "3")[0] == 0
    at = engine.connect(settings.current())
    with at.write.begin() as session:
        project = catalogue.find(session, "demo").id
        findings.start(session, Run(7, "v1", "golden", types.now(), project))
    assert loupe("publish", "demo", "--images")[0] == 0
    assert runs(file) == [(7,)]
    with at.write.begin() as session:
        outbox.remove(session)  # as where no warehouse is named for a while
        session.execute(delete(RunRow))
    assert loupe("publish", "demo", "--images")[0] == 0
    assert runs(file) == []
    with at.read() as session:
        last = ledger.last_loaded(session)
    at.close()
    assert last is not None
    assert "picture" not in last.rows


def runs(file: Path) -> list[tuple[int]]:
    with closing(sqlite3.connect(file)) as lite:
        return lite.execute("SELECT id FROM loupe_run_now").fetchall()


def test_a_named_query_is_asked_with_its_values(loupe: Said, file: Path) -> None:
    assert loupe("sample", "demo", "--images", "2")[0] == 0
    assert loupe("publish", "demo")[0] == 0
    told = json.loads(loupe("warehouse", "ask", "--json")[1])
    assert {"query": "pareto", "needs": "run score"}.items() <= told[6].items()
    code, out, _ = loupe("warehouse", "ask", "yield", "run=1", "score=0.5", "--json")
    assert (code, json.loads(out)) == (0, [{"boards": 0, "good": 0, "yield_rate": None}])
    numbers = (("found", "run=x"), ("found", f"run={'9' * 30}"), ("yield", "run=1", "score=nan"))
    for words in (("nothing",), ("yield", "run=1"), ("yield", "run"), *numbers):
        code, _, err = loupe("warehouse", "ask", *words)
        assert (code, "Traceback" in err) == (1, False)
    assert file.is_file()


def test_the_page_for_snowsight_is_written_once(
    loupe: Said, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    choose(monkeypatch, "snowflake://me@account/D1/results?warehouse=W1")
    page = tmp_path / "page.py"
    code, out, _ = loupe("warehouse", "streamlit", str(page), "--json")
    told = json.loads(out)
    assert (code, told["path"]) == (0, str(page))
    assert told["sql"][2].startswith("CREATE STREAMLIT D1.results.loupe_results FROM @D1.results.")
    assert "MAIN_FILE = 'page.py' QUERY_WAREHOUSE = W1;" in told["sql"][2]
    compile(page.read_text("utf-8"), str(page), "exec")
    for words in ((str(page),), (str(tmp_path / "no" / "page.py"),), ()):
        assert loupe("warehouse", "streamlit", *words)[0] == 1


def test_a_check_says_where_and_what_is_missing(
    loupe: Said, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = loupe("warehouse", "check")
    assert (code, str(file) in out, "Nothing is missing." in out) == (0, True, True)
    choose(monkeypatch, "postgresql://me:hidden-word@127.0.0.1:1/x")
    code, out, err = loupe("warehouse", "check")
    assert (code, "LOUPE_WAREHOUSE_URL" in err) == (1, True)
    assert "GRANT CREATE, USAGE ON SCHEMA public TO me;" in out
    assert "hidden-word" not in out + err


def test_while_the_warehouse_is_away_other_commands_do_not_notice(
    loupe: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, "postgresql://me:hidden-word@127.0.0.1:1/x")
    assert loupe("sample", "demo", "--images", "2")[0] == 0
    assert loupe("images", "demo")[0] == 0
    code, _, err = loupe("publish", "demo")
    assert (code, "127.0.0.1" in err) == (1, True)
    _, out, _ = loupe("warehouse")
    assert "it fails: The warehouse postgresql://me@127.0.0.1:1/x does not take it" in out
    assert "hidden-word" not in out + err


def test_a_command_that_needs_no_warehouse_does_not_even_knock(
    loupe: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fronts.front(way=fronts.SILENT) as front:
        choose(monkeypatch, f"postgresql://me@127.0.0.1:{front.port}/x")
        for words in (("sample", "demo", "--images", "2"), ("images", "demo"), ("warehouse",)):
            assert loupe(*words)[0] == 0
        assert front.accepted == 0


def test_the_site_is_not_served_with_a_wrong_warehouse(
    loupe: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, "mysql://me@here/x")
    code, _, err = loupe("serve", "--no-browser", "--no-worker", "--port", "0")
    assert (code, "setting LOUPE_WAREHOUSE_URL" in err) == (1, True)


def test_options_that_say_nothing_are_refused(loupe: Said, file: Path) -> None:
    for words in (
        ("publish", "demo", "--model", "v1"),
        ("publish", "demo", "--runtime", "onnx"),
        ("publish", "demo", "out.zip", "--wait"),
        ("publish", "demo", "--registry", "--wait"),
        ("publish", "demo", "--registry", "--runtime", "onnx"),
        ("publish", "demo", "--name", "boards"),
        ("warehouse", "check", "yield"),
        ("warehouse", "streamlit", "page.py", "run=1"),
    ):
        code, _, err = loupe(*words)
        assert (code, "Traceback" in err, file.exists()) == (1, False, False), words


def test_why_pictures_stay_is_told_also_where_the_warehouse_is_away(
    loupe: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, "postgresql://me@127.0.0.1:1/x")
    assert loupe("sample", "demo", "--images", "2")[0] == 0
    store = settings.current().home / "files"
    lost = next(one for one in store.rglob("*") if one.is_file())
    lost.unlink()
    code, out, err = loupe("publish", "demo", "--images")
    assert (code, f"the file {lost.name[:12]}… is not in the store" in out + err) == (1, True)
    assert "127.0.0.1" in err
    code, out, err = loupe("publish", "demo", "--images", "--json")
    told = json.loads(out)
    assert (code, told["state"], len(told["left_out"])) == (1, "waiting", 1)
    assert told["error"] in err


def test_what_lies_in_snowflake_is_refused_where_there_is_none(loupe: Said, file: Path) -> None:
    for words in (
        ("publish", "demo", "--images", "--stage", "@pictures/a"),
        ("lots", "demo", "table:BOARDS", "--by", "LINE"),
        ("warehouse", "example", "@pictures/a"),
    ):
        code, _, err = loupe(*words)
        assert (code, "LOUPE_WAREHOUSE_URL" in err) == (1, True), err
    for options in (("--stage", "@pictures/a"), ("--images", "--stage", "@pictures/a", "--wait")):
        code, _, err = loupe("publish", "demo", *options)
        assert (code, "goes with" in err or "go with" in err) == (1, True), err
    assert not file.exists()
