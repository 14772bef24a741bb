"""Labels damaged on purpose by a seed, and which doubts are about one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend import matching
from backend.domain import Box

WAYS = ("removed", "moved", "class changed", "invented")
SHOWN = 0.3  # overlap from which a doubt is about a label that was taken away
APART = 0.1  # an invented label overlaps none by more
TRIES = 200


@dataclass(frozen=True, slots=True)
class Damage:
    """One label as it was (none where it was invented) and as it stands (none where it is gone)."""

    way: str
    image: int
    was: Box | None
    stands: Box | None


@dataclass(frozen=True, slots=True)
class Picture:
    """The labels of an image, and how large it is."""

    width: int
    height: int
    boxes: tuple[Box, ...]


def damage(
    pictures: Mapping[int, Picture], classes: Sequence[str], share: float, seed: int
) -> tuple[dict[int, tuple[Box, ...]], list[Damage]]:
    """The labels after the damage, of the images that have any, and all of the damage."""
    draw = np.random.default_rng(seed)
    every = [(image, box) for image, one in pictures.items() for box in one.boxes]
    number = round(share * len(every))
    ways = [WAYS[at % len(WAYS)] for at in range(number)]
    chosen = draw.choice(len(every), number, replace=False)
    done: list[Damage] = []
    for way, at in zip(ways, chosen, strict=True):
        image, box = every[at]
        if way == "invented":
            image = int(draw.choice(list(pictures)))
            made = _invented(draw, pictures[image], box, len(done))
            done.append(Damage(way, image, None, made))
        else:
            done.append(Damage(way, image, box, _harmed(draw, way, pictures[image], box, classes)))
    after = {one.image: list(pictures[one.image].boxes) for one in done}
    for one in done:
        _apply(after[one.image], one)
    return {image: tuple(boxes) for image, boxes in after.items()}, done


def about(damages: Sequence[Damage], image: int, label: Box | None, found: Box | None) -> list[int]:
    """Which of the damages a doubt about an image is about."""
    return [
        at
        for at, one in enumerate(damages)
        if one.image == image and (_same(one, label) or _shows(one, label, found))
    ]


def _same(one: Damage, label: Box | None) -> bool:
    return label is not None and one.stands is not None and one.stands.id == label.id


def _shows(one: Damage, label: Box | None, found: Box | None) -> bool:
    """A place without a label is where the label was that is gone or has moved."""
    if label is not None or found is None or one.was is None or one.way == "class changed":
        return False
    return _overlap(one.was, found) >= SHOWN


def _apply(boxes: list[Box], one: Damage) -> None:
    if one.was is not None:
        at = next(at for at, box in enumerate(boxes) if box.id == one.was.id)
        boxes[at : at + 1] = [one.stands] if one.stands is not None else []
    elif one.stands is not None:
        boxes.append(one.stands)


def _harmed(
    draw: np.random.Generator, way: str, picture: Picture, box: Box, classes: Sequence[str]
) -> Box | None:
    if way == "removed":
        return None
    if way == "class changed":
        others = [name for name in classes if name != box.label]
        return replace(box, label=str(draw.choice(others)), class_id=None)
    return _moved(draw, picture, box)


def _moved(draw: np.random.Generator, picture: Picture, box: Box) -> Box:
    """By half to all of its size, in any direction, within the picture."""
    wide, high = box.x2 - box.x1, box.y2 - box.y1
    for _ in range(TRIES):
        angle, far = draw.uniform(0, 2 * math.pi), draw.uniform(0.5, 1.0)
        x1 = float(np.clip(box.x1 + wide * far * math.cos(angle), 0, picture.width - wide))
        y1 = float(np.clip(box.y1 + high * far * math.sin(angle), 0, picture.height - high))
        moved = replace(box, x1=x1, y1=y1, x2=x1 + wide, y2=y1 + high)
        if _overlap(moved, box) <= 0.5:
            return moved
    return moved


def _invented(draw: np.random.Generator, picture: Picture, like: Box, number: int) -> Box:
    """A label of that size and class where there is none."""
    wide = min(like.x2 - like.x1, picture.width / 2)
    high = min(like.y2 - like.y1, picture.height / 2)
    for _ in range(TRIES):
        x1 = float(draw.uniform(0, picture.width - wide))
        y1 = float(draw.uniform(0, picture.height - high))
        made = Box(x1, y1, x1 + wide, y1 + high, like.label, id=f"invented{number}")
        if all(_overlap(made, box) <= APART for box in picture.boxes):
            return made
    return made


def _overlap(a: Box, b: Box) -> float:
    rows = [np.array([[one.x1, one.y1, one.x2, one.y2]]) for one in (a, b)]
    return float(matching.overlaps(*rows)[0, 0])
