"""What LOUPE_WAREHOUSE_URL and LOUPE_SNOWFLAKE_… mean; secrets are shown by no repr."""

from __future__ import annotations

import hashlib
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from backend.errors import Invalid, Refused
from backend.settings import Settings

SETTING = "LOUPE_WAREHOUSE_URL"
NONE = "There is no warehouse: name one with LOUPE_WAREHOUSE_URL, as the guide says."
DIALECTS = ("snowflake", "postgresql", "sqlite")
NAMED = "connection_name"
SECRET = (
    "password", "token", "passcode", "private_key_passphrase", "private_key_file_pwd",
    "oauth_client_secret",
)  # fmt: skip
SHOWN = ("user", "role", "warehouse", "database", "schema")
# What may stand in the query of a Snowflake URL: no secret, and nothing that changes where it goes.
ALLOWED = (NAMED, "warehouse", "role")
# What of a PostgreSQL URL's query says where it leads, as the rest of the URL does.
LEADING = ("host", "hostaddr", "port", "dbname", "service")
SEARCH_PATH = re.compile(r"(?:-c\s*|--)search[_-]path=((?:\\.|[^\s\\])+)")


@dataclass(frozen=True, slots=True)
class Address:
    """Where results are published; `url` has no secret, `secrets` are shown nowhere."""

    dialect: str
    url: URL
    options: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)

    @property
    def shown(self) -> str:
        """For people."""
        return self.url.render_as_string(hide_password=True)

    @property
    def digest(self) -> str:
        """Names the place, whoever goes there."""
        place = (self.url.host, self.url.port, self.url.database, self.url.query.get(NAMED))
        named = [self.options.get(key) for key in ("database", "schema")]
        told: tuple[Any, ...] = (self.dialect, *place, *named)
        if self.dialect == "postgresql":
            told += _led(self.url)
        if known := _connection(self):
            # The same name may lead elsewhere tomorrow.
            told += tuple(known.get(key) for key in ("account", "host", "database", "schema"))
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def of(settings: Settings) -> Address | None:
    """Where results are published, if anywhere."""
    said = settings.warehouse_url.get_secret_value()
    if said in ("", settings.operational_url):
        return None
    try:
        url = make_url(said)
    except ArgumentError as error:
        raise _unusable() from error
    dialect = url.get_backend_name()
    if dialect not in DIALECTS:
        raise _unusable()
    if dialect == "snowflake":
        return _snowflake(url, settings)
    if dialect == "sqlite" and url.database in (None, "", ":memory:"):
        raise Invalid(f"{SETTING} names no file: sqlite:////path/to/results.db.")
    if told := sorted({"password", "sslpassword"} & set(url.query)):
        raise Invalid(
            f"{SETTING} has {' and '.join(told)} in its query, which is shown: a password stands "
            "before the host, postgresql://USER:PASSWORD@HOST/DATABASE, or in PostgreSQL's files."
        )
    return _apart(Address(dialect, *_without_password(url)), settings)


def needed(settings: Settings) -> Address:
    """Where results are published; refused where that is nowhere."""
    where = of(settings)
    if where is None:
        raise Refused(NONE)
    return where


def is_set(settings: Settings) -> bool:
    """Whether there is a warehouse."""
    return of(settings) is not None


def named(address: Address) -> Mapping[str, Any]:
    """What is not secret of where it leads, also that of a connection of connections.toml."""
    known = _connection(address)
    return {**{key: known[key] for key in SHOWN if key in known}, **address.options}


def schema(address: Address) -> str:
    """The schema of a PostgreSQL that tables are made in, as far as the URL says."""
    first = _search_path(address.url).partition(",")[0].strip()
    return first[1:-1].replace('""', '"') if first.startswith('"') else first.lower()


def hidden(address: Address) -> list[str]:
    """Every secret that is sent there, to be looked for in what comes back."""
    known = _connection(address)
    given = [one.get_secret_value() for one in address.secrets.values()]
    return [one for one in (*given, *(str(known[key]) for key in SECRET if key in known)) if one]


def _led(url: URL) -> tuple[str, ...]:
    """Which server and schemas the query of a PostgreSQL URL leads to, if it says so."""
    path = _search_path(url)
    return (
        *(f"{name}={url.query[name]}" for name in LEADING if name in url.query),
        *([f"search_path={path}"] if path else []),
    )


def _search_path(url: URL) -> str:
    options = url.query.get("options", ())
    told = options if isinstance(options, str) else " ".join(options)
    found = SEARCH_PATH.findall(told)
    return found[-1].replace("\\", "") if found else ""  # of several the last one counts


def _connection(address: Address) -> Mapping[str, Any]:
    """The connection of connections.toml that it names, if it names one that is there."""
    name = address.options.get(NAMED)
    if name is None:
        return {}
    from snowflake.connector.constants import CONNECTIONS_FILE

    if not CONNECTIONS_FILE.is_file():
        return {}
    try:
        found = tomllib.loads(CONNECTIONS_FILE.read_text("utf-8")).get(str(name))
    except (OSError, ValueError):  # who connects is told what is wrong with it
        return {}
    return found if isinstance(found, dict) else {}


