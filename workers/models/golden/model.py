"""The golden model in memory: proposals, then rules or forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.errors import Refused
from workers.models.base import Answer, Detections, Picture
from workers.models.golden import names, rules, seeing
from workers.models.golden.features import COLUMN
from workers.models.golden.seeing import Seen
from workers.models.golden.settings import Settings


@dataclass(frozen=True)
class GoldenModel:
    """Compares each picture with its golden."""

    classes: tuple[str, ...]
    settings: Settings

    def predict(self, batch: Sequence[Picture]) -> list[Answer]:
        """The detections of each picture, best first, or why it was refused."""
        return [self._answer(picture) for picture in batch]

    def _answer(self, picture: Picture) -> Answer:
        try:
            return self.judge(seeing.look(picture, self.settings))
        except Refused as refusal:
            return refusal

    def judge(self, seen: Seen) -> Detections:
        """The detections among what was seen."""
        thickness, unexplained = (
            seen.features[:, COLUMN[name]] for name in ("thickness", "unexplained")
        )
        scores = rules.score(thickness, unexplained)
        classes = np.asarray(names.indexes(self.classes))[seen.kinds]
        found = np.column_stack([seen.boxes, scores, classes]).astype(np.float32)
        return found[np.argsort(-scores, kind="stable")]

    def export(self, runtime: str, folder: Path) -> Path:  # noqa: ARG002
        """A golden model has one form only, which runs on any CPU."""
        raise Refused(f"A golden model needs no runtime: it runs as it is, not on {runtime}.")
