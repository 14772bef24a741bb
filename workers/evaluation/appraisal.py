"""What a model is worth on labelled pictures, the same way for every family."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backend import families, intervals, matching
from backend.domain import Split
from backend.errors import Refused
from workers import cards, data, merged
from workers.evaluation import classes as worth
from workers.evaluation import metrics
from workers.evaluation.average_precision import Weighed
from workers.families import base
from workers.families.base import NOTHING, Detections, Example, LoadedModel, TrainingSet

Tell = Callable[[float, str], None]
BATCH = 8
HELD_OUT = (Split.TEST, Split.VAL, Split.TRAIN)


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What a model found in each of the examples; `refused` says why it judged none in some."""

    examples: tuple[Example, ...]
    detections: tuple[Detections, ...]
    refused: Mapping[str, str]
    seconds: float = 0.0


def held_out(snapshot: TrainingSet) -> Split:
    """The split that a model is judged by: test, or what there is in its place."""
    return next(split for split in HELD_OUT if snapshot.of(split))


def part(snapshot: TrainingSet, wanted: str) -> tuple[Split, tuple[Example, ...]]:
    """The split of that name, else the held-out one, and its examples."""
    split = Split(wanted) if wanted else held_out(snapshot)
    if not snapshot.of(split):
        raise Refused(f"The snapshot has no image in the split {split}.")
    return split, snapshot.of(split)


def look(
    family: str,
    weights: Path,
    examples: Sequence[Example],
    classes: Sequence[str],
    tell: Tell,
    known: Sequence[str] = (),
) -> Appraisal:
    """Run a model of the registry over the examples, as its family itself does.

    `known` are its classes as `classes` calls them, which its file may call otherwise.
    """
    model = base.implementation(family).load(weights, cards.device())
    whole = families.answers_once(family)
    return look_with(model, examples, classes, tell, known=known, whole=whole)


def look_with(
    model: LoadedModel,
    examples: Sequence[Example],
    classes: Sequence[str],
    tell: Tell,
    batch: int = BATCH,
    *,
    known: Sequence[str] = (),
    whole: bool = False,
) -> Appraisal:
    """Run a model over the examples; its classes are renumbered as `classes` has them.

    Of boxes on one spot whose classes were merged one is left, unless each is of a `whole` picture.
    The seconds are those of the model alone.
    """
    places, seconds = _places(known or model.classes, classes), 0.0
    named = merged.renumbered if whole else merged.once
    found: list[Detections] = []
    refused: dict[str, str] = {}
    for start in range(0, len(examples), batch):
        tell(start / len(examples), f"Looking at picture {start + 1} of {len(examples)}")
        part = examples[start : start + batch]
        pictures = list(data.pictures(part))
        began = time.perf_counter()
        answers = model.predict(pictures)
        seconds += time.perf_counter() - began
        for example, answer in zip(part, answers, strict=True):
            if isinstance(answer, Refused):
                refused[example.name] = str(answer)
            found.append(NOTHING if isinstance(answer, Refused) else named(answer, places))
    return Appraisal(tuple(examples), tuple(found), refused, seconds)


def report(
    family: str, seen: Appraisal, classes: Sequence[str], iou: float = 0.5
) -> dict[str, Any]:
    """The figures of `workers.evaluation.metrics` for what was seen."""
    if families.answers_once(family):
        return report_classified(seen, classes)
    return {**metrics.report(judged(seen, classes), classes, iou), "refused": len(seen.refused)}


def report_classified(
    seen: Appraisal, classes: Sequence[str], *, chances: bool = True
) -> dict[str, Any]:
    """The figures of `workers.evaluation.classes` for what was seen."""
    truths = [list(classes).index(example.label) for example in seen.examples]
    return worth.report(truths, scores(seen, len(classes)), classes, chances=chances)


def judged(seen: Appraisal, classes: Sequence[str]) -> list[Weighed]:
    """Detections beside truths, image by image."""
    known = {name: index for index, name in enumerate(classes)}
    return [
        Weighed(detections.astype(np.float64), _truths(example, known))
        for example, detections in zip(seen.examples, seen.detections, strict=True)
    ]


def compare(
    family: str, ours: Appraisal, theirs: Appraisal, classes: Sequence[str], iou: float = 0.5
) -> dict[str, Any]:
    """How much better one model is than another on the same pictures."""
    if families.answers_once(family):
        return _compare_classified(ours, theirs, classes)
    return metrics.compare(judged(ours, classes), judged(theirs, classes), classes, iou)


