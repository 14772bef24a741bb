"""Write the next migration from what tables.py says.

`python -m backend.storage.migrations.write NUMBER "What it changes"`, then `ruff format`.
"""

from __future__ import annotations

import sys

from alembic import command
from sqlalchemy import create_engine

from backend.storage import upgrading


def write(number: str, message: str) -> None:
    """Compare an upgraded empty database with the tables, and write the difference down."""
    with create_engine("sqlite://").connect() as connection:
        config = upgrading.config(connection)
        config.set_main_option("file_template", "m%%(rev)s")
        if number != "0001":
            command.upgrade(config, "head")
        command.revision(config, message=message, autogenerate=True, rev_id=number)


if __name__ == "__main__":
    write(*sys.argv[1:])
