"""What Snowflake says when it refuses, as sentences that name the setting or the SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from backend.warehouse.address import SETTING

KEY_PAIR = (
    "Snowflake refuses the key pair: does LOUPE_SNOWFLAKE_PRIVATE_KEY_FILE belong to the user, and "
    "is this machine's clock right? ALTER USER … SET RSA_PUBLIC_KEY = '…'; gives a user its key."
)
# By the numbers of Snowflake's errors.
BY_NUMBER = {
    390100: "Snowflake refuses the user or the password: are {setting} and "
    "LOUPE_SNOWFLAKE_PASSWORD right?",
    **dict.fromkeys((390144, *range(394300, 394307)), KEY_PAIR),
    390303: "Snowflake refuses the OAuth token: is LOUPE_SNOWFLAKE_OAUTH_TOKEN right?",
    390318: "The OAuth token for Snowflake has expired: give a new one in "
    "LOUPE_SNOWFLAKE_OAUTH_TOKEN.",
    394400: "Snowflake refuses the programmatic access token: is LOUPE_SNOWFLAKE_ACCESS_TOKEN "
    "right, and has it not expired?",
    390201: "Snowflake has no such warehouse, or the role may not use it: GRANT USAGE ON WAREHOUSE "
    "… TO ROLE …; or name another in LOUPE_SNOWFLAKE_WAREHOUSE.",
    606: "No warehouse of Snowflake is in use: name one in LOUPE_SNOWFLAKE_WAREHOUSE.",
    390189: "Snowflake has no such role, or the user does not have it: GRANT ROLE … TO USER …; or "
    "name another in LOUPE_SNOWFLAKE_ROLE.",
    3001: "The role in Snowflake lacks a right ({said}): GRANT USAGE, CREATE TABLE, CREATE VIEW ON "
    "SCHEMA … TO ROLE …; and for models CREATE MODEL, CREATE STAGE, too.",
    250001: "Snowflake cannot be reached: {said}. Is {setting} right?",
    250003: "Snowflake cannot be reached: {said}. Is {setting} right?",
}
LONGEST = 300


def sentence(error: Any, hidden: Sequence[str] = ()) -> str:
    """What a person can do about it; without any value that was sent."""
    said = _words(error, hidden)
    # Snowpark, which carries models, has names of its own for what the connector told it.
    number = getattr(error, "errno", None) or getattr(error, "sql_error_code", None)
    known = BY_NUMBER.get(number if isinstance(number, int) else 0)
    if known is None:
        return f"Snowflake does not take it: {said}. loupe warehouse check tells more."
    return known.format(said=said, setting=SETTING)


def _words(error: Any, hidden: Sequence[str]) -> str:
    known = (getattr(error, name, None) for name in ("raw_msg", "raw_message", "msg"))
    told = str(next(filter(None, known), error))
    lines = [" ".join(line.split()) for line in told.splitlines() if line.strip()]
    said = " ".join(lines) or type(error).__name__
    for secret in hidden:
        said = said.replace(secret, "…")
    # What was sent may stand in what comes back, and with it what nobody should read.
    said = re.sub(r"'[^']{40,}'", "'…'", said)
    said = re.sub(r"(?i)(token|password|passcode|authorization)(\W+)\S+", r"\1\2…", said)
    return said[:LONGEST].rstrip(".")
