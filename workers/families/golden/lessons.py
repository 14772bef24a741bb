"""Reads the labelled pictures of a snapshot beside their goldens, one lesson each."""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.domain import Split
from backend.errors import Refused
from workers.families.base import Example, Picture, Pixels, Reporter, TrainingSet
from workers.families.golden import etching, evidence, learning, seeing
from workers.families.golden.gloss import GlossKeeper, Map
from workers.families.golden.learning import LabelledProposals
from workers.families.golden.options import GoldenOptions
from workers.families.golden.partner import Partner
from workers.families.golden.seeing import Seen

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class School:
    """What is told to a training, and how its pictures are looked at."""

    snapshot: TrainingSet
    settings: GoldenOptions
    reporter: Reporter
    partner: Partner | None = None
    seed: int = 0

    def read(self) -> tuple[list[LabelledProposals], tuple[Map, ...]]:
        """The lessons of the training split, and where good photographs stand out.

        Where any do, they are looked at once more, as the model will.
        """
        watching = GlossKeeper()
        found = self._lessons((), watching, (0.0, 0.45))
        maps = watching.maps()
        if maps:
            found = self._lessons(maps, GlossKeeper(), (0.45, 0.9))
        if not any(len(lesson.rows) for lesson in found):
            raise Refused(self.nothing)
        return found, maps

    @property
    def nothing(self) -> str:
        """What is told where no picture teaches anything."""
        return (
            f"None of the {len(self.snapshot.of(Split.TRAIN))} training pictures differs from a "
            "golden that fits it, so there is nothing to learn from. Label pictures that have a "
            "golden, then retrain."
        )

    def taught(
        self, seen: Seen, picture: Picture, labelled: Floats, group: str
    ) -> LabelledProposals:
        """What a picture that was looked at teaches."""
        classes = self.snapshot.classes
        if self.partner is not None:
            found = self.partner.found_turned(picture.pixels, classes, picture.name)
            seen = evidence.join(seen, found, len(classes))
        return learning.lesson(seen, labelled, len(classes), group)

    def _lessons(
        self, glosses: tuple[Map, ...], watching: GlossKeeper, share: tuple[float, float]
    ) -> list[LabelledProposals]:
        """A picture that does not fit its golden is told of."""
        examples, found, goldens = self.snapshot.of(Split.TRAIN), [], Goldens()
        copies = etching.copies(len(examples), self.seed)
        begin, end = share
        for number, example in enumerate(examples):
            try:
                found.append(self._lesson(example, goldens, glosses, watching))
                if number in copies:
                    found[-1] = self._once_more(found[-1], example, goldens, copies[number])
            except Refused as refusal:
                if not glosses:
                    self.reporter.log(f"Left out: {refusal}")
            fraction = begin + (end - begin) * (number + 1) / len(examples)
            said = f"Compared {number + 1} of {len(examples)} pictures."
            self.reporter.progress(fraction, said)
        return found

    def _lesson(
        self, example: Example, goldens: Goldens, glosses: tuple[Map, ...], watching: GlossKeeper
    ) -> LabelledProposals:
        picture, labelled = self.pictured(example, goldens)
        seen = seeing.look(picture, self.settings, glosses)
        seeing.watch(seen, picture, self.settings, labelled, watching)
        return self.taught(seen, picture, labelled, example.group)

    def _once_more(
        self, lesson: LabelledProposals, example: Example, goldens: Goldens, wider: float
    ) -> LabelledProposals:
        """With what the board teaches etched, unless it is a photograph or fits no more."""
        picture, labelled = self.pictured(example, goldens)
        if not seeing.binary(picture, self.settings.mode):
            return lesson
        etched = dataclasses.replace(picture, pixels=etching.etched(picture.pixels, wider))
        with contextlib.suppress(Refused):
            seen = seeing.look(etched, self.settings)
            more = self.taught(seen, etched, labelled, example.group)
            return learning.once_more(lesson, more)
        return lesson

    def pictured(self, example: Example, goldens: Goldens) -> tuple[Picture, Floats]:
        """A picture beside its golden, and its labels."""
        name, classes = example.name or example.path.name, self.snapshot.classes
        golden = goldens.of(example.golden) if example.golden else None
        truths = [[b.x1, b.y1, b.x2, b.y2, classes.index(b.label)] for b in example.boxes]
        labelled = np.array(truths, np.float64).reshape(-1, 5)
        return Picture(_pixels(example.path), golden, name), labelled


class Goldens:
    """Keeps the last golden, as many pictures in a row share it."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._pixels: Pixels | None = None

    def of(self, path: Path) -> Pixels:
        """The pixels of a golden."""
        if self._pixels is None or path != self._path:
            self._path, self._pixels = path, _pixels(path)
        return self._pixels


def _pixels(path: Path) -> Pixels:
    decoded = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise Refused(f"{path.name} is not a picture that can be read.")
    return np.asarray(decoded, np.uint8)
