"""A golden alone finds and names defects; a picture that does not fit is refused."""

from __future__ import annotations

import sys

import cv2
import numpy as np
import pytest

from backend.errors import Invalid, Refused
from tests.workers.families.golden import boards
from workers.families import base, golden


def found(picture: base.Picture, **extra: object) -> base.Detections:
    answer = golden.untrained(extra=extra).predict([picture])[0]
    assert isinstance(answer, np.ndarray), answer
    return answer


@pytest.mark.parametrize("kind", boards.DEFECTS)
def test_each_kind_is_found_and_named(kind: str) -> None:
    clean, board = boards.plain(), boards.plain()
    boards.DEFECTS[kind](board)
    [best, *rest] = found(base.Picture(board, clean))
    assert golden.untrained().classes[int(best[5])] == kind
    assert best[4] > 0.5
    assert all(other[4] < 0.3 for other in rest)
    y, x = np.nonzero(board != clean)
    middle = (best[0] + best[2]) / 2, (best[1] + best[3]) / 2
    assert np.hypot(middle[0] - x.mean(), middle[1] - y.mean()) < 6


def test_a_clean_board_shows_nothing() -> None:
    assert len(found(base.Picture(boards.golden(3), boards.golden(3)))) == 0


def test_a_board_that_lies_three_pixels_off_still_shows_only_its_defect() -> None:
    board = boards.moved(boards.plain(), x=3, y=-2)
    boards.DEFECTS["copper"](board)
    best = found(base.Picture(board, boards.plain()))
    assert (best[:, 4] > 0.3).sum() == 1


def test_a_colour_picture_of_a_binary_board_reads_like_the_grey_one() -> None:
    board = boards.plain()
    boards.DEFECTS["short"](board)
    colour = np.repeat(board[..., None], 3, axis=2)
    np.testing.assert_allclose(
        found(base.Picture(colour, boards.plain())), found(base.Picture(board, boards.plain()))
    )


def test_light_copper_is_a_setting() -> None:
    board = boards.plain()
    boards.DEFECTS["pin-hole"](board)
    picture = base.Picture(255 - board, 255 - boards.plain())
    assert golden.untrained().classes[int(found(picture, copper="light")[0, 5])] == "pin-hole"


def test_another_product_is_refused_and_spoils_no_batch() -> None:
    good = base.Picture(boards.golden(1), boards.golden(1), "a.png")
    other = base.Picture(boards.golden(1), boards.golden(2), "b.png")
    first, second, third = golden.untrained().predict([good, other, base.Picture(good.pixels)])
    assert isinstance(first, np.ndarray)
    assert isinstance(second, Refused)
    assert "b.png does not fit its golden" in str(second)
    assert isinstance(third, Refused)
    assert "no golden" in str(third)


def test_the_projects_own_names_are_used_and_what_has_none_is_a_difference() -> None:
    names = ("scratch", "Mouse_bite", "Open_circuit", "short", "spur", "Spurious_copper")
    assert golden.untrained(names).classes == (*names, "difference")
    assert golden.untrained(("scratch",)).classes == ("scratch", "difference")
    board = boards.plain()
    boards.DEFECTS["open"](board)
    [[*_, index]] = np.asarray(
        golden.untrained(names).predict([base.Picture(board, boards.plain())])[0]
    )
    assert names[int(index)] == "Open_circuit"


def test_a_setting_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Invalid, match="no mode 'x-ray'"):
        golden.untrained(extra={"mode": "x-ray"})


def test_the_family_needs_neither_torch_nor_ray() -> None:
    import subprocess

    code = "import sys, workers.families.golden; print({'torch', 'ray'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_blot_of_the_golden_is_less_likely_a_defect_than_one_of_the_board() -> None:
    clean, blotted = boards.plain(), boards.plain()
    cv2.circle(blotted, (60, 150), 3, boards.COPPER, -1)
    [of_board, *_] = found(base.Picture(blotted, clean))
    [of_golden, *_] = found(base.Picture(clean, blotted))
    assert of_golden[4] < 0.95 * of_board[4]


def test_a_box_does_not_follow_the_edges_beside_its_defect() -> None:
    clean, board = boards.plain(), boards.plain()
    cv2.line(board, (40, 195), (140, 195), boards.LAMINATE, 1)  # a track a pixel narrower
    cv2.circle(board, (90, 195), 5, boards.LAMINATE, -1)
    [best, *_] = found(base.Picture(board, clean))
    assert best[2] - best[0] < 45
