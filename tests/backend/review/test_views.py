"""Images of a run in the order of doubt, each for one inspector alone; the wall; the figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage, Verdict
from backend.errors import Invalid
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import agenda, judgements, reports, views
from backend.review.agenda import Choice
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.review.judgements import Judgement
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import LeaseRow

RUN = 3
SCORES = (0.95, 0.5, 0.7, 0.2, 0.9, 0.55)
BY_DOUBT = (1, 5, 2, 3, 4, 0)


@dataclass
class Review:
    session: Session
    ids: list[int]

    def take(self, holder: str, count: int = 2, **how: int) -> list[int]:
        """Which images a person is given, by their place in SCORES."""
        taken = agenda.take(self.session, RUN, Choice(), holder, holder, count=count, **how)
        return [self.ids.index(image_id) for image_id in taken.image_ids]

    def judge_board(self, at: int, verdict: Verdict) -> None:
        version = labelling.version_of(self.session, self.ids[at])
        sheet = Sheet(version, (), run_id=RUN, review=True, verdict=verdict)
        decisions.save(self.session, self.ids[at], sheet, "ana")


@pytest.fixture
def review(database: Database) -> Iterator[Review]:
    with database.write.begin() as session:
        project = catalogue.create(session, "line")
        classes.ensure(session, project.id, "spur")
        names = [f"board {n}" for n in range(len(SCORES))]
        images.add(session, project.id, [NewImage(n, "0" * 64, 99, 99) for n in names], "ana")
        ids = images.ids(session, project.id, names)
        findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        seen = [
            RunImage(ids[n], n, detections=(Detection(9.0, 9.0, 20.0, 20.0, "spur", score),))
            for n, score in zip(names, SCORES, strict=True)
        ]
        findings.record(session, RUN, seen)
        yield Review(session, [ids[n] for n in names])


@pytest.mark.parametrize("severity", [0, 1, 2])
@pytest.mark.parametrize("thresholds", [{}, {"spur": 0.8}])
def test_boards_are_found_by_what_the_rule_says(
    review: Review, severity: int, thresholds: dict[str, float]
) -> None:
    rule = {"threshold": 0.5, "thresholds": thresholds, "severity": severity, "repeats": 0.0}
    project = views.project_of(review.session, RUN)
    views.set_rule(review.session, project, rule, 0, "ana")
    for at, verdict in ((0, Verdict.FALSE_CALL), (1, Verdict.ACCEPT), (2, Verdict.FALSE_CALL)):
        judgements.judge(review.session, RUN, review.ids[at], Judgement({0: verdict}), "ana")
    judgements.judge(review.session, RUN, review.ids[2], Judgement({0: None}), "ana")
    told = {row["image"]: row["rule"] for row in reports.rows(review.session, RUN)}
    for stand in ("pass", "fail"):
        found = agenda.ids(review.session, RUN, Choice(stands=(f"rule-{stand}",)), 99)
        assert sorted(found) == sorted(image for image, said in told.items() if said == stand)


def test_the_most_doubtful_come_first(review: Review) -> None:
    assert review.take("a", 6) == list(BY_DOUBT)


def test_two_inspectors_never_get_the_same_image(review: Review) -> None:
    first, second = review.take("a", 3), review.take("b", 3)
    assert first + second == list(BY_DOUBT)
    assert review.take("a", 3) == []


def test_a_lease_ends_by_itself(review: Review) -> None:
    review.take("a", 6)
    past = datetime.now(UTC) - timedelta(seconds=1)
    review.session.execute(update(LeaseRow).values(until=past))
    assert review.take("b", 6) == list(BY_DOUBT)


def test_a_lease_is_renewed_and_given_back(review: Review) -> None:
    review.take("a", 2)
    assert agenda.renew(review.session, RUN, "a") == 2
    agenda.give_back(review.session, RUN, "a")
    assert review.take("b", 2) == list(BY_DOUBT[:2])


def test_the_queue_goes_on_after_an_image_and_begins_again(review: Review) -> None:
    assert review.take("a", 6, after=review.ids[BY_DOUBT[3]]) == [4, 0, 1, 5, 2]


def test_a_wanted_image_comes_first_unless_another_has_it(review: Review) -> None:
    assert review.take("a", 2, wanted=review.ids[4]) == [4, 1]
    assert review.take("b", 1, wanted=review.ids[4]) == []
    assert agenda.held_by(review.session, RUN, review.ids[4], "b") == "a"


def test_a_reviewed_board_leaves_the_queue_until_it_is_undone(review: Review) -> None:
    review.judge_board(1, Verdict.FAIL)
    assert review.take("a", 1) == [5]
    assert views.summary(review.session, RUN).reviewed == 1
    version = labelling.version_of(review.session, review.ids[1])
    decisions.save(
        review.session, review.ids[1], Sheet(version, (), run_id=RUN, review=True), "ana"
    )
    assert review.take("b", 1) == [1]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ([("sort", "score")], [0, 4, 2, 5, 1, 3]),
        ([("sort", "name"), ("score", ".6")], [0, 2, 4]),
        ([("class", "short")], []),
        ([("text", "board 3")], [3]),
        ([("stands", "pass")], []),
    ],
)
def test_a_choice_filters_and_sorts(
    review: Review, query: list[tuple[str, str]], wanted: list[int]
) -> None:
    found = agenda.ids(review.session, RUN, agenda.parse(query), 10)
    assert [review.ids.index(id_) for id_ in found] == wanted


def test_a_choice_that_makes_no_sense_is_refused() -> None:
    for query in ([("sort", "colour")], [("score", "much")], [("stands", "maybe")]):
        with pytest.raises(Invalid):
            agenda.parse(query)


def test_the_wall_begins_with_what_is_nearest_to_one_half(review: Review) -> None:
    total, tiles = views.wall(review.session, RUN, "spur", 0, 4)
    assert total == len(SCORES)
    assert [tile.detection.score for tile in tiles] == [0.5, 0.55, 0.7, 0.2]
    _, rest = views.wall(review.session, RUN, "spur", 4, 4)
    assert [tile.detection.score for tile in rest] == [0.9, 0.95]
