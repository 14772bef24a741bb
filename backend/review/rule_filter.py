"""The project's rule as a condition on boards of a run; `tally.verdict` says it of one.

A classified picture fails for its class: the one that it was given, else the model's answer where
that is sure enough; where it is not, a person is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, exists, false, func, or_
from sqlalchemy.orm import Session, aliased

from backend.domain import Project, State
from backend.projects import catalogue
from backend.review import tally, views
from backend.review.deciding import closing
from backend.storage.classes import class_names
from backend.storage.classes.class_names import Naming
from backend.storage.tables import BoxRow, DecisionRow, DetectionRow, ImageRow

NEAR = 0.1  # a score so near to the one from which it counts leaves a board in doubt
NO_CLASS = "no class"  # what a picture is that a person gave none


def of(session: Session, run_id: int, image_id: Any, verdict: str) -> ColumnElement[bool]:
    """Whether the rule says so of a board: it passes, fails, or (of a picture's answer) asks."""
    if closing.by_answer(session, run_id):
        return _of_answer(session, run_id, image_id)[verdict]
    failed = fails(session, run_id, image_id)
    return {"pass": ~failed, "fail": failed, "ask": false()}[verdict]


def _of_answer(session: Session, run_id: int, image_id: Any) -> dict[str, ColumnElement[bool]]:
    project = catalogue.get(session, views.project_of(session, run_id))
    names, rule = class_names.of(session, project.id), views.rule(session, project.id)
    every = [one.name for one in project.classes]
    severe = [one.name for one in project.classes if one.severity >= rule["severity"]]
    of_image = exists().where(ImageRow.id == image_id, ImageRow.state == State.DONE)
    # What is of no class has severity 1.
    bad = ImageRow.label_id.in_(names.members(severe))
    strange = ImageRow.label_id.is_(None) if rule["severity"] <= 1 else false()
    said = DetectionRow.run_id == run_id, DetectionRow.image_id == image_id
    sure = exists().where(*said, _counting(names, rule, every))
    surely_bad = exists().where(*said, _counting(names, rule, severe))
    failed = of_image.where(or_(bad, strange)) | (~of_image & surely_bad)
    asked = ~of_image & ~sure
    return {"pass": ~failed & ~asked, "fail": failed, "ask": asked}


def fails(session: Session, run_id: int, image_id: Any) -> ColumnElement[bool]:
    """Whether the rule fails a board: for a label, or for a detection that nobody has judged."""
    project = catalogue.get(session, views.project_of(session, run_id))
    names, rule = class_names.of(session, project.id), views.rule(session, project.id)
    severe = [one.name for one in project.classes if one.severity >= rule["severity"]]
    labelled = exists().where(
        BoxRow.image_id == image_id, BoxRow.class_id.in_(names.members(severe))
    )
    counting = [_counting(names, rule, severe)]
    if rule["severity"] <= 1:
        # What is of no class has severity 1.
        known = or_(false(), *names.detected([one.name for one in project.classes]))
        counting.append(~func.coalesce(known, false()) & (DetectionRow.score >= rule["threshold"]))
    waiting = exists().where(
        DetectionRow.run_id == run_id,
        DetectionRow.image_id == image_id,
        or_(*counting),
        ~_judged(run_id),
    )
    return or_(labelled, waiting)


def doubtful(session: Session, run_id: int, image_id: Any) -> ColumnElement[bool]:
    """Whether a detection that nobody has judged lies near the score from which it fails a board.

    Where people are done with the labels, they have seen it. Of classified pictures: whether the
    rule asks a person.
    """
    if closing.by_answer(session, run_id):
        return of(session, run_id, image_id, "ask")
    project = catalogue.get(session, views.project_of(session, run_id))
    names, rule = class_names.of(session, project.id), views.rule(session, project.id)
    severe = [one.name for one in project.classes if one.severity >= rule["severity"]]
    near = (
        or_(*names.detected([name]))
        & DetectionRow.score.between(tally.least(rule, name) - NEAR, tally.least(rule, name) + NEAR)
        for name in severe
    )
    hardly = exists().where(
        DetectionRow.run_id == run_id,
        DetectionRow.image_id == image_id,
        or_(false(), *near),
        ~_judged(run_id),
    )
    return hardly & ~exists().where(ImageRow.id == image_id, ImageRow.state == State.DONE)


def shows(
    session: Session, run_id: int, image_id: Any, labels: Collection[str]
) -> ColumnElement[bool]:
    """Whether a defect of one of these classes stands on a board, as `verdicts` has it."""
    project = catalogue.get(session, views.project_of(session, run_id))
    names, rule = class_names.of(session, project.id), views.rule(session, project.id)
    if closing.by_answer(session, run_id):
        return _fails_as(run_id, image_id, project, rule, names, labels)
    labelled = exists().where(
        BoxRow.image_id == image_id, BoxRow.class_id.in_(names.members(labels))
    )
    # One that was taken out of the project keeps the name that it had.
    gone = [one for one, name in names.own.items() if name in labels and names.id(name) is None]
    taken_out = DetectionRow.class_id.in_(gone) & (DetectionRow.score >= rule["threshold"])
    waiting = exists().where(
        DetectionRow.run_id == run_id,
        DetectionRow.image_id == image_id,
        or_(_counting(names, rule, [*labels]), taken_out),
        ~_judged(run_id),
    )
    return or_(labelled, waiting)


def _fails_as(
    run_id: int,
    image_id: Any,
    project: Project,
    rule: Mapping[str, Any],
    names: Naming,
    labels: Collection[str],
) -> ColumnElement[bool]:
    """Whether a classified picture fails as one of these."""
    severe = [
        one.name
        for one in project.classes
        if one.severity >= rule["severity"] and one.name in labels
    ]
    of_image = exists().where(ImageRow.id == image_id, ImageRow.state == State.DONE)
    bad = ImageRow.label_id.in_(names.members(severe))
    strange = NO_CLASS in labels and rule["severity"] <= 1
    bare = ImageRow.label_id.is_(None) if strange else false()
    said = exists().where(
        DetectionRow.run_id == run_id,
        DetectionRow.image_id == image_id,
        _counting(names, rule, severe),
    )
    return of_image.where(or_(bad, bare)) | (~of_image & said)


def _counting(names: Naming, rule: Mapping[str, Any], severe: list[str]) -> ColumnElement[bool]:
    """Whether a detection is of one of these classes and has the score from which it counts."""
    by_score: defaultdict[float, list[str]] = defaultdict(list)
    for name in severe:
        by_score[tally.least(rule, name)].append(name)
    parts = (
        or_(*names.detected(some)) & (DetectionRow.score >= score)
        for score, some in by_score.items()
    )
    return or_(false(), *parts)


def _judged(run_id: int) -> ColumnElement[bool]:
    """Whether a decision on a detection stands: the newest takes none back."""
    said, later = aliased(DecisionRow), aliased(DecisionRow)
    newer = exists().where(
        later.run_id == run_id,
        later.image_id == said.image_id,
        later.idx == said.idx,
        later.id > said.id,
    )
    return exists().where(
        said.run_id == run_id,
        said.image_id == DetectionRow.image_id,
        said.idx == DetectionRow.idx,
        said.undoes.is_(None),
        ~newer,
    )
