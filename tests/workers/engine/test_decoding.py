from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from backend.errors import LoupeError, Refused
from tests.workers.engine import broken
from workers.engine import decoding
from workers.engine.decoding import Unreadable


@pytest.fixture
def jpeg() -> bytes:
    random = np.random.default_rng(0)
    pixels = cv2.resize(random.integers(0, 255, (30, 40, 3), np.uint8), (1600, 1200))
    return bytes(cv2.imencode(".jpg", pixels)[1])


def _saved(path: Path, image: Image.Image, **options: Any) -> bytes:
    image.save(path, **options)
    return path.read_bytes()


def test_a_large_jpeg_is_reduced_while_it_is_decoded_and_knows_its_true_size(jpeg: bytes) -> None:
    decoded = decoding.decode(jpeg, "a.jpg", wanted=640)
    assert decoded.pixels.shape == (600, 800, 3)
    assert (decoded.width, decoded.height) == (1600, 1200)


def test_a_grey_picture_comes_in_three_channels(tmp_path: Path) -> None:
    data = _saved(tmp_path / "grey.png", Image.new("L", (20, 10), 70))
    assert decoding.decode(data, "grey.png").pixels.shape == (10, 20, 3)


def test_a_turned_picture_comes_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = _saved(tmp_path / "turned.jpg", Image.new("RGB", (40, 20)), exif=exif)
    decoded = decoding.decode(data, "turned.jpg")
    assert (decoded.width, decoded.height) == (20, 40)
    assert decoded.pixels.shape == (40, 20, 3)


def test_what_is_no_whole_picture_is_unreadable(jpeg: bytes, tmp_path: Path) -> None:
    png = _saved(tmp_path / "a.png", Image.fromarray(np.eye(300, dtype=np.uint8) * 255))
    for data, reason in (
        (b"", "empty"),
        (b"board 17, lot 4\n" * 40, "not a picture"),
        (jpeg[: len(jpeg) // 2], "truncated"),
        (png[: len(png) // 2], "truncated"),
    ):
        with pytest.raises(Unreadable, match=reason):
            decoding.decode(data, "a.jpg")


def test_what_would_be_judged_wrongly_is_refused(tmp_path: Path) -> None:
    for name in ("bomb.png", "print.jpg", "deep.png", "animated.webp"):
        data, reason = broken.files()[name]
        with pytest.raises(Refused, match=reason):
            decoding.decode(data, name)
    grey = Image.new("L", (20, 10))
    pages = _saved(tmp_path / "p.tif", grey, save_all=True, append_images=[grey])
    for data, reason in (
        (pages, "several pages"),
        (_saved(tmp_path / "i.png", Image.new("I;16", (20, 10))), "16 bits"),
    ):
        with pytest.raises(Refused, match=reason):
            decoding.decode(data, "odd.png")


def test_a_missing_file_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(LoupeError, match=r"gone\.jpg is not there"):
        decoding.read(str(tmp_path / "gone.jpg"))
