"""Who names new things in a project: one transaction at a time, also where many may write."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

NAMING = 7860  # what sets these locks of PostgreSQL apart from others
LARGEST = 2**31


def naming(session: Session, project_id: int) -> None:
    """Let nobody else add or rename classes and pictures until the transaction ends.

    It is asked for before the rows of images are, never after. SQLite has one writer anyway.
    """
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(NAMING, project_id % LARGEST)))
