"""Which boards stand behind a mark of a plot: by days, verdicts, labels, defects, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from backend.domain import State, Verdict
from backend.errors import Invalid, NotFound
from backend.labels import days, facts
from backend.review import rule_filter
from backend.review.deciding import closing, decisions
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import BoardMarkRow, DetectionRow, ImageRow, PartSumRow

NO_CLASS = -1  # of a mark by what is of no class of the project
ABOVE = 2.0  # above every score
MARKS = ("escape", "false_call", "place-N")
ASK, SAID, DOUBT = "ask", "said", "doubt"
VERDICTS = (Verdict.PASS.value, Verdict.FAIL.value, ASK, SAID, DOUBT)


@dataclass(frozen=True, slots=True)
class Behind:
    """Boards that came on these days, show such a defect, or stand behind a mark.

    `below` bounds the score of a detection, as `least` of a choice does from the other side;
    `labels` are classes of whole pictures, `said` what a table of boards says of them.
    """

    since: date | None = None
    until: date | None = None
    defects: tuple[str, ...] = ()
    mark: str = ""
    verdict: str = ""
    below: float = ABOVE
    labels: tuple[str, ...] = ()
    said: tuple[facts.Pair, ...] = ()


NOTHING = Behind()


def parse(given: Mapping[str, Sequence[str]]) -> Behind:
    """What the query of an address names."""
    mark = given.get("mark", [""])[-1]
    kind, _, number = mark.partition("-")
    if mark and not (mark in MARKS[:2] or (kind == "place" and number.isdecimal())):
        raise Invalid(f"There is no mark {mark[:40]!r}; there are {', '.join(MARKS)}.")
    return Behind(
        days.day(given.get("since", [""])[-1]),
        days.day(given.get("until", [""])[-1]),
        tuple(given.get("defect", ())),
        mark,
        _verdict(given.get("verdict", [""])[-1]),
        _below(given.get("below", [""])[-1]),
        tuple(given.get("label", ())),
        facts.parse(given.get("data", ())),
    )


def conditions(
    session: Session, run_id: int, image_id: Any, chosen: Behind
) -> list[ColumnElement[bool]]:
    """The same as conditions on boards of a run."""
    parts: list[ColumnElement[bool]] = []
    if chosen.since or chosen.until:
        came = select(ImageRow.id).where(*days.came(chosen.since, chosen.until))
        parts.append(image_id.in_(came))
    if chosen.said:
        said = select(ImageRow.id).where(*facts.having(ImageRow.facts, chosen.said))
        parts.append(image_id.in_(said))
    if chosen.labels:
        members = class_names.of_run(session, run_id).members(chosen.labels)
        parts.append(image_id.in_(select(ImageRow.id).where(ImageRow.label_id.in_(members))))
    if chosen.verdict:
        parts.append(_stands(session, run_id, image_id, chosen.verdict))
    if chosen.mark:
        parts.append(image_id.in_(_marked(session, run_id, chosen)))
    elif chosen.defects:
        parts.append(rule_filter.shows(session, run_id, image_id, chosen.defects))
    return parts


def _stands(session: Session, run_id: int, image_id: Any, verdict: str) -> Any:
    """Whether a board has a verdict as `verdicts` has it: a person's goes before the rule's."""
    if verdict == SAID:
        judged = image_id.in_(closing.closed(session, run_id))
        done = select(ImageRow.id).where(ImageRow.state == State.DONE)
        return judged & image_id.in_(done) if closing.by_answer(session, run_id) else judged
    people = image_id.in_(decisions.boards(run_id, decisions.BOARD_VERDICTS))
    if verdict == DOUBT:
        return ~people & rule_filter.doubtful(session, run_id, image_id)
    ruled = rule_filter.of(session, run_id, image_id, verdict)
    if verdict == ASK:
        return ~people & ruled
    return image_id.in_(decisions.boards(run_id, (Verdict(verdict),))) | (~people & ruled)


def _verdict(text: str) -> str:
    if text and text not in VERDICTS:
        raise Invalid(f"There is no verdict {text[:40]!r}; there are {', '.join(VERDICTS)}.")
    return text


def _marked(session: Session, run_id: int, chosen: Behind) -> Any:
    kept = select(PartSumRow.marked).where(PartSumRow.run_id == run_id).distinct()
    if set(session.scalars(kept)) != {True}:  # some of them would be as wrong as none
        raise NotFound(
            f"Which boards stand behind a mark is kept of the newest runs; open the overview of "
            f"run {run_id}, which finds them again."
        )
    row = BoardMarkRow
    query = select(row.image_id).where(row.run_id == run_id, row.mark == chosen.mark)
    if not chosen.defects:
        return query
    names = class_names.of_run(session, run_id)
    known = row.class_id.in_(names.members(chosen.defects))
    strange = [one for one in chosen.defects if names.id(one) is None]
    if not strange:
        return query.where(known)
    # Such a mark does not say what was found; the detections of the board do.
    found = row.image_id.in_(_called(run_id, names, strange))
    return query.where(known | ((row.class_id == NO_CLASS) & found))


def _called(run_id: int, names: Naming, labels: Sequence[str]) -> Any:
    """The boards on which a run has found what none of the project's classes is called."""
    row = DetectionRow
    gone = [one for one, name in names.own.items() if name in labels]
    unknown = row.class_id.is_(None) & row.label.in_(labels)
    return select(row.image_id).where(row.run_id == run_id, row.class_id.in_(gone) | unknown)


def _below(text: str) -> float:
    try:
        value = float(text) if text else ABOVE
    except ValueError as error:
        raise Invalid(f"A score is a number between 0 and 1, not {text[:40]!r}.") from error
    if not 0 < value <= ABOVE:  # NaN, too
        raise Invalid(f"A score is a number between 0 and 1, not {text[:40]!r}.")
    return value
