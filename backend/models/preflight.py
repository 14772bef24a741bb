"""What stands in the way of a training, or should be known first, before a GPU is spent."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend import families, spaces
from backend.domain import JobState, Project, Split, Task
from backend.errors import Invalid
from backend.families import Family
from backend.jobs import cards, needs
from backend.models import beginnings, registry, snapshots, usual
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.tables import BoxRow, ClassRow, ImageRow, JobRow
from backend.weights import start_weights

BOUNDS: Mapping[str, tuple[float, float]] = {
    "epochs": (1, 10_000),
    "image_size": (32, 4096),
    "batch": (1, 4096),
    "workers": (1, 1024),
    "seed": (0, 2**31 - 1),
    "patience": (0, 10_000),
    "learning_rate": (0.0, 10.0),
    "memory_gb": (0.0, needs.MOST_MEMORY),
}
FRACTIONS = ("learning_rate", "memory_gb")
# What has no bounds; `start` says what a model began from.
OTHERS = ("variant", "device", "extra", "start")
SCRATCH = "scratch"
NO_DETECTOR = (
    "A second stage stands behind a detector, and the project has none yet: train one first, or "
    "name the weights of one."
)
NO_GOLDEN = "No labelled image has a golden, without which this family cannot compare anything."
NO_GOLDEN_BEHIND = (
    "No labelled image has a golden. A second stage judges each place by what differs from the "
    "golden: from the picture alone it saves no false calls."
)
ABSENT: Mapping[Split, str] = {
    Split.TRAIN: "Never seen in training, so not learned",
    Split.VAL: "Not among the validation images",
    Split.TEST: "Not among the test images, so not judged",
}


@dataclass(frozen=True, slots=True)
class Preflight:
    """`problems` refuse a training, `warnings` do not; `seconds` is None where nothing is known.

    `notes` say what it starts from, and what to expect of that.
    """

    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    images: Mapping[str, int]
    boxes: Mapping[str, Mapping[str, int]]
    seconds: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Picture:
    name: str
    sha256: str
    group: str
    split: Split
    label: str
    has_golden: bool


def check(
    session: Session,
    project_id: int,
    family: str,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    start: str = "",
) -> Preflight:
    """Look at what a training of this family would get if it were started now.

    `start` is as in `training.retrain`: without any, the family's own start weights must be here.
    """
    project, chosen = catalogue.get(session, project_id), families.find(family)
    pictures = _pictures(session, snapshots.plan(session, project_id, seed))
    boxes = _drawn(session, project, pictures)
    said = parameters or {}
    variant = str(said.get("variant", ""))
    values = {**usual.parameters(session, project_id, family, variant), **said}
    images = Counter(str(picture.split) for picture in pictures.values())
    unusable = _unusable(values, chosen)
    problems = [
        *unusable,
        *_problems(project, chosen, pictures, boxes),
        *_no_start(chosen, values, start),
        *_no_detector(session, project_id, chosen, start),
        *cards.missing(session, values),
        *spaces.wrong(family, values.get("extra") or {}),
    ]
    return Preflight(
        tuple(problems),
        tuple(_warnings(session, project, pictures, boxes)) if not problems else (),
        dict(images),
        boxes,
        None if unusable else _seconds(session, family, values, images[Split.TRAIN]),
        () if problems else tuple(beginnings.notes(chosen, values, start)),
    )


def refuse_values(family: str, values: Mapping[str, Any]) -> None:
    """Raise Invalid where parameters make no sense, whatever there is to learn from."""
    chosen = families.find(family)
    found = [*_unusable(values, chosen), *spaces.wrong(family, values.get("extra") or {})]
    if found:
        raise Invalid(" ".join(found))


def _unusable(values: Mapping[str, Any], chosen: Family) -> list[str]:
    return [*_unknown(values), *_parameters(values, chosen)]


def _unknown(values: Mapping[str, Any]) -> Iterable[str]:
    known = (*BOUNDS, *OTHERS)
    for name in values:
        if name not in known:
            yield f"There is no parameter {name[:40]!r}; there are {', '.join(known[:-2])}."


def _parameters(values: Mapping[str, Any], family: Family) -> Iterable[str]:
    for name, (least, most) in BOUNDS.items():
        value = values.get(name, least)
        said = repr(value)[:40]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not least <= value <= most:
            yield f"The parameter {name} must be from {least:g} to {most:g}, not {said}."
        elif name not in FRACTIONS and not isinstance(value, int):
            yield f"The parameter {name} must be a whole number, not {said}."
    yield from needs.problems(values)
    variant = values.get("variant", "")
    if family.variants and variant and variant not in family.variants:
        known = ", ".join(family.variants)
        yield f"{family.name} has no variant {str(variant)[:40]!r}; there are {known}."
    size = values.get("image_size", 0)
    small = variant and variant == family.small.get("variant")
    if small and isinstance(size, int) and size > usual.SMALL:
        yield (
            f"The variant {variant} is for pictures of up to {usual.SMALL} pixels, not {size}: "
            "choose another one, or a smaller image size."
        )


def _no_start(family: Family, values: Mapping[str, Any], start: str) -> Iterable[str]:
    """A training must not fail in the queue for want of a file that is known to be missing."""
    variant, extra = str(values.get("variant", "")), values.get("extra") or {}
    if family.from_nothing:
        return
    asked = start or extra.get("from_scratch") or extra.get("download")
    if asked or (family.name, variant) not in start_weights.NAMES:
        return
    if start_weights.find(family.name, variant) is None:
        yield start_weights.missing(family.name, variant)


def _no_detector(session: Session, project_id: int, family: Family, start: str) -> Iterable[str]:
    named = start if start != SCRATCH else ""
    if family.behind and not (named or registry.best(session, project_id, families.detectors())):
        yield NO_DETECTOR


def _problems(
    project: Project,
    family: Family,
    pictures: Mapping[int, _Picture],
    boxes: Mapping[str, Mapping[str, int]],
) -> Iterable[str]:
    if project.task is not family.task:
        yield f"{family.title} cannot be trained here: the project's task is {project.task}."
    if not project.classes:
        yield "The project has no class yet; name what there is to be found."
    if not pictures:
        yield f"The project {project.name!r} has no labelled image yet; label some first."
    elif len(pictures) < 2:
        yield "There is one labelled image: a training needs one to learn from and one to judge by."
    elif not any(counts.get(Split.TRAIN) for counts in boxes.values()):
        yield "No training image shows anything to be found, so there is nothing to learn."
    if family.needs_golden and not any(picture.has_golden for picture in pictures.values()):
        yield NO_GOLDEN_BEHIND if family.behind else NO_GOLDEN


def _warnings(
    session: Session,
    project: Project,
    pictures: Mapping[int, _Picture],
    boxes: Mapping[str, Mapping[str, int]],
) -> Iterable[str]:
    yield from _absences(boxes)
    if project.task is Task.DETECT:
        empty = len(pictures) - _with_boxes(session, pictures)
        if empty:
            yield f"{empty} of {len(pictures)} images have no box: they count as free of defects."
    yield from _leaks(pictures)


def _absences(boxes: Mapping[str, Mapping[str, int]]) -> Iterable[str]:
    """The first split that each class is missing from, all classes in one sentence."""
    absent: dict[Split, list[str]] = defaultdict(list)
    for name, counts in boxes.items():
        if missing := [split for split in ABSENT if not counts.get(split)]:
            absent[missing[0]].append(name)
    for split, sentence in ABSENT.items():
        if names := absent[split]:
            yield f"{sentence}: {', '.join(names)}."


def _leaks(pictures: Mapping[int, _Picture]) -> Iterable[str]:
    """What stands on two sides makes a model look better than it is."""
    for what, key in (("picture", "sha256"), ("group", "group")):
        sides: dict[str, set[Split]] = defaultdict(set)
        named: dict[str, str] = {}
        for picture in pictures.values():
            if value := getattr(picture, key):
                sides[value].add(picture.split)
                named.setdefault(value, picture.name)
        both = [value for value, splits in sides.items() if len(splits) > 1]
        if both:
            yield (
                f"The same {what} stands in two splits {len(both)} times (as {named[both[0]]}): "
                "the figures will look better than they are."
            )


def _pictures(session: Session, plan: Mapping[int, Split]) -> dict[int, _Picture]:
    columns = (ImageRow.id, ImageRow.name, ImageRow.sha256, ImageRow.group, ImageRow.golden_id)
    found = {}
    for part in engine.batches(list(plan)):
        query = (
            select(*columns, ClassRow.name)
            .outerjoin(ClassRow, ClassRow.id == ImageRow.label_id)
            .where(ImageRow.id.in_(part))
        )
        for id, name, sha256, group, golden, label in session.execute(query):
            found[id] = _Picture(name, sha256, group, plan[id], label or "", golden is not None)
    return found


def _drawn(
    session: Session, project: Project, pictures: Mapping[int, _Picture]
) -> dict[str, dict[str, int]]:
    """How often each class stands in each split, as boxes or as whole pictures."""
    counts: dict[str, Counter[str]] = {kind.name: Counter() for kind in project.classes}
    if project.task is Task.CLASSIFY:
        for picture in pictures.values():
            if picture.label in counts:
                counts[picture.label][str(picture.split)] += 1
        return {name: dict(found) for name, found in counts.items()}
    names = class_names.of(session, project.id)
    for part in engine.batches(list(pictures)):
        query = (
            select(BoxRow.class_id, BoxRow.image_id, func.count())
            .where(BoxRow.image_id.in_(part))
            .group_by(BoxRow.class_id, BoxRow.image_id)
        )
        for class_id, image_id, number in session.execute(query):
            if (name := names.name(class_id)) in counts:
                counts[name][str(pictures[image_id].split)] += number
    return {name: dict(found) for name, found in counts.items()}


def _with_boxes(session: Session, pictures: Mapping[int, _Picture]) -> int:
    number = func.count(func.distinct(BoxRow.image_id))
    parts = engine.batches(list(pictures))
    return sum(
        session.scalar(select(number).where(BoxRow.image_id.in_(part))) or 0 for part in parts
    )


def _seconds(session: Session, family: str, values: Mapping[str, Any], images: int) -> float | None:
    """By the pace of this family's last trainings, per image, epoch and pixel."""
    query = select(JobRow.result).where(JobRow.kind == "train", JobRow.state == JobState.DONE)
    query = query.where(JobRow.attempt == 1)  # later attempts know only their own time
    paces = []
    for result in session.scalars(query.order_by(JobRow.id.desc()).limit(20)):
        work = result.get("work")
        if result.get("family") == family and work:
            paces.append(result["seconds"] / work)
    work = amount(images, values)
    return statistics.median(paces) * work if paces and work else None


def amount(images: int, values: Mapping[str, Any]) -> float:
    """How much there is to do, in pictures of a million pixels."""
    return images * int(values.get("epochs", 1)) * (int(values.get("image_size", 640)) / 1000) ** 2


def refuse(report: Preflight) -> None:
    """Raise what stands in the way, if anything does."""
    if report.problems:
        raise Invalid(" ".join(report.problems))
