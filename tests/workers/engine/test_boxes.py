from __future__ import annotations

import numpy as np
import pytest

from workers.families import letterbox, nms


@pytest.mark.parametrize(("width", "height"), [(500, 375), (375, 500), (640, 640), (3000, 40)])
def test_a_box_survives_the_letterbox_and_the_way_back(width: int, height: int) -> None:
    where = letterbox.fit(width, height, 640)
    assert where.input_width % 32 == where.input_height % 32 == 0
    scale = np.array([where.width / width, where.height / height] * 2, np.float32)
    margin = np.array([where.left, where.top] * 2, np.float32)
    box = np.array([[10, 5, width - 10, height - 5, 0.5, 1]], np.float32)
    inside = np.concatenate([box[:, :4] * scale + margin, box[:, 4:]], 1)
    np.testing.assert_allclose(letterbox.back(inside, where, width, height), box, atol=1e-2)


def test_a_small_picture_is_enlarged_into_grey_margins() -> None:
    where = letterbox.fit(100, 30, 640)
    target = np.zeros((where.input_height, where.input_width, 3), np.uint8)
    letterbox.place(np.full((30, 100), 255, np.uint8), where, target)
    assert (target[where.top : where.top + where.height] == 255).all()
    assert (target[: where.top] == letterbox.GREY).all()


def test_of_boxes_on_each_other_the_best_of_each_class_stays() -> None:
    boxes = np.array(
        [
            (0, 0, 10, 10, 0.9, 0),
            (1, 0, 11, 10, 0.8, 0),
            (1, 0, 11, 10, 0.7, 1),
            (50, 50, 60, 60, 0.6, 0),
        ],
        np.float32,
    )
    assert nms.suppress(boxes, 0.5)[:, 4].tolist() == pytest.approx([0.9, 0.7, 0.6])
