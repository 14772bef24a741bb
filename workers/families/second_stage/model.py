"""Both stages in memory: what a detector finds, judged place by place against the golden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.errors import Refused
from workers.families.base import STAGED, Answer, Detections, Lie, Picture
from workers.families.golden import seeing
from workers.families.golden.features import Rows
from workers.families.golden.forest import Forest
from workers.families.golden.gloss import Map
from workers.families.golden.options import GoldenOptions
from workers.families.golden.partner import Partner
from workers.families.second_stage import places


@dataclass(frozen=True)
class TwoStages:
    """A detector and the forest behind it, as one model.

    The score of a place is the chance of a defect by the forest, which knows what the detector
    says; behind the six numbers that all rows have stand the detector's own score and class.
    """

    classes: tuple[str, ...]
    settings: GoldenOptions
    forest: Forest
    partner: Partner
    glosses: tuple[Map, ...] = ()

    def predict(self, batch: Sequence[Picture]) -> list[Answer]:
        """The detections of each picture, best first, or why it was refused."""
        return [answer for answer, _ in self.laid(batch)]

    def laid(self, batch: Sequence[Picture]) -> list[tuple[Answer, Lie]]:
        """The same, each with how its golden lies on the picture."""
        return [self._answer(picture) for picture in batch]

    def _answer(self, picture: Picture) -> tuple[Answer, Lie]:
        try:
            seen = seeing.look(picture, self.settings, self.glosses)
            found = self.partner.found(picture.pixels, self.classes, picture.name)
        except Refused as refusal:
            return refusal, ()
        return self._judged(*places.find(seen, found, len(self.classes))), seen.lie

    def _judged(self, kept: Detections, rows: Rows) -> Detections:
        if not len(kept):
            return np.zeros((0, STAGED), np.float32)
        chances = self.forest.says(rows)
        score, kind = 1 - chances[:, -1], chances[:, :-1].argmax(axis=1)
        judged = np.column_stack([kept[:, :4], score, kind, kept[:, 4:]])
        return judged[np.argsort(-score, kind="stable")].astype(np.float32)

    def export(self, runtime: str, folder: Path) -> Path:  # noqa: ARG002
        """A detector, a comparison and a forest are no graph."""
        raise Refused(f"A second stage is two models in one; it cannot be written as {runtime}.")
