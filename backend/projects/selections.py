"""Chosen images, kept once and named by a number: no job, run or page carries them along."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.storage.tables import SelectionRow

FEW = 50  # images that are named one by one


def kept(session: Session, project_id: int | None, source: Mapping[str, Any]) -> dict[str, Any]:
    """A source as a job keeps it: many chosen images by their number, with how many they are."""
    chosen = sorted(set(source.get("images", ())))
    if project_id is None or len(chosen) <= FEW:
        return dict(source)
    rest = {name: value for name, value in source.items() if name != "images"}
    return {**rest, "selection": _number(session, project_id, chosen), "count": len(chosen)}


def images(session: Session, source: Mapping[str, Any]) -> set[int] | None:
    """The images that a source names; None where it names none."""
    if "selection" in source:
        row = session.get(SelectionRow, source["selection"])
        return set(row.images) if row else set()
    return set(source["images"]) if "images" in source else None


def count(source: Mapping[str, Any]) -> int | None:
    """How many images a source names; None where it names none."""
    if "selection" in source:
        return int(source["count"])
    return len(set(source["images"])) if "images" in source else None


def _number(session: Session, project_id: int, chosen: list[int]) -> int:
    digest = hashlib.sha256(json.dumps(chosen).encode()).hexdigest()
    known = select(SelectionRow.id).filter_by(project_id=project_id, digest=digest)
    found = session.scalar(known)
    if found is None:
        session.add(row := SelectionRow(project_id=project_id, digest=digest, images=chosen))
        session.flush()
        found = row.id
    return found