def _apart(address: Address, settings: Settings) -> Address:
    """A warehouse is never the database that it is filled from."""
    ours = make_url(settings.operational_url)
    same = [(one.host, one.port, one.database, _server(one)) for one in (ours, address.url)]
    if ours.get_backend_name() == address.dialect and same[0] == same[1]:
        raise Refused(
            f"{SETTING} names the operational database, which results never leave; name another "
            "database, or unset it."
        )
    return address


def _server(url: URL) -> list[Any]:
    return [url.query.get(name) for name in LEADING]


def _without_password(url: URL) -> tuple[URL, dict[str, Any], dict[str, SecretStr]]:
    secret = url.password
    if secret is None:
        return url, {}, {}
    bare = URL.create(
        url.drivername, url.username, None, url.host, url.port, url.database, url.query
    )
    return bare, {}, {"password": SecretStr(str(secret))}


def _snowflake(url: URL, settings: Settings) -> Address:
    strange = sorted(set(url.query) - set(ALLOWED))
    if strange:
        raise Invalid(
            f"{SETTING} has {', '.join(strange)} in its query, where only {', '.join(ALLOWED)} may "
            "stand; secrets go into LOUPE_SNOWFLAKE_… or connections.toml."
        )
    bare, _, secrets = _without_password(url)
    named = url.query.get(NAMED)
    options: dict[str, Any] = {key: value for key, value in url.query.items() if key != NAMED}
    if named:
        _check_private()
        options[NAMED] = named
    elif not url.host or not url.database:
        raise Invalid(
            f"{SETTING} is snowflake://USER@ACCOUNT/DATABASE/SCHEMA?warehouse=W&role=R, or "
            f"snowflake://?{NAMED}=NAME with a connection of Snowflake's own connections.toml."
        )
    else:
        database, _, schema = str(url.database).partition("/")
        options |= {"account": url.host, "user": url.username, "database": database}
        options["schema"] = schema or "PUBLIC"
    given, hidden = _of_settings(settings)
    kept = {name: value for name, value in options.items() if value}
    return Address("snowflake", bare, kept | given, secrets | hidden)


def _of_settings(settings: Settings) -> tuple[dict[str, Any], dict[str, SecretStr]]:
    """LOUPE_SNOWFLAKE_…: how to log in, in the words of Snowflake's connector."""
    options: dict[str, Any] = {}
    secrets: dict[str, SecretStr] = {}
    for name in ("role", "warehouse"):
        if value := getattr(settings, f"snowflake_{name}"):
            options[name] = value
    ways = _ways(settings)
    if len(ways) > 1:
        raise Invalid(f"{' and '.join(ways)} are two ways to log in; keep one of them.")
    if key := settings.snowflake_private_key_file:
        options["private_key_file"] = str(_file(key, ways[0]))
        options["authenticator"] = "SNOWFLAKE_JWT"
        secrets |= _secret("private_key_file_pwd", settings.snowflake_private_key_passphrase)
    if token := _token(settings):
        options["authenticator"] = "PROGRAMMATIC_ACCESS_TOKEN"
        secrets["token"] = token
    if oauth := settings.snowflake_oauth_token.get_secret_value():
        options["authenticator"] = "OAUTH"
        secrets["token"] = SecretStr(oauth)
    return options, secrets | _secret("password", settings.snowflake_password)


def _ways(settings: Settings) -> list[str]:
    values = {
        "LOUPE_SNOWFLAKE_PRIVATE_KEY_FILE": settings.snowflake_private_key_file,
        "LOUPE_SNOWFLAKE_ACCESS_TOKEN": settings.snowflake_access_token.get_secret_value(),
        "LOUPE_SNOWFLAKE_ACCESS_TOKEN_FILE": settings.snowflake_access_token_file,
        "LOUPE_SNOWFLAKE_OAUTH_TOKEN": settings.snowflake_oauth_token.get_secret_value(),
        "LOUPE_SNOWFLAKE_PASSWORD": settings.snowflake_password.get_secret_value(),
    }
    return [name for name, value in values.items() if value]


def _token(settings: Settings) -> SecretStr | None:
    path = settings.snowflake_access_token_file
    if path is None:
        told = settings.snowflake_access_token
        return told if told.get_secret_value() else None
    file = _file(path, "LOUPE_SNOWFLAKE_ACCESS_TOKEN_FILE")
    return SecretStr(file.read_text("utf-8").strip())


def _secret(name: str, value: SecretStr) -> dict[str, SecretStr]:
    return {name: value} if value.get_secret_value() else {}


def _file(path: Path, setting: str) -> Path:
    if not path.is_file():
        raise Invalid(f"{setting} names {path}, and there is no such file.")
    _check_mode(path)
    return path


def _check_private() -> None:
    """A file with passwords that everybody may read is named, as Snowflake's own tools do."""
    from snowflake.connector.constants import CONNECTIONS_FILE

    if CONNECTIONS_FILE.is_file():
        _check_mode(Path(CONNECTIONS_FILE))


def _check_mode(path: Path) -> None:
    if stat.S_IMODE(path.stat().st_mode) & (stat.S_IRGRP | stat.S_IROTH):
        raise Refused(f"{path} can be read by others than its owner: chmod 600 {path}")


def _unusable() -> Invalid:
    return Invalid(
        "The warehouse URL is not one that Loupe can open; it starts with snowflake://, "
        f"postgresql:// or sqlite:/// (setting {SETTING})."
    )
