"""What forests find in pictures whose labels they did not learn from; each is compared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.errors import Refused
from workers.families.base import Answer, Example, Reporter, TrainingSet
from workers.families.golden import learning, options, seeing
from workers.families.golden.learning import LabelledProposals
from workers.families.golden.lessons import Goldens, School
from workers.families.golden.model import GoldenModel, believe
from workers.families.golden.seeing import Seen

COMPARED = 0.8  # of the time


@dataclass(frozen=True, slots=True)
class Compared:
    """A picture's proposals, and what its labels teach of them."""

    seen: Seen
    lesson: LabelledProposals


def crossed(data: TrainingSet, parts: Sequence[int], seed: int, reporter: Reporter) -> list[Answer]:
    """What is found in each picture by a forest that has learned from all parts but its own."""
    school = School(data, options.read({}), reporter)
    goldens, compared = Goldens(), list[Compared | Refused]()
    for number, example in enumerate(data.examples, 1):
        compared.append(_compared(school, example, goldens))
        done = COMPARED * number / len(data.examples)
        reporter.progress(done, f"Compared {number:,} of {len(data.examples):,} pictures.")
    answers: list[Answer] = [one for one in compared if isinstance(one, Refused)]
    return _judged(school, compared, parts, seed) if len(answers) < len(compared) else answers


def _compared(school: School, example: Example, goldens: Goldens) -> Compared | Refused:
    try:
        picture, labelled = school.pictured(example, goldens)
        seen = seeing.look(picture, school.settings)
    except Refused as refusal:
        return refusal
    return Compared(seen, school.taught(seen, picture, labelled, example.group))


def _judged(
    school: School, compared: Sequence[Compared | Refused], parts: Sequence[int], seed: int
) -> list[Answer]:
    number, models = len(set(parts)), dict[int, GoldenModel]()
    for at, part in enumerate(sorted(set(parts))):
        done = COMPARED + (1 - COMPARED) * at / number
        school.reporter.progress(done, f"Learning from all parts but {at + 1} of {number}.")
        models[part] = _model(school, compared, parts, part, seed)
    return [
        one if isinstance(one, Refused) else _answer(models[part], one, example.name)
        for one, part, example in zip(compared, parts, school.snapshot.examples, strict=True)
    ]


def _model(
    school: School,
    compared: Sequence[Compared | Refused],
    parts: Sequence[int],
    part: int,
    seed: int,
) -> GoldenModel:
    others = [
        one.lesson
        for one, where in zip(compared, parts, strict=True)
        if where != part and not isinstance(one, Refused)
    ]
    if not any(len(lesson.rows) for lesson in others):
        raise Refused(school.nothing)
    classes = school.snapshot.classes
    learned = learning.learn(others, classes, seed)
    return GoldenModel(classes, school.settings, learned.judge, learned.edges)


def _answer(model: GoldenModel, one: Compared, name: str) -> Answer:
    found = model.detections(one.seen)
    try:
        believe(found, one.seen, name)
    except Refused as refusal:
        return refusal
    return found