def by_image(
    ours: Appraisal, theirs: Appraisal, classes: Sequence[str], iou: float = 0.5
) -> list[dict[str, Any]]:
    """Where two models differ: boxes gained and lost, false calls more or less, most first.

    Each model is taken at the score where its own F1 is best.
    """
    first, second = (_hits(judged(seen, classes), len(classes), iou) for seen in (ours, theirs))
    rows = []
    for example, (hits, calls), (before, old_calls) in zip(
        ours.examples, first, second, strict=True
    ):
        gained, lost = int((hits & ~before).sum()), int((~hits & before).sum())
        row = {"gained": gained, "lost": lost, "false_calls": calls - old_calls}
        if any(row.values()):
            rows.append({"image": example.name, **row})
    return sorted(rows, key=_change, reverse=True)


def _change(row: Mapping[str, Any]) -> int:
    return int(row["gained"] + row["lost"] + abs(row["false_calls"]))


def _hits(
    images: Sequence[Weighed], classes: int, iou: float
) -> list[tuple[np.ndarray[Any, np.dtype[np.bool_]], int]]:
    """Which truths of each image are found, and how many detections are wrong."""
    score = metrics.best_score(metrics.rank_all(images, classes, iou))
    hits = []
    for image in images:
        kept = image.detections[image.detections[:, 4] >= score]
        matched = matching.match(kept, image.truths, iou)
        hits.append((matched.truths >= 0, int((matched.detections < 0).sum())))
    return hits


def by_picture(ours: Appraisal, theirs: Appraisal, classes: Sequence[str]) -> list[dict[str, Any]]:
    """The classified pictures that one model is right about and the other is not."""
    first, second = _rights(ours, theirs, classes)
    return [
        {"image": example.name, "gained": int(now), "lost": int(before), "false_calls": 0}
        for example, now, before in zip(ours.examples, first, second, strict=True)
        if now != before
    ]


def _compare_classified(
    ours: Appraisal, theirs: Appraisal, classes: Sequence[str]
) -> dict[str, Any]:
    """Right and wrong picture by picture, with the bootstrap's interval."""
    first, second = _rights(ours, theirs, classes)
    truths = np.array([list(classes).index(example.label) for example in ours.examples])
    gained = first.astype(np.float64) - second
    return {
        "accuracy": metrics.mean_difference(gained),
        "gained": _counted(first & ~second),
        "lost": _counted(~first & second),
        "per_class": {
            name: metrics.mean_difference(gained[truths == index])
            for index, name in enumerate(classes)
        },
    }


def _rights(
    ours: Appraisal, theirs: Appraisal, classes: Sequence[str]
) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], np.ndarray[Any, np.dtype[np.bool_]]]:
    """Which pictures each of two classifiers is right about."""
    truths = np.array([list(classes).index(example.label) for example in ours.examples])
    first, second = (scores(seen, len(classes)).argmax(axis=1) for seen in (ours, theirs))
    return first == truths, second == truths


def _counted(changed: np.ndarray[Any, np.dtype[np.bool_]]) -> dict[str, Any]:
    """How many pictures, and between how many as many others would lie (95 %, Wilson)."""
    number, of = int(changed.sum()), len(changed)
    shares = intervals.wilson(number, of)
    return {"images": number, "interval": shares and [share * of for share in shares]}


def scores(seen: Appraisal, classes: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A classifier's answer is one row a class, each over the whole picture.

    The chances of two classes that were merged are those of the one together.
    """
    scores = np.zeros((len(seen.detections), classes))
    for row, detections in zip(scores, seen.detections, strict=True):
        for found in detections:
            row[int(found[5])] += found[4]
    return scores


def _truths(example: Example, known: Mapping[str, int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    rows = [(b.x1, b.y1, b.x2, b.y2, known[b.label]) for b in example.boxes if b.label in known]
    return np.array(rows, np.float64).reshape(-1, 5)


def _places(from_classes: Sequence[str], to_classes: Sequence[str]) -> list[int]:
    """Where each class of a model stands among the classes that count; -1 where it does not."""
    known = {name: index for index, name in enumerate(to_classes)}
    return [known.get(name, -1) for name in from_classes]
