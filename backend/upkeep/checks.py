"""Looks through a whole home for what must not be, and mends what can be mended without loss."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.storage import engine
from backend.storage.engine import Database
from backend.storage.files import BLOCK, Files
from backend.upkeep import litter, references
from backend.upkeep.invariants import RULES
from backend.upkeep.invariants.rule import Rule

MOST = 20  # of one rule are told one by one
MISSING, CHANGED = "file-missing", "file-changed"
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """A breach of a rule in words; `mended` where it is no more."""

    rule: str
    sentence: str
    repairable: bool = False
    mended: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is amiss; `unnamed` files are named by nothing, and wait for `loupe tidy`."""

    findings: tuple[Finding, ...]
    rules: int
    files: int
    unnamed: int

    @property
    def clean(self) -> bool:
        """Whether nothing is amiss, or all of it was mended."""
        return all(one.mended for one in self.findings)


def check(
    database: Database,
    files: Files,
    *,
    repair: bool = False,
    quick: bool = False,
    told: Told = lambda *_: None,
) -> Diagnosis:
    """Ask every rule, and hold every file that rows name against its hash (`quick`: whether it is
    there)."""
    findings = [one for rule in RULES for one in _ask(database, rule, repair)]
    with database.read.begin() as session:
        names = sorted(references.needed(session))
    for done, name in enumerate(names, 1):
        findings += _of_file(files, name, quick)
        told(done, len(names))
    unnamed = litter.tidy(database, files, only_look=True).files
    return Diagnosis(tuple(findings), len(RULES), len(names), unnamed)


def breaches(session: Session, rule: Rule) -> list[str]:
    """The breaches of a rule, the first of them one by one."""
    rows = rule.breaches(session)
    found = [rule.sentence.format(**row) for row in islice(rows, MOST)]
    if more := sum(1 for _ in rows):
        found.append(f"… and {more:,} more like this.")
    return found


def _ask(database: Database, rule: Rule, repair: bool) -> Iterator[Finding]:
    with database.read.begin() as session:
        # What people save meanwhile must not look like a breach.
        engine.at_one_moment(session)
        found = breaches(session, rule)
    if not found:
        return
    left = found
    if repair and rule.repair is not None:
        with database.write.begin() as session:
            rule.mend(session)
            left = breaches(session, rule)
    for sentence in found:
        yield Finding(rule.name, sentence, rule.repair is not None, sentence not in left)


def _of_file(files: Files, name: str, quick: bool) -> Iterator[Finding]:
    try:
        if quick and files.has(name):
            return
        with files.open(name) as stream:
            digest = hashlib.sha256()
            while block := stream.read(BLOCK):
                digest.update(block)
            if digest.hexdigest() != name:
                yield Finding(CHANGED, f"The file {name} has other bytes than its name says.")
    except NotFound:
        yield Finding(MISSING, f"The file {name}, which rows name, is not in the store.")
