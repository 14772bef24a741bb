"""What the settings of a warehouse mean, what is refused, and that no secret is shown."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from backend import settings
from backend.errors import Invalid, LoupeError, Unavailable
from backend.warehouse import address, administration
from backend.warehouse.address import Address
from backend.warehouse.dialects.postgresql import Postgresql
from tests import databases

SECRET = "hidden-word"


def said(monkeypatch: pytest.MonkeyPatch, home: Path, **values: Any) -> address.Address:
    monkeypatch.setenv("LOUPE_HOME", str(home))
    for name, value in values.items():
        monkeypatch.setenv(f"LOUPE_{name.upper()}", str(value))
    found = address.of(settings.read())
    assert found is not None
    return found


def private(path: Path, text: str = SECRET) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://me@here/x", "starts with snowflake://, postgresql:// or sqlite:///"),
        ("no url", "starts with snowflake://"),
        ("sqlite://", "names no file"),
        ("snowflake://me@account", "snowflake://USER@ACCOUNT/DATABASE/SCHEMA"),
        ("snowflake://?connection_name=a&token=hidden-word", "has token in its query"),
        ("snowflake://me@a/d/s?private_key_file=k", "has private_key_file in its query"),
        ("postgresql://me@here/x?password=hidden-word", "has password in its query"),
    ],
)
def test_a_warehouse_that_cannot_be_is_refused_in_a_sentence(
    url: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match=told) as refused:
        said(monkeypatch, tmp_path, warehouse_url=url)
    assert SECRET not in str(refused.value)


def test_the_operational_database_is_no_warehouse(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = {
        "database_url": "postgresql://me@here/loupe",
        "warehouse_url": "postgresql://other:hidden-word@here/loupe",
    }
    with pytest.raises(LoupeError, match="names the operational database"):
        said(monkeypatch, tmp_path, **place)


@pytest.mark.parametrize(
    ("values", "way", "secret"),
    [
        ({"snowflake_password": SECRET}, None, "password"),
        ({"snowflake_oauth_token": SECRET}, "OAUTH", "token"),
        ({"snowflake_access_token": SECRET}, "PROGRAMMATIC_ACCESS_TOKEN", "token"),
    ],
)
def test_each_way_to_log_in_is_known_and_its_secret_shown_nowhere(
    values: dict[str, str],
    way: str | None,
    secret: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    found = said(monkeypatch, tmp_path, warehouse_url="snowflake://me@acc/db/s?role=r", **values)
    assert found.options.get("authenticator") == way
    assert found.options["role"] == "r"
    assert found.secrets[secret].get_secret_value() == SECRET
    shown = [repr(found), found.shown, found.digest, *administration.script(found)]
    assert SECRET not in " ".join(shown)


def test_a_key_and_a_token_in_files_are_their_owners_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    token = private(tmp_path / "token")
    place = {"warehouse_url": "snowflake://me@acc/db/s", "snowflake_access_token_file": token}
    assert said(monkeypatch, tmp_path, **place).secrets["token"].get_secret_value() == SECRET
    token.chmod(0o644)
    with pytest.raises(LoupeError, match="chmod 600"):
        said(monkeypatch, tmp_path, **place)
    monkeypatch.delenv("LOUPE_SNOWFLAKE_ACCESS_TOKEN_FILE")
    key = private(tmp_path / "key.p8")
    found = said(
        monkeypatch,
        tmp_path,
        warehouse_url="snowflake://me@acc/db/s",
        snowflake_private_key_file=key,
        snowflake_private_key_passphrase=SECRET,
    )
    assert found.options["authenticator"] == "SNOWFLAKE_JWT"
    assert SECRET not in repr(found)
    key.unlink()
    with pytest.raises(Invalid, match="LOUPE_SNOWFLAKE_PRIVATE_KEY_FILE names"):
        address.of(settings.read())


def test_two_ways_to_log_in_are_one_too_many(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match="LOUPE_SNOWFLAKE_OAUTH_TOKEN and LOUPE_SNOWFLAKE_PASSWORD"):
        said(
            monkeypatch,
            tmp_path,
            warehouse_url="snowflake://me@acc/db/s",
            snowflake_password=SECRET,
            snowflake_oauth_token=SECRET,
        )


def test_an_administrator_is_given_what_is_needed_and_nothing_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = 'snowflake://me@acc/D"B/S 1?role=R&warehouse=W'
    script = administration.script(said(monkeypatch, tmp_path, warehouse_url=url))
    assert 'GRANT USAGE ON DATABASE "D""B" TO ROLE R;' in script
    assert any("WAREHOUSE_SIZE = XSMALL AUTO_SUSPEND = 60" in line for line in script)
    assert not any(word in " ".join(script) for word in ("OWNERSHIP", "GRANT ALL", "ACCOUNTADMIN"))


def test_a_connection_that_leads_elsewhere_is_another_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = "snowflake://?connection_name=here"
    digests = []
    for number, schema in enumerate(("one", "one", "two")):
        text = (
            f'[here]\naccount = "a"\npassword = "{number}"\ndatabase = "d"\nschema = "{schema}"\n'
        )
        file = private(tmp_path / f"{number}.toml", text)
        monkeypatch.setattr("snowflake.connector.constants.CONNECTIONS_FILE", file)
        digests.append(said(monkeypatch, tmp_path, warehouse_url=url).digest)
    assert digests[0] == digests[1] != digests[2]
    file = private(tmp_path / "broken.toml", "[here\n")
    monkeypatch.setattr("snowflake.connector.constants.CONNECTIONS_FILE", file)
    assert said(monkeypatch, tmp_path, warehouse_url=url).digest not in digests


def test_a_schema_of_the_same_database_is_another_place() -> None:
    def digest(query: str) -> str:
        return Address("postgresql", make_url(f"postgresql://me@here/x{query}")).digest

    plain = digest("")
    same = ("?sslmode=require", "?options=-c%20statement_timeout%3D7s", "?connect_timeout=3")
    assert {digest(one) for one in same} == {plain}
    other = ("?options=-csearch_path%3Da", "?options=-c%20search_path%3Db", "?host=/run/other")
    assert len({plain, *map(digest, other)}) == 4
    assert digest("?options=--search-path%3Db") == digest(other[1])
    last = "?options=-csearch_path%3Da%20-csearch_path%3Db"
    assert digest(last) == digest(other[1])


def test_patience_that_the_url_names_counts_and_the_rest_is_ours(postgres: str) -> None:
    url = make_url(databases.new_postgres_database(postgres))
    said = url.set(query={"options": "-c statement_timeout=7s", "connect_timeout": "3"})
    with closing(Postgresql(Address("postgresql", said.set(drivername="postgresql")))) as found:
        rows = found.ask("SHOW statement_timeout", {}).rows
        assert [*rows, *found.ask("SHOW lock_timeout", {}).rows] == [("7s",), ("1min",)]


def test_a_load_ends_those_that_were_frozen_in_its_own_place_alone(postgres: str) -> None:
    url = make_url(databases.new_postgres_database(postgres)).set(drivername="postgresql")
    other = url.set(query={"options": "-csearch_path=other"})
    frozen, beside, mine = (
        Postgresql(Address("postgresql", one)) for one in (url, other, url)
    )  # fmt: skip
    with closing(mine), closing(beside), closing(frozen):
        mine.sweep(1, [])
        beside.tables()
        with pytest.raises(Unavailable, match="terminating connection"):
            frozen.tables()
