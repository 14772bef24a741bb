"""The guide says what the code does: no word of one that the other lacks."""

from __future__ import annotations

import importlib
import re
import shlex
from functools import reduce
from typing import Any

import pytest
import typer

from app import cli, server
from app.edge import gate
from app.routes.public import operations
from backend.settings import Settings
from backend.storage.tables import Base
from backend.warehouse import administration
from backend.warehouse.dialects import account
from backend.warehouse.queries import QUERIES
from tests import assets
from tests.guide import following, paper

PAGES = paper.pages()
ALL = "\n".join(PAGES.values())
MODULES = {
    "domain": "backend.domain",
    "ledger": "backend.warehouse.ledger",
    "settings": "backend.settings",
    "tables": "backend.storage.tables",
    "tally": "backend.review.tally",
}
COMMON = {"-h", "--help", "-v", "--verbose", "--version"}
FILE = re.compile(r"(?:app|backend|workers|assets|tests)/[\w/.*-]+")
COMPLETION = {"--install-completion", "--show-completion"}


def commands() -> dict[str, set[str]]:
    """The options of each command by its full name."""
    found: dict[str, set[str]] = {}

    def walk(command: Any, name: str) -> None:
        inner = getattr(command, "commands", None)
        if inner is None:
            options = [one for one in command.params if one.param_type_name == "option"]
            found[name] = {word for one in options for word in (*one.opts, *one.secondary_opts)}
        for word, one in (inner or {}).items():
            walk(one, f"{name} {word}")

    walk(typer.main.get_command(cli.cli), "loupe")
    return found


COMMANDS = commands()


def test_every_page_stands_in_the_contents_once() -> None:
    listed = paper.LINK.findall(paper.CONTENTS.read_text("utf-8"))
    assert sorted(listed) == sorted(f"{name}.md" for name in PAGES)


@pytest.mark.parametrize("name", ["README", *PAGES])
def test_a_page_has_one_title_and_its_links_lead_somewhere(name: str) -> None:
    prose = re.sub(r"^```.*?^```", "", paper.page(name), flags=re.DOTALL | re.MULTILINE)
    assert prose.startswith("# ")
    assert len(re.findall(r"^# ", prose, flags=re.MULTILINE)) == 1
    assert paper.broken(paper.GUIDE / f"{name}.md") == []


def test_the_guide_names_every_setting_and_no_other() -> None:
    listed = [row[0].strip("`") for row in paper.table(PAGES["settings"], "setting")]
    assert sorted(listed) == sorted(f"LOUPE_{name.upper()}" for name in Settings.model_fields)
    assert set(re.findall(r"LOUPE_\w*[A-Z](?!\w)", ALL)) <= set(listed)


def test_the_guide_lists_every_command_with_every_option_and_no_other() -> None:
    listed = {}
    for section in re.split(r"^### ", PAGES["commands"], flags=re.MULTILINE)[1:]:
        head, _, text = section.partition("\n")
        name = re.sub(r" [A-Z.]+\b", "", head.strip("`"))
        items = re.findall(r"^\* (`-.*?`):", text, flags=re.MULTILINE)
        listed[name] = {word for item in items for word in paper.code(item)}
    assert listed == COMMANDS


@pytest.mark.parametrize("name", PAGES)
def test_a_command_that_a_page_shows_is_one(name: str) -> None:
    shown = [one for one in paper.code(PAGES[name]) if re.match(r"loupe( |$)", one)]
    wrong = [one for one in shown if strange(one)]
    assert wrong == []


def strange(shown: str) -> set[str]:
    """The words of a command line that no command knows."""
    words = [one.partition("=")[0] for one in shlex.split(shown.replace("|", " "))]
    named = [" ".join(words[:length]) for length in (3, 2)]
    command = next((one for one in named if one in COMMANDS), None)
    options = {word for word in words if word.startswith("-")}
    if command is None:
        return set(words[1:]) - COMMON - COMPLETION
    return options - COMMANDS[command] - COMMON


def test_an_option_that_a_page_shows_is_one() -> None:
    known = set().union(COMMON, COMPLETION, *COMMANDS.values())
    shown = {one.split()[0] for one in paper.code(ALL) if one.startswith("--")}
    theirs = {"--data", "--detector", "--images", "--labels", "--only", "--split", "--table"}
    assert shown - known - theirs == set()


