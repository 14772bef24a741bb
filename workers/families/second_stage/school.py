"""What a second stage learns: which of a detector's places are defects, as labels say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend import matching
from backend.domain import Split
from backend.errors import Refused
from workers.families.base import Picture, Reporter
from workers.families.golden import forest, learning, lessons
from workers.families.golden.features import Rows
from workers.families.golden.forest import Forest
from workers.families.golden.learning import LabelledProposals
from workers.families.golden.partner import Partner
from workers.families.golden.seeing import Seen
from workers.families.second_stage import places

FEWEST = 10  # defects, and false calls
ESCAPES = 0.01


@dataclass(frozen=True)
class StageSchool(lessons.School):
    """Looks at the pictures as the golden family does, and keeps the detector's places alone."""

    @property
    def nothing(self) -> str:
        """What is told where no picture teaches anything."""
        return (
            f"None of the {len(self.snapshot.of(Split.TRAIN))} training pictures has a golden that "
            f"fits it and a place that {_name(self.partner)} finds. A second stage judges places "
            "by what differs from the golden: by the picture alone it saves no false calls."
        )

    def taught(
        self, seen: Seen, picture: Picture, labelled: NDArray[np.float64], group: str
    ) -> LabelledProposals:
        """The detector's places of a picture, each with what it turned out to be."""
        if self.partner is None:
            raise Refused("A second stage needs the detector that it stands behind: name a model.")
        classes = self.snapshot.classes
        found = self.partner.found_turned(picture.pixels, classes, picture.name)
        kept, rows = places.find(seen, found, len(classes))
        return places.lesson(kept, rows, labelled, len(classes), group)


def learn(
    read: Sequence[LabelledProposals], classes: int, partner: Partner, seed: int, reporter: Reporter
) -> tuple[Forest, dict[str, float]]:
    """A forest over all places, and what one saves on pictures that it has not seen."""
    rows = np.concatenate([each.rows for each in read])
    outcomes = np.concatenate([each.outcomes for each in read])
    defects = outcomes < classes
    _refuse_few(int(defects.sum()), int((~defects).sum()), partner)
    figures = {
        "pictures": float(len(read)),
        "defects": float(defects.sum()),
        "false_calls": float((~defects).sum()),
    }
    folds = learning.in_folds([each.group for each in read], seed)
    said = learning.held_out(
        rows, outcomes, folds.repeat([len(each.rows) for each in read]), classes, seed
    )
    if said is not None:
        scores = places.sure(rows, classes), 1 - said[:, -1]
        first, both = (_calls(each, defects) / len(read) for each in scores)
        figures |= {"calls_alone": first, "calls": both}
        reporter.log(
            f"On pictures held out, {partner.name} alone makes {first:.2f} false calls a picture "
            f"where {ESCAPES:.0%} of the defects that it finds escape, with the second stage "
            f"{both:.2f}."
        )
    return forest.grow(rows, outcomes, classes + 1, seed), figures


def _calls(scores: Rows, defects: NDArray[np.bool_]) -> int:
    count = matching.false_calls(scores[defects], scores[~defects], int(defects.sum()), ESCAPES)
    return count or 0


def _refuse_few(defects: int, others: int, partner: Partner) -> None:
    if min(defects, others) < FEWEST:
        raise Refused(
            f"A second stage needs at least {FEWEST} defects and {FEWEST} false calls of "
            f"{partner.name} in the training images to learn from; there are {defects:,} and "
            f"{others:,}. Review a run of {partner.name} over more images first."
        )


def _name(partner: Partner | None) -> str:
    return partner.name if partner else "the detector"
