"""A golden and a trained detector together see what each sees, and say how sure both are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from backend.errors import Refused
from tests.workers.golden import boards
from workers.models import base, golden
from workers.models.golden import fusion


class Told:
    """A detector that has been told its answer."""

    classes = ("scratch", "open")

    def __init__(self, *rows: tuple[float, ...]) -> None:
        self.rows = np.array(rows, np.float32).reshape(-1, 6)

    def predict(self, batch: Sequence[base.Picture]) -> Sequence[base.Answer]:
        return [self.rows for _ in batch]

    def export(self, runtime: str, folder: Path) -> Path:
        raise Refused(f"{runtime} {folder}")


def picture() -> base.Picture:
    board = boards.plain()
    boards.DEFECTS["open"](board)
    return base.Picture(board, boards.plain())


def fused(*rows: tuple[float, ...]) -> base.Detections:
    answer = fusion.Fused(golden.untrained(), Told(*rows)).predict([picture()])[0]
    assert isinstance(answer, np.ndarray)
    return answer


def test_where_both_see_a_defect_the_score_is_their_mean() -> None:
    alone = golden.untrained().predict([picture()])[0]
    assert isinstance(alone, np.ndarray)
    best = fused((70, 38, 100, 82, 0.6, 1))[0]
    assert best[4] == pytest.approx((alone[0, 4] + 0.6) / 2, abs=0.01)
    assert best[5] == golden.untrained().classes.index("open")
    between = (alone[0, :4] + np.array([70, 38, 100, 82])) / 2
    assert np.abs(best[:4] - between).max() < np.abs(alone[0, :4] - between).max()


def test_what_only_the_detector_sees_joins_with_its_part_of_the_score() -> None:
    rows = fused((200, 200, 240, 240, 0.8, 0))
    scratch = rows[rows[:, 5] == 6]
    np.testing.assert_allclose(scratch, [[200, 200, 240, 240, 0.4, 6]], atol=1e-3)


def test_what_only_the_golden_sees_stays_with_its_part_of_the_score() -> None:
    assert fused()[0, 4] == pytest.approx(0.5, abs=0.02)


def test_a_picture_that_does_not_fit_its_golden_is_refused_all_the_same() -> None:
    model = fusion.Fused(golden.untrained(), Told((0, 0, 9, 9, 1.0, 1)))
    pair = base.Picture(boards.golden(1), boards.golden(2))
    assert isinstance(model.predict([pair])[0], Refused)
    assert model.classes[-1] == "scratch"
