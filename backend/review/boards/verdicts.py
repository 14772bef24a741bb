"""What stands of each board of a run: its verdict, who says so, and its defects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend import families, matching
from backend.domain import Box, Detection, Image, State
from backend.errors import Invalid
from backend.review import agenda, rule_filter, tally, views
from backend.review.deciding import closing
from backend.review.views import Reviewed, ReviewRule
from backend.storage import findings
from backend.storage.tables import RunImageRow

PASS, FAIL, ASK = "pass", "fail", "ask"
PAGE = 500


@dataclass(frozen=True, slots=True)
class StandingDefect:
    """A label, or (with a score) what the run found and nobody has judged yet."""

    place: tuple[float, float, float, float]
    label: str
    severity: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class StandingBoard:
    """A picture of a run as it stands now; `said_by` is empty where the rule says the verdict.

    `ask`: the answer of a classified picture is below the score of the rule. There `said_by` is
    who has said in this run which class it is, and `called` the class: a person's, or with its
    score the model's.
    """

    image: Image
    verdict: str
    said_by: str
    defects: tuple[StandingDefect, ...]
    golden_sha256: str = ""
    lie: tuple[float, ...] = ()
    called: str = ""
    score: float | None = None

    @property
    def by_class(self) -> dict[str, int]:
        """How many defects of each class stand, the most first."""
        return dict(Counter(one.label for one in self.defects).most_common())

    @property
    def worst(self) -> float | None:
        """The highest score among what nobody has judged."""
        return max((one.score for one in self.defects if one.score is not None), default=self.score)


@dataclass(frozen=True, slots=True)
class UnreadPicture:
    """A picture that the run could not read, and why."""

    name: str
    error: str


@dataclass(frozen=True, slots=True)
class Ruled:
    """What says the verdict of a board that no person has judged."""

    rule: ReviewRule
    severities: Mapping[str, int]
    once: bool

    def severity(self, label: str) -> int:
        """How bad a class is; what is of no class has severity 1."""
        return self.severities.get(label, 1)

    def fails(self, label: str) -> bool:
        """Whether a defect of that class fails a board."""
        return self.severity(label) >= self.rule["severity"]

    def board(self, seen: Reviewed) -> StandingBoard:
        """A board as it stands."""
        said, defects = self._answer(seen) if self.once else self._board(seen)
        return StandingBoard(
            seen.item.image,
            seen.verdict or said,
            self._said_by(seen),
            defects,
            seen.item.golden_sha256,
            seen.item.lie,
            *(self._called(seen) if self.once else ("", None)),
        )

    def _called(self, seen: Reviewed) -> tuple[str, float | None]:
        image, best = seen.item.image, next(iter(seen.detections), None)
        if image.state is State.DONE or best is None:
            return image.label, None
        return best.label, best.score

    def _said_by(self, seen: Reviewed) -> str:
        if not self.once:
            return seen.verdict_by
        done = seen.item.image.state is State.DONE
        return seen.decided.get(closing.ANSWER, "") if done else ""

    def _board(self, seen: Reviewed) -> tuple[str, tuple[StandingDefect, ...]]:
        labels = [self._defect(box) for box in seen.item.boxes]
        waiting = [
            one
            for one in seen.detections
            if one.idx not in seen.decided and one.score >= tally.least(self.rule, one.label)
        ]
        # What a label shows already is no second defect.
        hits = matching.match_boxes(waiting, list(seen.item.boxes), tally.IOU).detections
        new = [one for one, hit in zip(waiting, hits, strict=True) if hit < 0]
        defects = (*labels, *(self._defect(one) for one in new))
        return FAIL if any(self.fails(one.label) for one in defects) else PASS, defects

    def _answer(self, seen: Reviewed) -> tuple[str, tuple[StandingDefect, ...]]:
        """A classified picture fails by its class, or else by an answer that is sure enough."""
        image = seen.item.image
        given = image.label if image.state is State.DONE else None
        best = next(iter(seen.detections), None)
        said = tally.answer(given, best, self.rule, self.severities)
        if said != FAIL:
            return said, ()
        whole = (0.0, 0.0, float(image.width), float(image.height))
        if given is None and best is not None:
            return said, (StandingDefect(whole, best.label, self.severity(best.label), best.score),)
        return said, (
            StandingDefect(whole, given or rule_filter.NO_CLASS, self.severity(given or "")),
        )

    def _defect(self, one: Box | Detection) -> StandingDefect:
        score = one.score if isinstance(one, Detection) else None
        return StandingDefect(
            (one.x1, one.y1, one.x2, one.y2), one.label, self.severity(one.label), score
        )


def ruled(session: Session, run_id: int) -> Ruled:
    """The rule of the run's project, by which its boards are judged."""
    project_id = views.project_of(session, run_id)
    once = families.answers_once(findings.get(session, run_id).family)
    rule = views.rule(session, project_id)
    return Ruled(rule, tally.severities(session, project_id), once)


def of(session: Session, run_id: int, image_ids: Sequence[int]) -> list[StandingBoard]:
    """These boards of a run, in this order."""
    by_rule = ruled(session, run_id)
    return [by_rule.board(one) for one in views.items(session, run_id, image_ids)]


def window(
    session: Session, run_id: int, choice: agenda.Choice, after: int, limit: int
) -> list[StandingBoard]:
    """The boards of a choice that come after one, in its order."""
    if not 0 < limit <= PAGE:
        raise Invalid(f"A part of the boards holds 1 to {PAGE} of them.")
    return of(session, run_id, agenda.ids(session, run_id, choice, limit, after))


def every(session: Session, run_id: int) -> Iterator[list[StandingBoard]]:
    """All boards of a run by name, some at a time."""
    by_name, after = agenda.Choice(sort="name"), 0
    while part := window(session, run_id, by_name, after, PAGE):
        yield part
        after = part[-1].image.id


def unreadable(session: Session, run_id: int, most: int) -> tuple[int, list[UnreadPicture]]:
    """How many pictures the run could not read, and the first of them."""
    row = RunImageRow
    unread = row.run_id == run_id, row.status != "ok"
    number = session.scalar(select(func.count()).select_from(row).where(*unread)) or 0
    query = select(row.name, row.error).where(*unread).order_by(row.name).limit(most)
    return number, [UnreadPicture(name, error) for name, error in session.execute(query)]
