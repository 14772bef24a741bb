"""The golden model in memory: proposals, and what rules, forest and detector say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.errors import Refused
from workers.families.base import Answer, Detections, Lie, Picture
from workers.families.golden import evidence, likelihood, seeing
from workers.families.golden.edges import USUAL, Edges
from workers.families.golden.gloss import Map
from workers.families.golden.likelihood import Likelihood
from workers.families.golden.options import GoldenOptions
from workers.families.golden.partner import Partner
from workers.families.golden.seeing import Seen

FAINT = 0.001  # a chance below which nothing is said
DOUBT = 0.05  # nor below this share of the likeliest class of the same place
LIKELY, MANY, MOST = 0.5, 10, 0.25  # a chance; places; share of a picture that they may cover
GRID = 256  # places a side at which a picture is looked whether it is covered


@dataclass(frozen=True)
class GoldenModel:
    """Compares each picture with its golden."""

    classes: tuple[str, ...]
    settings: GoldenOptions
    judge: Likelihood
    edges: Edges = USUAL
    partner: Partner | None = None
    glosses: tuple[Map, ...] = ()

    def predict(self, batch: Sequence[Picture]) -> list[Answer]:
        """The detections of each picture, best first, or why it was refused."""
        return [answer for answer, _ in self.laid(batch)]

    def laid(self, batch: Sequence[Picture]) -> list[tuple[Answer, Lie]]:
        """The same, each with how its golden lies on the picture."""
        return [self._answer(picture) for picture in batch]

    def _answer(self, picture: Picture) -> tuple[Answer, Lie]:
        try:
            seen = self.look(picture)
            found = self.detections(seen)
            believe(found, seen, picture.name)
        except Refused as refusal:
            return refusal, ()
        return found, seen.lie

    def look(self, picture: Picture) -> Seen:
        """The proposals of a picture, with what the detector says where there is one."""
        seen = seeing.look(picture, self.settings, self.glosses)
        if self.partner is None:
            return seen
        found = self.partner.found(picture.pixels, self.classes, picture.name)
        return evidence.join(seen, found, len(self.classes))

    def detections(self, seen: Seen) -> Detections:
        """Each place that was seen, as every class that it may well be."""
        boxes = seen.boxes + self.edges.steps(seen.rows, seen.pulls)
        boxes = boxes.clip(0, np.tile(seen.size, 2))
        chances = likelihood.each_once(boxes, self.judge.chances(seen.rows))
        least = np.maximum(FAINT, DOUBT * chances.max(axis=1, keepdims=True, initial=0))
        place, index = np.nonzero(chances >= least)
        found = np.column_stack([boxes[place], chances[place, index], index])
        return found[np.argsort(-found[:, 4], kind="stable")].astype(np.float32)

    def export(self, runtime: str, folder: Path) -> Path:  # noqa: ARG002
        """A golden model has one form only, which runs on any CPU."""
        raise Refused(f"A golden model needs no runtime: it runs as it is, not on {runtime}.")


def believe(found: Detections, seen: Seen, name: str) -> None:
    """Refuse a picture nearly everything of which would be a defect."""
    places = np.unique(found[found[:, 4] >= LIKELY, :4], axis=0)
    if len(places) < MANY:
        return
    covered = np.zeros((GRID, GRID), np.bool_)
    corners = places * (GRID / np.tile(seen.size, 2))
    for x1, y1, x2, y2 in corners.round().astype(int).tolist():
        covered[y1:y2, x1:x2] = True
    if covered.mean() > MOST:
        raise Refused(
            f"{name or 'The picture'} differs from its golden in {len(places)} places that would"
            f" cover {covered.mean():.0%} of it, which no board's defects do; up to {MOST:.0%} is"
            " believed. Give it the golden of its own product."
        )
