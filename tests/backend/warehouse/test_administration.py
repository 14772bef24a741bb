"""What administrators are helped with: the SQL, who runs it, and a rehearsal in an account."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import make_url

from backend.errors import Invalid, Refused
from backend.warehouse import administration
from backend.warehouse.address import Address
from backend.warehouse.dialects import account
from backend.warehouse.inside import trial
from tests import warehouses
from tests.warehouses import Place

# What the emulator cannot do, or does otherwise: each is seen, and none is called a pass.
BEYOND = {"two MERGEs at once", "LIST and GET", "a name of 255", "credits"}
TRIAL = "tests.backend.warehouse.trying"
OPTIONS = {"database": "d", "schema": "s", "warehouse": 'w"; --', "role": "r", "user": "u"}
SNOWFLAKE = Address("snowflake", make_url("snowflake://u@a/d/s"), OPTIONS)


def test_names_in_the_sql_are_quoted_where_they_have_to_be() -> None:
    told = administration.script(SNOWFLAKE)
    assert 'GRANT USAGE ON WAREHOUSE "w""; --" TO ROLE r;' in told
    assert "GRANT ROLE r TO USER u;" in told


def test_a_schema_that_the_url_names_is_made_and_opened() -> None:
    def told(query: str) -> list[str]:
        url = make_url(f"postgresql://me@here/x{query}")
        return administration.script(Address("postgresql", url))[1:]

    assert told("") == ["GRANT CREATE, USAGE ON SCHEMA public TO me;"]
    assert told("?options=-csearch_path%3DResults,public") == [
        "CREATE SCHEMA IF NOT EXISTS results;", "GRANT CREATE, USAGE ON SCHEMA results TO me;",
    ]  # fmt: skip
    assert told('?options=-csearch_path%3D"a;B"') == [
        'CREATE SCHEMA IF NOT EXISTS "a;B";', 'GRANT CREATE, USAGE ON SCHEMA "a;B" TO me;',
    ]  # fmt: skip


def test_a_name_that_the_warehouse_cannot_hold_is_refused_with_its_limit() -> None:
    assert administration.quoted("n" * 255) == "n" * 255
    assert administration.quoted("Line7", "postgresql") == '"Line7"'
    assert administration.quoted("é" * 255) == '"' + "é" * 255 + '"'
    for name, dialect, limit in (
        ("n" * 256, "snowflake", "255 characters"),
        ("n\0", "snowflake", "255 characters"),
        ("é" * 32, "postgresql", "63 bytes"),
    ):
        with pytest.raises(Invalid, match=limit):
            administration.quoted(name, dialect)
    long = replace(SNOWFLAKE, options={**OPTIONS, "schema": "s" * 256})
    with pytest.raises(Invalid, match="LOUPE_WAREHOUSE_URL"):
        administration.script(long)


def test_the_sql_is_run_by_nobody_but_an_administrator(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="--admin"):
        list(administration.apply(SNOWFLAKE, tmp_path, ""))
    lite = Address("sqlite", make_url(f"sqlite:///{tmp_path}/x.db"))
    with pytest.raises(Refused, match="Only Snowflake"):
        list(administration.apply(lite, tmp_path, "admin"))
    with pytest.raises(Refused, match="Only an account of Snowflake"):
        administration.rehearse(lite, tmp_path)


def test_what_a_killed_trial_has_left_goes_with_the_next_one(tmp_path: Path, emulator: int) -> None:
    place = warehouses.place("snowflake", tmp_path, port=emulator)
    command = [sys.executable, "-m", TRIAL, str(place.port), place.database, str(tmp_path / "t")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"login\n"
        child.kill()
    (left,) = trials(place)
    assert f"{trial.NAME}_{trial.VERSION}".upper() == account.SERVICE
    attempts = account.attempt(place.address, tmp_path / "t", {})
    first = next(attempts)
    assert (first.name, first.passed) == (account.LEFT, True)
    assert first.said.startswith(left.upper())
    assert next(attempts).name == "login"
    attempts.close()
    assert trials(place) == []


def test_what_a_trial_has_left_before_a_restart_goes_after_a_day(tmp_path: Path) -> None:
    for name, age in (("LOUPE_TRIAL_A", 25), ("LOUPE_TRIAL_B", 23)):
        note = tmp_path / name / account.HOLDER
        note.parent.mkdir()
        note.write_text("here/0badf00d/1:7:9")
        began = time.time() - age * 3600
        os.utime(note, (began, began))
    assert account._left(tmp_path) == ["LOUPE_TRIAL_A"]


def trials(place: Place) -> list[str]:
    schemas = place.ask("SELECT schema_name FROM information_schema.schemata")
    return [name for (name,) in schemas if "TRIAL" in name.upper()]


def test_an_account_is_tried_line_by_line_and_nothing_is_left(
    tmp_path: Path, emulator: int
) -> None:
    place = warehouses.place("snowflake", tmp_path, port=emulator)
    home = {"LOUPE_HOME": str(tmp_path / "home"), "LOUPE_WAREHOUSE_URL": place.url}
    # Snowflake's library for models leaves temporary folders to whoever runs in its process.
    command = [sys.executable, "-W", "ignore", "-c", "from app import cli; cli.main()"]
    ran = subprocess.run(
        [*command, "warehouse", "check", "--account", "--json"],
        env={**os.environ, **place.environment, **home}, capture_output=True, text=True,
    )  # fmt: skip
    found = {one["name"]: one for one in json.loads(ran.stdout)}
    assert list(found) == [*account.TRIALS, administration.LOG_MODEL, account.CREDITS]
    assert {name for name, one in found.items() if not one["passed"]} <= BEYOND, found
    assert all(one["said"] for one in found.values())
    assert (ran.returncode, "of 12 failed" in ran.stderr) == (1, True)
    assert trials(place) == []
