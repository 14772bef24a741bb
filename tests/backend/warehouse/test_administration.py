"""What administrators are helped with: the SQL, who runs it, and a rehearsal in an account."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import make_url

from backend.errors import Refused
from backend.warehouse import administration
from backend.warehouse.address import Address
from backend.warehouse.dialects import account
from tests import warehouses

# What the emulator cannot do, or does otherwise: each is seen, and none is called a pass.
BEYOND = {"two MERGEs at once", "LIST and GET", "a name of 255", "credits"}
OPTIONS = {"database": "d", "schema": "s", "warehouse": 'w"; --', "role": "r", "user": "u"}
SNOWFLAKE = Address("snowflake", make_url("snowflake://u@a/d/s"), OPTIONS)


def test_names_in_the_sql_are_quoted_where_they_have_to_be() -> None:
    told = administration.script(SNOWFLAKE)
    assert 'GRANT USAGE ON WAREHOUSE "w""; --" TO ROLE r;' in told
    assert "GRANT ROLE r TO USER u;" in told


def test_the_sql_is_run_by_nobody_but_an_administrator(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="--admin"):
        list(administration.apply(SNOWFLAKE, tmp_path, ""))
    lite = Address("sqlite", make_url(f"sqlite:///{tmp_path}/x.db"))
    with pytest.raises(Refused, match="Only Snowflake"):
        list(administration.apply(lite, tmp_path, "admin"))
    with pytest.raises(Refused, match="Only an account of Snowflake"):
        administration.rehearse(lite, tmp_path)


def test_an_account_is_tried_line_by_line_and_nothing_is_left(
    tmp_path: Path, emulator: int
) -> None:
    place = warehouses.place("snowflake", tmp_path, port=emulator)
    found = list(account.attempt(place.address, tmp_path / "trial"))
    assert [one.name for one in found] == list(account.TRIALS)
    assert {one.name for one in found if not one.passed} <= BEYOND, found
    assert all(one.said for one in found)
    schemas = place.ask("SELECT schema_name FROM information_schema.schemata")
    assert [name for (name,) in schemas if "TRIAL" in name.upper()] == []
