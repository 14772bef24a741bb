"""What an example of many cards needs of Snowflake: its set-up, and what its results are asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backend.errors import Invalid
from backend.warehouse import address as addresses
from backend.warehouse import administration
from backend.warehouse.address import Address
from backend.warehouse.queries import Query

HOST = re.compile(r"[A-Za-z0-9.-]{1,253}:\d{1,5}")
POOL, RULE = "LOUPE_EXAMPLE", "LOUPE_EXAMPLE_EGRESS"
COUNTED = Query(
    "counted",
    "The boxes of a run, and the pictures that it saw.",
    "SELECT (SELECT count(*) FROM loupe_found WHERE run_id = :run) AS boxes, "
    "(SELECT count(*) FROM loupe_seen WHERE run_id = :run) AS pictures",
)
FULLEST = Query(
    "fullest",
    "The picture of a run with the most boxes, and what was found in it.",
    'SELECT r."file_name", r."result" FROM loupe_result r WHERE r.run_id = :run '
    'AND r."file_name" = (SELECT f.file_name FROM loupe_found f WHERE f.run_id = :run '
    "GROUP BY f.file_name ORDER BY count(*) DESC, f.file_name LIMIT 1)",
)


def script(address: Address, stage: Sequence[str], nodes: int, egress: str) -> list[str]:
    """The set-up: rights, a stage, a pool of cards, and no way out but those hosts.

    `stage` has the names of the stage as far as told, as they are called there; of none that is
    there anyway.
    """
    options = addresses.named(address)
    database, schema = (administration.quoted(options.get(one)) for one in ("database", "schema"))
    hosts = [one for one in egress.split(",") if one]
    for host in hosts:
        if not HOST.fullmatch(host):
            raise Invalid(f"{host[:80]!r} is no host with its port, such as example.org:443.")
    place = f"{database}.{schema}"
    home = [database, schema][: 3 - len(stage)]
    parts = [*home, *map(_exactly, stage)]
    whole = ".".join(parts)
    role = administration.quoted(options.get("role"))
    told = administration.script(address)
    if stage:
        told += [
            f"CREATE STAGE IF NOT EXISTS {whole};",
            *_entered(parts, len(stage), role),
            f"GRANT READ, WRITE ON STAGE {whole} TO ROLE {role};",
        ]
    told += [
        f"CREATE COMPUTE POOL IF NOT EXISTS {POOL} MIN_NODES = 1 MAX_NODES = {nodes} "
        "INSTANCE_FAMILY = GPU_NV_S AUTO_SUSPEND_SECS = 300;",
        f"GRANT USAGE ON COMPUTE POOL {POOL} TO ROLE {role};",
    ]
    if hosts:
        listed = ", ".join(f"'{one}'" for one in hosts)
        told += [
            f"CREATE NETWORK RULE IF NOT EXISTS {place}.{RULE} MODE = EGRESS TYPE = HOST_PORT "
            f"VALUE_LIST = ({listed});",
            f"CREATE EXTERNAL ACCESS INTEGRATION IF NOT EXISTS {RULE} "
            f"ALLOWED_NETWORK_RULES = ({place}.{RULE}) ENABLED = TRUE;",
            f"GRANT USAGE ON INTEGRATION {RULE} TO ROLE {role};",
        ]
    return told


def _entered(parts: Sequence[str], told: int, role: str) -> list[str]:
    """The rights to come to a stage that lies elsewhere, as far as it was said where."""
    where = {"DATABASE": parts[:1], "SCHEMA": parts[:2]}
    needed = list(where)[3 - told :] if told else []
    return [f"GRANT USAGE ON {one} {'.'.join(where[one])} TO ROLE {role};" for one in needed]


def _exactly(name: str) -> str:
    """A name as it is called there, which is in capitals unless it stands in quotes."""
    if name == name.upper():
        return administration.quoted(name)
    return '"' + name.replace('"', '""') + '"'
