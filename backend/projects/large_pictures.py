"""Whether a project's large pictures are looked at whole or in tiles; a run may ask otherwise."""

from __future__ import annotations

from sqlalchemy.orm import Session

from backend.errors import Invalid
from backend.projects import catalogue

OPTION = "tiles"
AUTO = "auto"
WISHES = {
    AUTO: "in tiles where things would be too small to see",
    "off": "always whole",
    "on": "always in tiles",
}


def wish(session: Session, project_id: int) -> str:
    """What the project wants."""
    return str(catalogue.options(session, project_id).get(OPTION, AUTO))


def choose(session: Session, project_id: int, wanted: str) -> None:
    """Keep it for all detections to come."""
    check(wanted)
    catalogue.set_option(session, project_id, OPTION, wanted)


def check(wanted: str) -> None:
    """Refuse what is no way to look at large pictures."""
    if wanted not in WISHES:
        known = "; ".join(f"{name} ({words})" for name, words in WISHES.items())
        raise Invalid(f"Large pictures cannot be looked at {wanted!r}; there are {known}.")