def test_the_guide_names_every_table_and_the_columns_are_there() -> None:
    named: set[str] = set()
    for row in paper.table(PAGES["results-in-sql"], "table"):
        tables = paper.code(row[0])
        named.update(tables)
        columns = {column.name for one in tables for column in Base.metadata.tables[one].columns}
        asked = {one.rpartition(".")[2] for cell in row[2:] for one in paper.code(cell)}
        assert asked <= columns, tables
    assert named == set(Base.metadata.tables)


def test_the_sql_asks_only_tables_that_are_named() -> None:
    blocks = re.findall(r"```sql\n(.*?)```", PAGES["results-in-sql"], flags=re.DOTALL)
    asked = {one for block in blocks for one in re.findall(r"(?:FROM|JOIN) (\w+)", block)}
    assert asked
    assert asked <= set(Base.metadata.tables)


def test_the_guide_shows_every_query_of_a_warehouse_in_its_own_words() -> None:
    blocks = r"^## (\w+)\n([^\n]+)\n\n```sql\n(.*?)```"
    found = re.findall(blocks, PAGES["warehouse-queries"], flags=re.DOTALL | re.MULTILINE)
    assert found == [(one.name, one.says, one.sql.lstrip()) for one in QUERIES.values()]


def test_the_guide_lists_all_that_a_real_account_is_tried_with() -> None:
    listed = [row[0].strip("`") for row in paper.table(PAGES["warehouse"], "what is tried")]
    assert listed == [*account.TRIALS, administration.LOG_MODEL, account.CREDITS]


def test_the_guide_lists_every_key_with_what_it_does_and_no_other() -> None:
    keys = "it.KEYS.filter((row) => row.words).map((row) => [it.shown(row.key), row])"
    there = {
        (key, row["words"], row.get("on", "everywhere").lower(), row.get("of", "all"))
        for key, row in assets.value("desk/keys.js", keys)
    }
    rows = paper.table(PAGES["labelling"], "key")
    listed = {(key, row[1], row[2].lower(), row[3]) for row in rows for key in paper.code(row[0])}
    assert listed == there


def test_every_word_of_the_glossary_is_in_the_code() -> None:
    rows = paper.table(PAGES["words"], "word")
    assert len(rows) > 1
    for word, means, wrong, code in rows:
        module, *names = code.strip("`").split(".")
        found = importlib.import_module(MODULES[module])
        named = reduce(part, names, found)
        assert named is not None, code
        assert word.startswith("**"), word
        assert means, word
        assert wrong, word


def part(whole: Any, name: str) -> Any:
    """An attribute, or a field of a class that has values only in its instances."""
    return getattr(whole, name, None) or getattr(whole, "__annotations__", {}).get(name)


def addresses() -> set[str]:
    """What our routes answer."""
    rooms = [importlib.import_module(f"app.routes.{room}") for room in server.ROOMS]
    routes = [route for room in rooms for route in room.router.routes]
    routes += operations.router().routes
    return {route.path.replace(":path}", "}") for route in routes}


def test_an_address_that_a_page_names_is_answered() -> None:
    named = {one for one in paper.code(ALL) if re.fullmatch(r"/[a-z][\w/{}.-]*", one)}
    assert "/health" in named
    for address in named:
        assert any(one == address or one.startswith(f"{address}/") for one in addresses()), address


def test_the_guide_lists_every_public_address_and_says_for_whom() -> None:
    listed = {
        address: row[2]
        for row in paper.table(PAGES["running-it"], "address")
        for address in paper.code(row[0])
    }
    public = {one for one in addresses() if not one.startswith(("/api/", "/files/"))}
    assert set(listed) == {"/", *public}
    for address, whom in listed.items():
        assert (whom == "everybody") == address.startswith(gate.OPEN), address


def test_a_file_that_a_page_names_is_there() -> None:
    texts = [ALL, paper.README.read_text("utf-8"), (paper.ROOT / "CONTRIBUTING.md").read_text()]
    named = {one for one in paper.code("\n".join(texts)) if FILE.fullmatch(one)}
    made = {step.path for step in following.steps(PAGES["adding"]) if not step.how}
    lost = {one for one in named - made if "/x" not in one and not any(paper.ROOT.glob(one))}
    assert len(named) > 50
    assert lost == set()
