"""Two people at once: what one saves while the other's transaction begins is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Person, Role, Run, RunImage, Verdict
from backend.errors import Refused
from backend.labels import images, intake, labelling
from backend.labels.images import NewImage
from backend.models import registry
from backend.projects import catalogue, classes, members, people
from backend.review import blind_repeats, judgements, views
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.review.judgements import Judgement
from backend.storage import doors, findings
from backend.storage.engine import Database
from backend.storage.tables import ModelRow

RUN = 7
ENOUGH = 0.5
Does = Callable[[Session], object]


def beside(database: Database, first: Does, second: Does) -> None:
    """`second` begins when `first` has written and not yet committed."""

    def later() -> None:
        with database.write.begin() as session:
            second(session)

    with ThreadPoolExecutor(1) as pool:
        with database.write.begin() as session:
            first(session)
            waiting = pool.submit(later)
            time.sleep(ENOUGH)
        waiting.result()


def image_with_a_spur(session: Session) -> int:
    project = catalogue.create(session, "line", classes=("spur",))
    images.add(session, project.id, [NewImage("a", "0" * 64, 100, 100)], "ana")
    image = images.find(session, project.id, "a").id
    findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project.id))
    spur = Detection(10.0, 10.0, 30.0, 30.0, "spur", 0.9)
    findings.record(session, RUN, [RunImage(image, "a", detections=(spur,))])
    return image


def test_a_sweep_keeps_the_box_that_somebody_saves_meanwhile(database: Database) -> None:
    with database.write.begin() as session:
        image = image_with_a_spur(session)
    own = Sheet(0, (Box(50.0, 50.0, 70.0, 70.0, "spur"),))
    beside(
        database,
        lambda session: decisions.save(session, image, own, "ana"),
        lambda session: judgements.judge(
            session, RUN, image, Judgement({0: Verdict.ACCEPT}), "bob"
        ),
    )
    with database.read() as session:
        boxes = labelling.boxes_of(session, [image])[image]
    assert sorted(box.x1 for box in boxes) == [10.0, 50.0]


def test_a_project_stays_closed_when_somebody_moves_the_threshold_meanwhile(
    database: Database,
) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "secret").id
        for name in ("ana", "bob"):
            people.add(session, name, Role.LABELER, "password1")
    beside(
        database,
        lambda session: members.choose(session, project, ["ana"]),
        lambda session: views.set_rule(session, project, {"threshold": 0.4}, 0, "ana"),
    )
    with database.read() as session:
        assert doors.shut(session, Person("bob", Role.LABELER)) == {project}
        assert views.rule(session, project)["threshold"] == 0.4


def line(database: Database) -> int:
    with database.write.begin() as session:
        return catalogue.create(session, "line", classes=("spur",)).id


def names(database: Database, project: int) -> list[tuple[int, str]]:
    with database.read() as session:
        return [(one.index, one.name) for one in classes.of(session, project)]


def test_who_adds_a_class_that_another_adds_right_now_is_told_so(database: Database) -> None:
    project = line(database)
    with pytest.raises(Refused, match="There is already a class named 'open'"):
        beside(
            database,
            lambda session: classes.add(session, project, "open"),
            lambda session: classes.add(session, project, "open"),
        )
    assert names(database, project) == [(0, "spur"), (1, "open")]


def test_an_import_takes_up_the_class_that_a_person_adds_right_now(database: Database) -> None:
    project = line(database)
    beside(
        database,
        lambda session: classes.add(session, project, "open"),
        lambda session: classes.ensure_all(session, project, ["short", "open"]),
    )
    assert names(database, project) == [(0, "spur"), (1, "open"), (2, "short")]


def test_two_classes_are_not_given_one_name_at_once(database: Database) -> None:
    project = line(database)
    with database.write.begin() as session:
        spur, short = (classes.ensure(session, project, name).id for name in ("spur", "short"))
    with pytest.raises(Refused, match="There is already a class named 'open'; merge"):
        beside(
            database,
            lambda session: classes.edit(session, spur, name="open"),
            lambda session: classes.edit(session, short, name="open"),
        )
    assert names(database, project) == [(0, "open"), (1, "short")]


def test_a_project_or_an_account_that_another_makes_right_now_is_said_to_be_there(
    database: Database,
) -> None:
    with pytest.raises(Refused, match="There is already a project named 'line'"):
        beside(
            database,
            lambda session: catalogue.create(session, "line"),
            lambda session: catalogue.create(session, "line", classes=["spur"]),
        )
    with pytest.raises(Refused, match="There is already a user named 'ana'"):
        beside(
            database,
            lambda session: people.add(session, "ana", Role.LABELER, "password1"),
            lambda session: people.add(session, "ana", Role.ADMIN, "password2"),
        )
    with database.read() as session:
        assert people.everyone(session) == [Person("ana", Role.LABELER)]


def test_two_imports_into_a_new_project_share_it_and_its_pictures(database: Database) -> None:
    picture = NewImage("a", "0" * 64, 9, 9, (Box(1, 1, 5, 5, "spur"),), labelled=True)
    ready = intake.Ready(picture)

    def bring(session: Session) -> intake.Counts:
        project = catalogue.find_or_create(session, "line")
        return intake.add(session, project, [ready], "ana")

    said: list[intake.Counts] = []
    beside(database, lambda s: said.append(bring(s)), lambda s: said.append(bring(s)))
    assert [(one.images, one.boxes, one.skipped) for one in said] == [(1, 1, 0), (0, 0, 1)]


def models(session: Session, many: int) -> list[int]:
    project = catalogue.create(session, "line").id
    nothing: dict[str, Any] = {"classes": (), "snapshot_id": None, "parameters": {}}
    return [registry.add(session, project, "yolo", **nothing).id for _ in range(many)]


def champions(session: Session) -> list[int]:
    return list(session.scalars(select(ModelRow.id).filter_by(champion=True)))


def test_a_project_has_one_champion_when_two_are_promoted_at_once(database: Database) -> None:
    with database.write.begin() as session:
        first, second, third = models(session, 3)
        for model in (first, second, third):
            registry.complete(session, model, "0" * 64, {})
    beside(
        database,
        lambda session: registry.promote(session, second),
        lambda session: registry.promote(session, third),
    )
    with database.read() as session:
        assert champions(session) == [third]


def test_a_project_has_one_champion_when_its_first_models_are_ready_at_once(
    database: Database,
) -> None:
    with database.write.begin() as session:
        first, second = models(session, 2)
    beside(
        database,
        lambda session: registry.complete(session, first, "0" * 64, {}),
        lambda session: registry.complete(session, second, "1" * 64, {}),
    )
    with database.read() as session:
        assert champions(session) == [first]


def test_a_blind_answer_that_is_sent_twice_at_once_is_one(database: Database) -> None:
    with database.write.begin() as session:
        image = image_with_a_spur(session)
    sheet = Sheet(0, (), run_id=RUN, accepted=(0,), verdict=Verdict.FAIL, seconds=1.0)

    def answer(session: Session) -> None:
        blind_repeats.record(session, RUN, image, sheet, "ana")

    beside(database, answer, answer)
    with database.read.begin() as session:
        assert blind_repeats.repeated(session, RUN, "ana") == 1
