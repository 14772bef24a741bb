"""What a training would see of some pictures: made by the code that trains, kept as small files."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, cast

import cv2
import numpy as np

from backend.errors import Refused
from backend.jobs import kinds
from backend.models import glimpses
from workers import data
from workers.context import Context
from workers.families import base
from workers.families.base import Parameters, Seen

SIDE, QUALITY = 480, 85


def run(context: Context) -> Mapping[str, Any]:
    """Look; whoever waits is told why there is nothing to be seen."""
    request = cast("kinds.Glimpse", context.request)
    family = base.implementation(request.family)
    if not isinstance(family, base.Seeing):
        raise Refused("This family looks at pictures as they are: none is changed.")
    shown = data.some(context, request.images)
    context.settings.tries.mkdir(parents=True, exist_ok=True)
    given = Parameters(**request.parameters)
    seen = itertools.islice(family.seen(shown, given, request.learned), glimpses.SHOWN)
    told = [_kept(context, number, one, shown.classes) for number, one in enumerate(seen)]
    return {"pictures": told}


def _kept(context: Context, number: int, one: Seen, classes: tuple[str, ...]) -> dict[str, Any]:
    height, width = one.pixels.shape[:2]
    scale = min(1.0, SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = cv2.resize(one.pixels, size, interpolation=cv2.INTER_AREA)
    _, written = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    glimpses.place(context.settings.tries, context.job.id, number).write_bytes(written.tobytes())
    corners = np.round(one.boxes[:, :4] * scale, 1).tolist()
    labels = [classes[int(each)] for each in one.boxes[:, 4]]
    boxes = [
        {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "label": label}
        for (x1, y1, x2, y2), label in zip(corners, labels, strict=True)
    ]
    return {"width": size[0], "height": size[1], "boxes": boxes, "label": one.label}
